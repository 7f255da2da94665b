-- Transforms of Penstock's own, one after another: the first two become one query, which passes on only what is read of it.
SET 'job.name' = 'airport_names';

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

CREATE VIEW written_out
WITH (
  'transform' = 'Replace',
  'input' = 'airports',
  'replace_field' = 'name',
  'pattern' = 'Intl',
  'replacement' = 'International'
);

CREATE VIEW mapped
WITH (
  'transform' = 'FieldMapper',
  'input' = 'written_out',
  'field_mapper' = '{"faa": "code", "name": "name", "tzone": "zone"}'
);

CREATE VIEW eastern AS select code, name from mapped where zone = 'America/New_York';

CREATE TABLE airport_names
WITH (
  'connector' = 'LocalFile',
  'path' = '${out:out/small}/airport_names',
  'file_format_type' = 'json',
  'data_save_mode' = 'DROP_DATA'
);
INSERT INTO airport_names SELECT * FROM eastern;
