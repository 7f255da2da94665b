-- Flights with what is known of plane and weather, day by day.
SET 'interval.column' = 'day';
SET 'interval.grain' = 'day';
SET 'interval.start' = '2013-01-01';
SET 'interval.end' = '${until}';
SET 'interval.batch' = '${batch}';

CREATE TABLE legs WITH ('connector' = 'LocalFile', 'path' = '${lake}/typed/legs');
CREATE TABLE hours WITH ('connector' = 'LocalFile', 'path' = '${lake}/typed/hours');
CREATE TABLE dim_plane WITH ('connector' = 'Delta', 'path' = '${lake}/dimensions/dim_plane');
CREATE TABLE fct_flights (
  CONSTRAINT known_airport EXPECT (origin IN ('EWR', 'JFK', 'LGA')) ON VIOLATION FAIL
) WITH ('connector' = 'Delta', 'path' = '${lake}/facts/fct_flights', 'write_mode' = 'replace_where');

INSERT INTO fct_flights
SELECT l.time_hour, l.carrier, l.flight, l.origin, l.dest, l.dep_delay, l.arr_delay, l.cancelled, l.distance, p.seats,
  h.wind_speed, h.precip, h.visibility, l.day
FROM legs l
LEFT JOIN hours h ON h.origin = l.origin AND h.time_hour = l.time_hour
LEFT JOIN dim_plane p ON p.tailnum = l.tailnum AND p.is_current;
