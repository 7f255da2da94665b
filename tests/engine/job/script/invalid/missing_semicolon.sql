CREATE TABLE orders (id BIGINT, customer BIGINT, amount DECIMAL(10,2))
  WITH ('connector' = 'LocalFile', 'path' = 'orders.csv', 'file_format_type' = 'csv');
CREATE VIEW few AS SELECT id FROM orders WHERE amount < 5
CREATE TABLE big WITH ('connector' = 'LocalFile', 'path' = 'out/big', 'file_format_type' = 'parquet');
INSERT INTO big SELECT id FROM few;
