-- One row for each airline.
CREATE TABLE raw_airlines WITH ('connector' = 'LocalFile', 'path' = '${lake}/raw/airlines');
CREATE TABLE dim_airline WITH ('connector' = 'LocalFile', 'path' = '${lake}/dimensions/dim_airline');

INSERT INTO dim_airline
SELECT carrier, name AS airline FROM raw_airlines;
