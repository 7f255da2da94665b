-- Each airline, with a version for each change of what is known of it.
CREATE TABLE raw_airlines WITH ('connector' = 'LocalFile', 'path' = '${lake}/raw/airlines');

CREATE TABLE dim_airline (PRIMARY KEY (carrier) NOT ENFORCED)
WITH ('connector' = 'Delta', 'path' = '${lake}/dimensions/dim_airline', 'write_mode' = 'scd2', 'missing_keys' = 'end');

INSERT INTO dim_airline
SELECT carrier, name AS airline FROM raw_airlines;
