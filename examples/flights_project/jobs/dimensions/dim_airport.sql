-- One row for each airport.
CREATE TABLE raw_airports WITH ('connector' = 'LocalFile', 'path' = '${lake}/raw/airports');
CREATE TABLE dim_airport WITH ('connector' = 'LocalFile', 'path' = '${lake}/dimensions/dim_airport');

INSERT INTO dim_airport
SELECT faa AS airport, name, lat, lon, tzone FROM raw_airports;
