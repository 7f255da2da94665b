-- One source, two branches, two sinks; and a source of its own that is a second pipeline, run beside the first.
SET 'job.name' = 'several_sinks';
SET 'parallelism' = '2';

CREATE TABLE orders (
  id bigint,
  region string,
  amount decimal(10,2)
)
WITH (
  'connector' = 'FakeSource',
  'rows' = '[{"kind": "INSERT", "fields": [1, "north", 120.5]}, {"kind": "INSERT", "fields": [2, "south", 80.0]}, {"kind": "INSERT", "fields": [3, "north", 19.99]}]'
);

CREATE TABLE regions (
  region string,
  contact string
)
WITH (
  'connector' = 'FakeSource',
  'rows' = '[{"kind": "INSERT", "fields": ["north", "Nora"]}, {"kind": "INSERT", "fields": ["south", "Sam"]}]'
);

CREATE VIEW large AS select * from orders where amount >= ${least:50};

CREATE VIEW by_region AS select region, count(*) as orders, sum(amount) as amount from orders group by region;

CREATE TABLE large_orders
WITH (
  'connector' = 'LocalFile',
  'path' = '${out:out/small}/large_orders',
  'file_format_type' = 'json',
  'data_save_mode' = 'DROP_DATA'
);
INSERT INTO large_orders SELECT * FROM large;

CREATE TABLE by_region_out
WITH (
  'connector' = 'LocalFile',
  'path' = '${out:out/small}/by_region',
  'file_format_type' = 'parquet',
  'data_save_mode' = 'DROP_DATA'
);
INSERT INTO by_region_out SELECT * FROM by_region;

CREATE TABLE regions_out
WITH (
  'connector' = 'LocalFile',
  'path' = '${out:out/small}/regions',
  'file_format_type' = 'csv',
  'enable_header_write' = 'true',
  'data_save_mode' = 'DROP_DATA'
);
INSERT INTO regions_out SELECT * FROM regions;
