"""Further alternatives of the expression grammar: functions met less often, and nested types, intervals, time, variant."""

from collections.abc import Mapping

MORE: Mapping[str, str] = {
    "bool": """not {bool} <=> {bool} | {bool} is not false | {bool} is unknown | {str} regexp {str} | {str} not like all ('a%', {str})
        | {str} not rlike 'x' | {num} not between {num} and {num} | {dec} not in (1.5, {dec}, null) | {str} ilike any ({str}, 'b')
        | equal_null({any}, {any}) | isnull({any}) | isnotnull({any}) | endswith({bin}, {bin}) | like({str}, {str}, '/') | ilike({str}, 'a')
        | luhn_check({str}) | is_variant_null({variant}) | xpath_boolean({str}, 'a') | {struct} = {struct} | {ints} < {ints} | {structs} = {structs}
        | ({int}, {str}) = ({int}, {str}) | ({int}, {str}) in ((1, 'a'), ({int}, {str})) | {struct} in ({struct}, {struct}) | {ints} in ({ints}, array(1L))
        | array_contains({structs}, {struct}) | array_contains({strs}, {str}) | exists({structs}, s -> s.b = {str}) | boolean({str})
        | {ts} between {date} and {ntz}
        | forall({ints}, x -> x is null) | case when {bool} then {bool} end | {bool} = {bool} | {bool} > {bool} | {variant} is null | {time} = {time}
        | {map} is not null
        | {ym} = {ym} | {num} == {num} | {num} != {num} | !{bool} | map_contains_key({map}, null) | exists({ints}, x -> null)""",
    "int": """bit_get({int}, {int}) | bit_length({str}) | ceiling({num}) | character_length({str}) | date_diff({day}, {day}) | datepart('week', {day})
        | day({day}) | getbit({int}, 0) | array_size({strs}) | json_array_length({str}) | len({str}) | negative({int}) | positive({int}) | second({ts})
        | second({time})
        | hour({time}) | minute({time}) | shiftright({int}, {int}) | shiftrightunsigned({int}, 1) | {int} >> {int} | {int} >>> 1
        | timestampdiff(MINUTE, {ts}, {ts})
        | datediff(DAY, {ts}, {ts}) | to_unix_timestamp({ts}) | to_unix_timestamp({str}, 'yyyy') | try_mod({int}, {int}) | try_multiply({int}, {int})
        | try_subtract({int}, {int})
        | uniform(1, 10) | unix_micros({ts}) | unix_millis({ts}) | xpath_int({str}, 'a') | xpath_long({str}, 'a') | xpath_short({str}, 'a')
        | zeroifnull({int}) | nullifzero({int})
        | int({num}) | bigint({str}) | smallint({num}) | tinyint({int}) | bitmap_bit_position({int}) | bitmap_bucket_number({int}) | bitmap_count({bin})
        | hll_sketch_estimate({bin})
        | spark_partition_id() | monotonically_increasing_id() | input_file_block_length() | extract(hour from {time}) | extract(month from {ym})
        | date_part('hour', {dt})
        | extract(dayofweek from {date}) | extract(yearofweek from {ts}) | extract(minute from {ts}) | time_diff('HOUR', {time}, {time}) | {map}[{str}]
        | {structs}[0].a
        | element_at({structs}, {int}).a | {structs}.a[{int}] | map_entries({map})[0].value | size({structs}) | cast({time} as bigint)
        | variant_get({variant}, '$.a', 'int')
        | try_variant_get({variant}, '$.a', 'bigint') | cast({variant} as int) | {variant}::bigint
        | aggregate({ints}, 0L, (acc, x) -> acc + x, acc -> acc * 2)
        | aggregate({structs}, 0, (acc, s) -> acc + s.a) | array_position({strs}, {str}) | size(map_keys({map})) | ifnull({int}, {int})
        | nvl({int}, {dec}) | cast({dec} as bigint)
        | case {str} when 'a' then {int} else {frac} end | decode({int}, 1, 2, 3) | {int}::tinyint""",
    "frac": """acos({num}) | acosh({num}) | asin({num}) | asinh({num}) | atan({num}) | atanh({num}) | cos({num}) | cosh({num}) | cot({num}) | csc({num})
        | e() | expm1({num})
        | log10({num}) | log1p({num}) | power({num}, {num}) | radians({num}) | randn(1) | random(2) | rint({num}) | sec({num}) | sinh({num})
        | tan({num}) | tanh({num}) | double({str})
        | float({num}) | xpath_double({str}, 'a') | xpath_float({str}, 'a') | xpath_number({str}, 'a') | uniform(1.5D, 2.5D)
        | try_multiply({frac}, {num}) | try_subtract({frac}, {int})
        | zeroifnull({frac}) | {variant}::double | {dec} * {frac} | {frac} % {frac} | positive({frac}) | {frac} - {str} | {str} / {int} | {str} * {frac}
        | least({frac}, {int})""",
    "dec": """try_multiply({dec}, {dec}) | try_subtract({dec}, {int}) | try_mod({dec}, {dec}) | zeroifnull({dec}) | nullifzero({dec}) | positive({dec})
        | negative({dec}) | uniform(1.5, 2.5)
        | least({dec}, {int}, {dec}) | variant_get({variant}, '$.a', 'decimal(8,3)') | try_to_number({str}, '99.9') | cast({dec} as decimal(38, 18))
        | {dec}::decimal(3, 1) | {int}::decimal(10, 2)
        | extract(second from {time}) | extract(seconds from {dt}) | nvl2({any}, {dec}, {int}) | ifnull({dec}, {dec}) | {dec} * {int} - {dec}
        | ({dec} + 1) / 3 | {dec} % {int} | {int} % {dec}
        | round({dec}, -2) | ceil({dec}, -1) | floor({dec}, 2) | try_add({dec}, {int}) | cast({bool} as decimal(3, 1)) | cast({ts} as decimal(20, 6))
        | 1.0 / {dec} | {dec} div {int}""",
    "str": """aes_encrypt({bin}, {bin})::string | char({int}) | collation({str}) | current_catalog() | current_database() | current_schema()
        | current_timezone() | current_user() | from_csv({str}, 'a int').a::string
        | json_object_keys({str})[0] | lcase({str}) | make_valid_utf8({str}) | printf('%s', {any}) | quote({str}) | regexp_substr({str}, 'a')
        | right({str}, {int}) | rtrim({str}) | schema_of_csv('1,a')
        | schema_of_json('[1]') | schema_of_variant({variant}) | session_user() | sha({bin}) | sha1({bin}) | string({any}) | to_csv({struct})
        | to_varchar({dec}, '9.9') | try_parse_url({str}, 'HOST')
        | try_url_decode({str}) | try_validate_utf8({str}) | ucase({str}) | url_decode({str}) | validate_utf8({str}) | version()
        | xpath_string({str}, 'a') | randstr(3, 1) | input_file_name() | user()
        | coalesce({str}, {any}::string) | case when {bool} then {str} when {bool} then {int} end | {str} || {int} | {date} || ''
        | concat_ws('-', {strs}, {str}) | trim(leading from {str})
        | trim(trailing 'x' from {str}) | overlay({str} placing {str} from {int} for {int}) | left({str}, {int}) | {structs}[0].b | {variant}::string
        | variant_get({variant}, '$.b', 'string')
        | cast({time} as string) | cast({ym} as string) | cast({dt} as string) | collate({str}, 'UTF8_BINARY') | decode({int}, 1, 'a', {str})
        | if({bool}, {str}, null) | elt({int}, {str}, 'b')
        | if({bool}, {int}, {str}) | coalesce({int}, {str}) | 'a' 'b' | replace({str}, 'a') | mask({str}, 'X', 'y') | rpad({str}, {int}, {str})
        | date_format({str}, 'yyyy') | to_json({map}) | to_json({structs}) | to_json({variant})""",
    "bin": """aes_decrypt({bin}, {bin}) | aes_encrypt({bin}, {bin}) | binary({str}) | try_to_binary({str}, 'utf-8') | try_aes_decrypt({bin}, {bin})
        | reverse({bin}) | left({bin}, 1)
        | coalesce({bin}, {bin}) | if({bool}, {bin}, {bin}) | overlay({bin} placing {bin} from 1) | lpad({bin}, 3, {bin}) | rpad({bin}, {int})
        | concat({bin}, {bin}, {bin}) | trim({bin}) | {str}::binary""",
    "date": """curdate() | try_to_date({str}) | {date} - {ym} | {int} + {date} | nvl({date}, {date}) | least({date}, {date}) | cast({ntz} as date)
        | variant_get({variant}, '$.d', 'date')
        | {str}::date | dateadd({date}, {int}) | case when {bool} then {date} else current_date end | date_trunc('MONTH', {date})::date
        | add_months({str}, 1) | last_day({str})""",
    "ts": """now() | to_timestamp_ltz({str}) | timestamp_micros({int}) | timestamp({str}) | try_make_timestamp({int}, 1, 1, 0, 0, 0)
        | make_timestamp_ltz({int}, 1, 1, 0, 0, 0) | current_timestamp | {ts} - {ym}
        | to_timestamp({str}, 'yyyy') | to_timestamp({date}) | timestampadd(MONTH, {int}, {date}) | dateadd(HOUR, {int}, {ts})
        | date_add({ts}, 1)::timestamp | least({ts}, {ts}) | nvl({ts}, {ts})
        | coalesce({ts}, {ntz}) | if({bool}, {ts}, {date}) | date_trunc({str}, {str}) | {dt} + {ts} | {date} - {dt}
        | make_timestamp({int}, 2, 3, 4, 5, 6.5, 'UTC') | try_to_timestamp({str}, 'yyyy')""",
    "ntz": """localtimestamp() | convert_timezone('UTC', {ntz}) | make_timestamp_ntz({int}, 1, 1, 0, 0, 0)
        | try_make_timestamp_ntz({int}, 1, 1, 0, 0, 0) | {ntz} - {dt} | {ntz} + {ym} | date_trunc('DAY', {ntz})
        | greatest({ntz}, {ntz}) | try_to_timestamp({str})::timestamp_ntz | coalesce({ntz}, {date}) | make_timestamp_ntz({date}, {time})
        | {date}::timestamp_ntz""",
    "time": """current_time() | current_time(3) | time_trunc('HOUR', {time}) | try_to_time({str}) | {str}::time | cast({str} as time(3))
        | greatest({time}, {time}) | if({bool}, {time}, {time})
        | {time} + {dt} | {time} - {dt} | nullif({time}, {time}) | cast({time} as time(0)) | to_time({str}, 'HH')""",
    "ym": """abs({ym}) | {num} * {ym} | positive({ym}) | {ym} - {ym} | greatest({ym}, {ym}) | cast({str} as interval year to month)
        | cast({int} as interval month) | if({bool}, {ym}, {ym})
        | interval '3' month | interval '2-3' year to month | {ym}::interval year | case when {bool} then {ym} end""",
    "dt": """{dt} - {dt} | {num} * {dt} | positive({dt}) | least({dt}, {dt}) | cast({str} as interval day to second) | cast({int} as interval hour)
        | if({bool}, {dt}, {dt}) | {ntz} - {ntz} | {ntz} - {ts}
        | {time} - {time} | interval '10:20' hour to minute | interval '1 02:03' day to minute | interval 1 day 2 hours
        | make_dt_interval({int}, {int}, {int}, {dec}) | {dt}::interval day | {date} - {ts}
        | coalesce({dt}, {dt}) | try_add({dt}, {dt}) | try_subtract({ts}, {ts})""",
    "ints": """try_element_at(map('a', {ints}), 'a') | array_repeat({int}, {int}) | sequence({int}, {int}, {int})
        | cast({strs} as array<int>) | from_json({str}, 'array<int>') | {structs}.c[0] | flatten({structs}.c) | nvl({ints}, {ints})
        | array({int}, {dec}::int) | slice({ints}, {int}, {int})
        | filter({ints}, (x, i) -> i > x) | map_values(map_filter({map}, (k, v) -> k = {str})) | sort_array({ints}, false)
        | array_sort({ints}, (a, b) -> a - b) | array_insert({ints}, {int}, null)
        | array_remove({ints}, 1L) | array_union({ints}, array(1L, null)) | array_append({ints}, null) | concat({ints}, array(null))
        | if({bool}, {ints}, array(1L)) | zip_with({ints}, {strs}, (x, y) -> x)
        | greatest({ints}, {ints}) | transform(filter({structs}, s -> s.a > {int}), s -> s.a + 1) | variant_get({variant}, '$.l', 'array<int>')""",
    "strs": """json_object_keys({str}) | xpath({str}, 'a') | map_keys(map_concat({map}, {map})) | flatten(sentences({str})) | array_sort({strs})
        | cast({ints} as array<string>) | transform({structs}, s -> s.b)
        | coalesce({strs}, {strs}) | array_union({strs}, {strs}) | array({str}, {int}) | if({bool}, {strs}, {strs}) | sort_array({strs})
        | array_repeat({str}, 2) | regexp_extract_all({str}, {str}) | reverse({strs})
        | transform({strs}, (s, i) -> concat(s, i)) | transform(map_entries({map}), e -> e.key) | concat({strs}, {strs}) | slice({strs}, 1, {int})
        | map_keys(transform_keys({map}, (k, v) -> concat(k, v)))""",
    "map": """if({bool}, {map}, {map}) | map_filter({map}, (k, v) -> k like 'a%') | transform_values({map}, (k, v) -> length(k))
        | transform_values({map}, (k, v) -> v / 2) | cast({map} as map<string,bigint>)
        | from_json({str}, 'map<string,int>') | map('a', {dec}, 'b', {int}) | map({str}, {struct}) | map_from_arrays({strs}, {strs})
        | map_from_entries(arrays_zip({strs}, {ints}))
        | map_from_entries(transform({ints}, x -> struct(cast(x as string), x))) | map_zip_with({map}, {map}, (k, a, b) -> coalesce(a, b))
        | map_concat({map}, map('x', null)) | nvl({map}, {map})""",
    "struct": """struct({int} as a, {str} as b, {ints} as c) | from_csv({str}, 'a int, b string') | filter({structs}, s -> true)[0] | get({structs}, 0)
        | nvl({struct}, {struct}) | case when {bool} then {struct} end
        | cast({struct} as struct<a:bigint,b:string,c:array<bigint>>) | from_xml({str}, 'a int, b string') | array_max({structs}) | array_min({structs})
        | try_element_at({structs}, 1) | element_at(map('k', {struct}), 'k')
        | struct({any}, {any}) | struct({int}, {str} as b) | named_struct('x', {any}, 'y', {any}) | map_entries({map})[0]
        | variant_get({variant}, '$.s', 'struct<a:int>')""",
    "structs": """array({struct}, {struct}) | transform({ints}, x -> named_struct('a', x, 'b', {str}, 'c', array(x))) | arrays_zip({ints}, {strs})
        | map_entries({map}) | arrays_zip({ints}, {ints}) | reverse({structs})
        | from_json({str}, 'array<struct<a:int,b:string,c:array<int>>>') | array_distinct({structs}) | array_append({structs}, {struct})
        | zip_with({ints}, {strs}, (x, y) -> struct(x as a, y as b, array(x) as c))
        | array_sort({structs}, (l, r) -> l.a - r.a) | concat({structs}, {structs}) | sort_array({structs}) | array_repeat({struct}, 2)
        | if({bool}, {structs}, {structs}) | array_union({structs}, {structs})
        | filter({structs}, s -> exists(s.c, y -> y > {int})) | transform({structs}, s -> struct(s.b as a, s.a as b)) | array_compact({structs})
        | shuffle({structs}) | array_insert({structs}, 1, {struct})""",
    "variant": """cast({int} as variant) | {str}::variant | coalesce({variant}, {variant}) | if({bool}, {variant}, {variant})
        | try_variant_get({variant}, '$.a', 'variant') | to_variant_object({struct})
        | variant_get({variant}, '$[0]') | parse_json(to_json({struct})) | to_variant_object({map}) | {ints}::variant | {variant}:a | {variant}:a.b[0]
        | {variant}:a::int | {variant}:['a']""",
    "agg": """any({bool}) | some({bool}) | bit_and({int}) | bool_or({bool}) | covar_samp({num}, {num}) | first_value({any})
        | last_value({any}) ignore nulls | first({any}) ignore nulls | hll_sketch_agg({str})
        | mean({num}) | percentile_approx({num}, array(0.5, 0.9)) | percentile({num}, array(0.1, 0.2))
        | percentile_disc(0.5) within group (order by {num} desc) | regr_avgx({num}, {num}) | regr_count({num}, {num}) | regr_r2({num}, {num})
        | regr_sxy({num}, {num}) | regr_intercept({num}, {num}) | std({num}) | stddev_pop({num}) | stddev_samp({num}) | var_pop({num}) | var_samp({num})
        | collect_set({int}) | collect_list({struct}) | collect_list(distinct {int})
        | count(*) filter (where {bool}) | count(distinct {ints}) | count({any}, {any}) | max({struct}) | min({ints}) | max({ts}) - min({ts})
        | sum({int}) / count(*) | avg({dec}) + 1 | max_by({struct}, {num}) | min_by({any}, {ts})
        | mode() within group (order by {num}) | mode({any}) | listagg(distinct {str}, ',') | listagg({str}, '-') within group (order by {num})
        | string_agg({str}) | histogram_numeric({num}, 3) | approx_top_k({str}) | median({dt}) | percentile({ym}, 0.5)
        | sum({ym}) | avg({dt}) | try_sum({dt}) | try_avg({dec}) | sum({str}) | avg({str}) | theta_sketch_agg({int}) | kll_sketch_agg_bigint({int})
        | bitmap_construct_agg(bitmap_bit_position({int})) | count_min_sketch({str}, 0.1D, 0.9D, 1)
        | schema_of_variant_agg({variant}) | any_value({any}, true) | sum(case when {bool} then {dec} else 0 end) | max({int}) filter (where {bool}) + 1
        | count(if({bool}, 1, null)) | sum(distinct {dec}) | avg(distinct {int}) | if(count(*) > 1, max({str}), 'x')
        | coalesce(sum({num}), 0) | round(avg({dec}), 2) | cast(sum({dec}) as double) | array_agg({str})[0] | collect_list({str})[0]
        | size(collect_set({num})) | max({struct}).a""",
    "win": """lag({any}, 1) ignore nulls over (order by {ord}) | lead({dec}, 2, 0) over (partition by {ord} order by {ord})
        | first_value({any}) ignore nulls over (order by {ord}) | sum({dec}) over (order by {date} range between interval 1 day preceding and current row)
        | max({str}) over (order by {int} range between 1 preceding and 1 following) | count(distinct {int}) over (partition by {ord})
        | avg({num}) over (partition by {ord}, {ord}) | collect_list({any}) over (order by {ord})
        | row_number() over (order by {ord} desc nulls last, {ord})
        | sum({int}) filter (where {bool}) over (partition by {ord}) | rank() over (order by {ord}) - 1 | {num} - lag({num}) over (order by {ord})
        | {int} / sum({int}) over () | nth_value({any}, 2) ignore nulls over (order by {ord}) | any_value({any}) over (partition by {ord})
        | bool_and({bool}) over (order by {ord} rows between current row and unbounded following) | stddev({num}) over (partition by {ord})
        | max_by({str}, {num}) over (partition by {ord}) | case when row_number() over (order by {ord}) = 1 then {str} end
        | min({ts}) over (order by {ts} range between interval '1' hour preceding and interval '1' hour following)
        | array_agg({int}) over (partition by {ord} order by {ord} rows 2 preceding) | ntile(3) over (order by {ord})
        | percent_rank() over (partition by {ord} order by {ord})""",
}  # fmt: skip
"""Added to the alternatives of `expressions.RULES`."""
