-- Flights with what is known of plane and weather, one directory a day.
CREATE TABLE legs WITH ('connector' = 'LocalFile', 'path' = '${lake}/typed/legs');
CREATE TABLE hours WITH ('connector' = 'LocalFile', 'path' = '${lake}/typed/hours');
CREATE TABLE dim_plane WITH ('connector' = 'LocalFile', 'path' = '${lake}/dimensions/dim_plane');
CREATE TABLE fct_flights WITH ('connector' = 'LocalFile', 'path' = '${lake}/facts/fct_flights',
  'partition_by' = 'day', 'write_mode' = 'overwrite_partitions', 'data_save_mode' = 'APPEND_DATA');

INSERT INTO fct_flights
SELECT l.time_hour, l.carrier, l.flight, l.origin, l.dest, l.dep_delay, l.arr_delay, l.cancelled, l.distance, p.seats,
  h.wind_speed, h.precip, h.visibility, l.day
FROM legs l
LEFT JOIN hours h ON h.origin = l.origin AND h.time_hour = l.time_hour
LEFT JOIN dim_plane p ON p.tailnum = l.tailnum;
