-- What several_sinks.sql (or .conf) makes of a few orders; run by `penstock test examples`.
TEST 'small orders are left out of large_orders, not of the totals';
GIVEN orders AS SELECT * FROM VALUES (1, 'north', 120.50), (2, 'south', 49.99), (3, NULL, 50.00) AS t(id, region, amount);
EXPECT large_orders AS SELECT * FROM VALUES (1, 'north', 120.50), (3, NULL, 50.00) AS t(id, region, amount);
EXPECT by_region AS
  SELECT * FROM VALUES ('north', 1, 120.50), ('south', 1, 49.99), (NULL, 1, 50.00) AS t(region, orders, amount);

TEST 'the threshold is a variable';
SET 'least' = '121';
GIVEN orders AS SELECT * FROM VALUES (1, 'north', 120.50), (2, 'south', 121.00) AS t(id, region, amount);
EXPECT large AS SELECT 2 AS id;

TEST 'no orders, no regions';
EXPECT by_region AS SELECT 'x' AS region WHERE false;
