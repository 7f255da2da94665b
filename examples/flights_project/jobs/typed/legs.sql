-- Flights with their day, and whether they were cancelled.
CREATE TABLE raw_flights WITH ('connector' = 'LocalFile', 'path' = '${lake}/raw/flights');

CREATE TABLE legs (
  CONSTRAINT has_a_day EXPECT (day IS NOT NULL) ON VIOLATION FAIL,
  CONSTRAINT departed_or_cancelled EXPECT (cancelled OR dep_delay IS NOT NULL) ON VIOLATION FAIL
) WITH ('connector' = 'LocalFile', 'path' = '${lake}/typed/legs');

INSERT INTO legs
SELECT make_date(year, month, day) AS day, time_hour, carrier, flight, tailnum, origin, dest, dep_delay, arr_delay,
  dep_time IS NULL AS cancelled, distance
FROM raw_flights WHERE distance > 0;
