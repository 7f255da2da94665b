-- Flights and delays of each route.
CREATE TABLE fct_flights WITH ('connector' = 'Delta', 'path' = '${lake}/facts/fct_flights');
CREATE TABLE dim_airport WITH ('connector' = 'Delta', 'path' = '${lake}/dimensions/dim_airport');
CREATE TABLE delays_by_route WITH ('connector' = 'LocalFile', 'path' = '${lake}/marts/delays_by_route');

INSERT INTO delays_by_route
SELECT f.origin, f.dest, d.name AS destination, count(*) AS flights, round(avg(f.dep_delay), 1) AS departure_delay
FROM fct_flights f LEFT JOIN dim_airport d ON d.airport = f.dest AND d.is_current GROUP BY f.origin, f.dest, d.name;
