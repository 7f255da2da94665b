CREATE TABLE orders (id BIGINT, amount DECIMAL(10,2),
  CONSTRAINT positive EXPECT (amont > 0) ON VIOLATION DROP)
  WITH ('connector' = 'LocalFile', 'path' = 'orders.csv', 'file_format_type' = 'csv');
CREATE TABLE big WITH ('connector' = 'LocalFile', 'path' = 'out/big', 'file_format_type' = 'parquet');
INSERT INTO big SELECT id FROM orders;
