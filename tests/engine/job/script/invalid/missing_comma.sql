CREATE TABLE orders (id BIGINT, customer BIGINT, amount DECIMAL(10,2))
  WITH ('connector' = 'LocalFile', 'path' = 'orders.csv', 'file_format_type' = 'csv');
CREATE TABLE big WITH ('connector' = 'LocalFile', 'path' = 'out/big', 'file_format_type' = 'parquet');
INSERT INTO big
SELECT id
       customer amount
FROM orders;
