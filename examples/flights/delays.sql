-- Delays by month, from the Parquet that load.conf wrote.
SET 'job.name' = 'flights_delays';

CREATE TABLE flights (
  carrier string,
  flight int,
  tailnum string,
  origin string,
  dest string,
  time_hour timestamp,
  dep_delay int,
  arr_delay int,
  cancelled boolean,
  distance int,
  month int
)
WITH (
  'connector' = 'LocalFile',
  'path' = '${out:out/flights}/by_month',
  'file_format_type' = 'parquet'
);

CREATE TABLE planes (
  tailnum string,
  year int,
  type string,
  manufacturer string,
  model string,
  engines int,
  seats int,
  speed int,
  engine string
)
WITH (
  'connector' = 'LocalFile',
  'path' = '${data:examples/flights/data}/planes.csv.gz',
  'file_format_type' = 'csv',
  'csv_use_header_line' = 'true',
  'null_format' = 'NA'
);

CREATE VIEW by_month AS
      select f.month, count(*) as flights, sum(f.distance) as distance, count(p.tailnum) as known_planes,
             sum(p.seats) as seats
      from flights f left join planes p on f.tailnum = p.tailnum
      group by f.month
      order by f.month;

CREATE TABLE flights_by_month
WITH (
  'connector' = 'LocalFile',
  'path' = '${out:out/flights}/flights_by_month',
  'file_format_type' = 'parquet',
  'data_save_mode' = 'DROP_DATA'
);
INSERT INTO flights_by_month SELECT * FROM by_month;

CREATE TABLE assert
WITH (
  'connector' = 'Assert',
  'rules' = '{"row_rules": [{"rule_type": "MIN_ROW", "rule_value": 12}, {"rule_type": "MAX_ROW", "rule_value": 12}]}'
);
INSERT INTO assert SELECT * FROM by_month;
