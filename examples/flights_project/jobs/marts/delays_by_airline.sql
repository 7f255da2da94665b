-- Flights and delays of each airline.
CREATE TABLE fct_flights WITH ('connector' = 'Delta', 'path' = '${lake}/facts/fct_flights');
CREATE TABLE dim_airline WITH ('connector' = 'Delta', 'path' = '${lake}/dimensions/dim_airline');
CREATE TABLE delays_by_airline WITH ('connector' = 'LocalFile', 'path' = '${lake}/marts/delays_by_airline');

INSERT INTO delays_by_airline
SELECT a.airline, count(*) AS flights, count_if(f.cancelled) AS cancelled, round(avg(f.arr_delay), 1) AS arrival_delay
FROM fct_flights f JOIN dim_airline a ON a.carrier = f.carrier AND a.is_current GROUP BY a.airline;
