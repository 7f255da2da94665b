-- Airports and where they are.
CREATE TABLE csv (
  faa STRING, name STRING, lat DOUBLE, lon DOUBLE, alt INT, tz INT, dst STRING, tzone STRING
) WITH ('connector' = 'LocalFile', 'path' = '${data}/airports.csv.gz', 'file_format_type' = 'csv',
  'csv_use_header_line' = 'true', 'null_format' = 'NA');

CREATE TABLE raw_airports WITH ('connector' = 'LocalFile', 'path' = '${lake}/raw/airports');

INSERT INTO raw_airports SELECT * FROM csv;
