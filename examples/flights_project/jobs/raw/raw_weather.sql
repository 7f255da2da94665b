-- The weather at the three airports, hour by hour.
CREATE TABLE csv (
  origin STRING, year INT, month INT, day INT, hour INT, temp DOUBLE, dewp DOUBLE, humid DOUBLE,
  wind_dir INT, wind_speed DOUBLE, wind_gust DOUBLE, precip DOUBLE, pressure DOUBLE, visib DOUBLE,
  time_hour TIMESTAMP
) WITH ('connector' = 'LocalFile', 'path' = '${data}/weather.csv.gz', 'file_format_type' = 'csv',
  'csv_use_header_line' = 'true', 'null_format' = 'NA');

CREATE TABLE raw_weather WITH ('connector' = 'LocalFile', 'path' = '${lake}/raw/weather');

INSERT INTO raw_weather SELECT * FROM csv;
