-- Codes and names of airlines.
CREATE TABLE csv (
  carrier STRING, name STRING
) WITH ('connector' = 'LocalFile', 'path' = '${data}/airlines.csv.gz', 'file_format_type' = 'csv',
  'csv_use_header_line' = 'true', 'null_format' = 'NA');

CREATE TABLE raw_airlines WITH ('connector' = 'LocalFile', 'path' = '${lake}/raw/airlines');

INSERT INTO raw_airlines SELECT * FROM csv;
