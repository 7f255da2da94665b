-- The weather of an hour at an airport, once.
CREATE TABLE raw_weather WITH ('connector' = 'LocalFile', 'path' = '${lake}/raw/weather');
CREATE TABLE hours WITH ('connector' = 'LocalFile', 'path' = '${lake}/typed/hours');

INSERT INTO hours
SELECT origin, time_hour, max(wind_speed) AS wind_speed, max(precip) AS precip, min(visib) AS visibility
FROM raw_weather GROUP BY origin, time_hour;
