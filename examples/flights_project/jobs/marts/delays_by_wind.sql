-- Departure delays by the strength of the wind.
CREATE TABLE fct_flights WITH ('connector' = 'Delta', 'path' = '${lake}/facts/fct_flights');
CREATE TABLE delays_by_wind WITH ('connector' = 'LocalFile', 'path' = '${lake}/marts/delays_by_wind');

INSERT INTO delays_by_wind
SELECT cast(wind_speed / 10 AS INT) * 10 AS wind_from, count(*) AS flights, round(avg(dep_delay), 1) AS departure_delay
FROM fct_flights WHERE wind_speed IS NOT NULL GROUP BY 1;
