-- Each airport, with a version for each change of what is known of it.
CREATE TABLE raw_airports WITH ('connector' = 'LocalFile', 'path' = '${lake}/raw/airports');

CREATE TABLE dim_airport (PRIMARY KEY (airport) NOT ENFORCED)
WITH ('connector' = 'Delta', 'path' = '${lake}/dimensions/dim_airport', 'write_mode' = 'scd2', 'missing_keys' = 'end');

INSERT INTO dim_airport
SELECT faa AS airport, name, lat, lon, tzone FROM raw_airports;
