-- Load and clean: the flights of one CSV file become Parquet, one directory for each month.
SET 'job.name' = 'flights_load';

CREATE TABLE flights (
  year int,
  month int,
  day int,
  dep_time int,
  sched_dep_time int,
  dep_delay int,
  arr_time int,
  sched_arr_time int,
  arr_delay int,
  carrier string,
  flight int,
  tailnum string,
  origin string,
  dest string,
  air_time int,
  distance int,
  hour int,
  minute int,
  time_hour timestamp
)
WITH (
  'connector' = 'LocalFile',
  'path' = '${data:examples/flights/data}/flights.csv.gz',
  'file_format_type' = 'csv',
  'csv_use_header_line' = 'true',
  'null_format' = 'NA'
);

CREATE VIEW cleaned AS
      select carrier, flight, tailnum, origin, dest, time_hour, dep_delay, arr_delay,
             dep_time is null as cancelled, distance, month
      from flights
      where distance > 0;

CREATE TABLE by_month
PARTITIONED BY (month)
WITH (
  'connector' = 'LocalFile',
  'path' = '${out:out/flights}/by_month',
  'file_format_type' = 'parquet',
  'data_save_mode' = 'DROP_DATA'
);
INSERT INTO by_month SELECT * FROM cleaned;
