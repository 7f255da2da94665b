-- The flights as they were published, up to a day.
CREATE TABLE csv (
  year INT, month INT, day INT, dep_time INT, sched_dep_time INT, dep_delay INT, arr_time INT,
  sched_arr_time INT, arr_delay INT, carrier STRING, flight INT, tailnum STRING, origin STRING, dest STRING,
  air_time INT, distance INT, hour INT, minute INT, time_hour TIMESTAMP
) WITH ('connector' = 'LocalFile', 'path' = '${data}/flights.csv.gz', 'file_format_type' = 'csv',
  'csv_use_header_line' = 'true', 'null_format' = 'NA');

CREATE TABLE raw_flights WITH ('connector' = 'LocalFile', 'path' = '${lake}/raw/flights');

INSERT INTO raw_flights SELECT * FROM csv WHERE make_date(year, month, day) < DATE'${until}';
