-- Flights and delays of each day and airport: what a day changes, it changes here too.
SET 'interval.column' = 'day';
SET 'interval.grain' = 'day';
SET 'interval.start' = '2013-01-01';
SET 'interval.end' = '${until}';
SET 'interval.batch' = '${batch}';

CREATE TABLE fct_flights WITH ('connector' = 'Delta', 'path' = '${lake}/facts/fct_flights');
CREATE TABLE fct_days
WITH ('connector' = 'Delta', 'path' = '${lake}/facts/fct_days', 'write_mode' = 'replace_where');

INSERT INTO fct_days
SELECT day, origin, count(*) AS flights, count_if(cancelled) AS cancelled, sum(dep_delay) AS departure_delay
FROM fct_flights GROUP BY day, origin;
