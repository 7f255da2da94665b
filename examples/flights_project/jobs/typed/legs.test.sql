TEST 'a flight without a departure was cancelled';

GIVEN raw_flights AS
SELECT year, month, day, time_hour, carrier, flight, tailnum, origin, dest, dep_delay, arr_delay, dep_time, distance
FROM VALUES
  (2013, 1, 2, TIMESTAMP'2013-01-02 10:00:00', 'UA', 1, 'N1', 'EWR', 'IAH', 2, 11, 517, 1400),
  (2013, 1, 2, TIMESTAMP'2013-01-02 11:00:00', 'UA', 2, 'N2', 'EWR', 'IAH', null, null, null, 1400)
  AS t(year, month, day, time_hour, carrier, flight, tailnum, origin, dest, dep_delay, arr_delay, dep_time, distance);

EXPECT legs AS SELECT flight, cancelled FROM VALUES (1, false), (2, true) AS t(flight, cancelled);
