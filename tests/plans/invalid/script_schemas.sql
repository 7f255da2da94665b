CREATE TABLE a (id BIGINT, `Id` STRING) WITH ('connector' = 'FakeSource');
CREATE TABLE b (id BIGINT NOT NULL, ID STRING) WITH ('connector' = 'FakeSource');
CREATE TABLE t WITH ('connector' = 'Console');
INSERT INTO t SELECT a.id FROM a CROSS JOIN b;
