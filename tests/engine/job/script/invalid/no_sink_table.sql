CREATE TABLE orders (id BIGINT, customer BIGINT, amount DECIMAL(10,2))
  WITH ('connector' = 'LocalFile', 'path' = 'orders.csv', 'file_format_type' = 'csv');
INSERT INTO bigg SELECT id FROM orders;
