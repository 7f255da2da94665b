-- Airports of the flights example, those in New York's time zone, into a Delta table that is replaced by each run.
-- Spark fetches Delta's jar when the job is first run.
SET 'job.name' = 'csv_to_delta';

CREATE TABLE airports (
  faa string,
  name string,
  lat double,
  lon double,
  alt int,
  tz int,
  dst string,
  tzone string
)
WITH (
  'connector' = 'LocalFile',
  'path' = '${data:examples/flights/data}/airports.csv.gz',
  'file_format_type' = 'csv',
  'csv_use_header_line' = 'true',
  'null_format' = 'NA'
);

CREATE VIEW airports_with_code
WITH (
  'transform' = 'Filter',
  'input' = 'airports',
  'include_fields' = '["faa", "name", "alt", "tzone"]'
);

CREATE VIEW eastern AS
      select faa as code, name, cast(alt * 0.3048 as decimal(6,1)) as metres
      from airports_with_code
      where tzone = 'America/New_York';

CREATE TABLE eastern_airports
WITH (
  'connector' = 'Delta',
  'path' = '${out:out/small}/eastern_airports',
  'data_save_mode' = 'DROP_DATA'
);
INSERT INTO eastern_airports SELECT * FROM eastern;
