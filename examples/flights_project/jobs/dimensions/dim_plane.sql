-- One row for each plane.
CREATE TABLE raw_planes WITH ('connector' = 'LocalFile', 'path' = '${lake}/raw/planes');
CREATE TABLE dim_plane WITH ('connector' = 'LocalFile', 'path' = '${lake}/dimensions/dim_plane');

INSERT INTO dim_plane
SELECT tailnum, manufacturer, model, seats FROM raw_planes;
