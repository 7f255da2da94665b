-- Planes by their tail number.
CREATE TABLE csv (
  tailnum STRING, year INT, type STRING, manufacturer STRING, model STRING, engines INT, seats INT, speed INT,
  engine STRING
) WITH ('connector' = 'LocalFile', 'path' = '${data}/planes.csv.gz', 'file_format_type' = 'csv',
  'csv_use_header_line' = 'true', 'null_format' = 'NA');

CREATE TABLE raw_planes WITH ('connector' = 'LocalFile', 'path' = '${lake}/raw/planes');

INSERT INTO raw_planes SELECT * FROM csv;
