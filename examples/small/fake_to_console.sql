-- The smallest job: five made-up rows on the screen.
SET 'job.name' = 'fake_to_console';

CREATE TABLE fakesource (
  id bigint,
  name string,
  score decimal(4,1)
)
WITH (
  'connector' = 'FakeSource',
  'row.num' = '5'
);

CREATE TABLE console
WITH (
  'connector' = 'Console'
);
INSERT INTO console SELECT * FROM fakesource;
