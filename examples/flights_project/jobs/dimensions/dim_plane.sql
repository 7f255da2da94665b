-- Each plane, with a version for each change of what is known of it.
CREATE TABLE raw_planes WITH ('connector' = 'LocalFile', 'path' = '${lake}/raw/planes');

CREATE TABLE dim_plane (
  PRIMARY KEY (tailnum) NOT ENFORCED,
  CONSTRAINT has_seats EXPECT (seats > 0) ON VIOLATION WARN
) WITH ('connector' = 'Delta', 'path' = '${lake}/dimensions/dim_plane', 'write_mode' = 'scd2', 'missing_keys' = 'end');

INSERT INTO dim_plane
SELECT tailnum, manufacturer, model, seats FROM raw_planes;
