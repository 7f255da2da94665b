-- Flights that left New York City in 2013: cleaned and joined to what is known of their airline, airports, plane and
-- weather, written to Parquet by month, and summed up by carrier, route and weather.
--
-- penstock run examples/flights/flights.conf
--
-- Every figure in the Assert sinks was worked out without Spark: see README.md in this folder.
SET 'job.name' = 'flights';
SET 'job.mode' = 'BATCH';
SET 'parallelism' = '2';
SET 'spark.sql.shuffle.partitions' = '4';

CREATE TABLE flights (
  year int,
  month int,
  day int,
  dep_time int,
  sched_dep_time int,
  dep_delay int,
  arr_time int,
  sched_arr_time int,
  arr_delay int,
  carrier string,
  flight int,
  tailnum string,
  origin string,
  dest string,
  air_time int,
  distance int,
  hour int,
  minute int,
  time_hour timestamp
)
WITH (
  'connector' = 'LocalFile',
  'path' = '${data:examples/flights/data}/flights.csv.gz',
  'file_format_type' = 'csv',
  'csv_use_header_line' = 'true',
  'null_format' = 'NA'
);

CREATE TABLE airlines (
  carrier string,
  name string
)
WITH (
  'connector' = 'LocalFile',
  'path' = '${data:examples/flights/data}/airlines.csv.gz',
  'file_format_type' = 'csv',
  'csv_use_header_line' = 'true'
);

CREATE TABLE airports (
  faa string,
  name string,
  lat double,
  lon double,
  alt int,
  tz int,
  dst string,
  tzone string
)
WITH (
  'connector' = 'LocalFile',
  'path' = '${data:examples/flights/data}/airports.csv.gz',
  'file_format_type' = 'csv',
  'csv_use_header_line' = 'true',
  'null_format' = 'NA'
);

CREATE TABLE planes (
  tailnum string,
  year int,
  type string,
  manufacturer string,
  model string,
  engines int,
  seats int,
  speed int,
  engine string
)
WITH (
  'connector' = 'LocalFile',
  'path' = '${data:examples/flights/data}/planes.csv.gz',
  'file_format_type' = 'csv',
  'csv_use_header_line' = 'true',
  'null_format' = 'NA'
);

CREATE TABLE weather (
  origin string,
  year int,
  month int,
  day int,
  hour int,
  temp double,
  dewp double,
  humid double,
  wind_dir int,
  wind_speed double,
  wind_gust double,
  precip double,
  pressure double,
  visib double,
  time_hour timestamp
)
WITH (
  'connector' = 'LocalFile',
  'path' = '${data:examples/flights/data}/weather.csv.gz',
  'file_format_type' = 'csv',
  'csv_use_header_line' = 'true',
  'null_format' = 'NA'
);

CREATE VIEW cleaned AS
      select carrier, flight, tailnum, origin, dest, time_hour, month, day, hour,
             dep_time is null as cancelled, dep_delay, arr_delay, air_time, distance
      from flights
      where distance > 0;

CREATE VIEW enriched WITH ('cache' = 'disk') AS
      select f.*,
             a.name as airline,
             p.name as airport,
             n.manufacturer, n.model, n.seats, f.month as flown_in,
             case when w.time_hour is null then 'unknown'
                  when w.visib < 3 then 'poor'
                  when w.visib < 10 then 'fair'
                  else 'good' end as visibility
      from cleaned f
      join airlines a on f.carrier = a.carrier
      left join airports p on f.dest = p.faa
      left join planes n on f.tailnum = n.tailnum
      left join weather w on f.origin = w.origin and f.time_hour = w.time_hour;

CREATE VIEW by_carrier AS
      select carrier, airline, count(*) as flights, count_if(cancelled) as cancelled,
             sum(dep_delay) as departure_delay, sum(arr_delay) as arrival_delay,
             count_if(arr_delay > 15) as late, cast(avg(arr_delay) as decimal(6,2)) as average_arrival_delay
      from enriched group by carrier, airline order by carrier;

CREATE VIEW by_route AS
      select origin, dest, airport, count(*) as flights, count_if(cancelled) as cancelled,
             sum(arr_delay) as arrival_delay, max(arr_delay) as worst_arrival_delay
      from enriched group by origin, dest, airport order by origin, dest;

CREATE VIEW by_weather AS
      select origin, hour, visibility, count(*) as flights,
             sum(dep_delay) as departure_delay, count(dep_delay) as departed
      from enriched group by origin, hour, visibility order by origin, hour, visibility;

CREATE VIEW totals AS
      select count(*) as flights, count_if(cancelled) as cancelled, sum(dep_delay) as departure_delay,
             sum(arr_delay) as arrival_delay, count_if(arr_delay > 15) as late, sum(distance) as distance,
             sum(seats) as seats, count(distinct origin, dest) as routes
      from enriched;

CREATE TABLE enriched_out
PARTITIONED BY (flown_in)
WITH (
  'connector' = 'LocalFile',
  'path' = '${out:out/flights}/enriched',
  'file_format_type' = 'parquet',
  'data_save_mode' = 'DROP_DATA'
);
INSERT INTO enriched_out SELECT * FROM enriched;

CREATE TABLE delays_by_carrier
WITH (
  'connector' = 'LocalFile',
  'path' = '${out:out/flights}/delays_by_carrier',
  'file_format_type' = 'parquet',
  'data_save_mode' = 'DROP_DATA'
);
INSERT INTO delays_by_carrier SELECT * FROM by_carrier;

CREATE TABLE delays_by_route
WITH (
  'connector' = 'LocalFile',
  'path' = '${out:out/flights}/delays_by_route',
  'file_format_type' = 'parquet',
  'data_save_mode' = 'DROP_DATA'
);
INSERT INTO delays_by_route SELECT * FROM by_route;

CREATE TABLE delays_by_weather
WITH (
  'connector' = 'LocalFile',
  'path' = '${out:out/flights}/delays_by_weather',
  'file_format_type' = 'parquet',
  'data_save_mode' = 'DROP_DATA'
);
INSERT INTO delays_by_weather SELECT * FROM by_weather;

CREATE TABLE assert
WITH (
  'connector' = 'Assert',
  'rules' = '{"row_rules": [{"rule_type": "MIN_ROW", "rule_value": 1}, {"rule_type": "MAX_ROW", "rule_value": 1}], "field_rules": [{"field_name": "flights", "field_type": "bigint", "field_value": [{"rule_type": "NOT_NULL", "equals_to": 336776}]}, {"field_name": "cancelled", "field_type": "bigint", "field_value": [{"rule_type": "NOT_NULL", "equals_to": 8255}]}, {"field_name": "departure_delay", "field_type": "bigint", "field_value": [{"rule_type": "NOT_NULL", "equals_to": 4152200}]}, {"field_name": "arrival_delay", "field_type": "bigint", "field_value": [{"rule_type": "NOT_NULL", "equals_to": 2257174}]}, {"field_name": "late", "field_type": "bigint", "field_value": [{"rule_type": "NOT_NULL", "equals_to": 77630}]}, {"field_name": "distance", "field_type": "bigint", "field_value": [{"rule_type": "NOT_NULL", "equals_to": 350217607}]}, {"field_name": "seats", "field_type": "bigint", "field_value": [{"rule_type": "NOT_NULL", "equals_to": 38851317}]}, {"field_name": "routes", "field_type": "bigint", "field_value": [{"rule_type": "NOT_NULL", "equals_to": 224}]}]}'
);
INSERT INTO assert SELECT * FROM totals;

CREATE TABLE console
WITH (
  'connector' = 'Console'
);
INSERT INTO console SELECT * FROM by_carrier;
