"""Random expressions, from a grammar: templates per kind of value, whose holes are kinds."""

import random
import re
from collections.abc import Mapping, Sequence

from tests.oracle.more_rules import MORE

Columns = Mapping[str, Sequence[str]]
"""For each kind, the column texts that have it."""

EVERY_COLUMNS: Columns = {
    kind: [name for base in names for name in (base, f"{base}_nn")]
    for kind, names in {
        "bool": ["flag"],
        "int": ["tiny", "small", "num", "big"],
        "frac": ["flt", "dbl"],
        "dec": ["money", "huge", "whole"],
        "str": ["txt"],
        "bin": ["bin"],
        "date": ["day"],
        "ts": ["ts"],
        "ntz": ["ntz"],
        "time": ["tod"],
        "ym": ["ym"],
        "dt": ["dt"],
        "ints": ["nums"],
        "strs": ["txts"],
        "map": ["dict"],
        "struct": ["point"],
        "structs": ["points"],
        "variant": ["doc"],
    }.items()
}

LITERALS: Mapping[str, Sequence[str]] = {
    "bool": ["true", "false", "null"],
    "int": ["1", "2L", "3S", "4Y", "-7", "2147483648", "null"],
    "frac": ["1.5D", "2e3", "0.25F"],
    "dec": ["1.5", "0.01", "12345.678", "10BD", "99999999999999999999"],
    "str": ["'a'", "'2020-01-01'", "'12'", "''", "null"],
    "bin": ["X'0A'", "cast('a' as binary)"],
    "date": ["date'2020-01-01'", "current_date()"],
    "ts": ["timestamp'2020-01-01 10:00:00'", "current_timestamp()"],
    "ntz": ["timestamp_ntz'2020-01-01 10:00:00'"],
    "time": ["time'12:30:00'"],
    "ym": ["interval '1' year", "interval '1-2' year to month", "interval 3 months"],
    "dt": ["interval '2' day", "interval '1 10:00:00' day to second", "interval 5 hours"],
    "ints": ["array(1, 2)", "array()", "array(1, null)"],
    "strs": ["array('a')", "split('a,b', ',')"],
    "map": ["map('a', 1)", "map()"],
    "struct": ["struct(1 as a, 'x' as b, array(1) as c)", "named_struct('a', 1, 'b', 'z', 'c', array(2))"],
    "structs": ["array(struct(1 as a, 'x' as b, array(1) as c))"],
    "variant": ["parse_json('1')"],
}

RULES: Mapping[str, str] = {
    "num": "{int} | {int} | {frac} | {dec}",
    "day": "{date} | {ts} | {ntz}",
    "any": "{bool} | {num} | {str} | {date} | {ts} | {ntz} | {bin} | {ints} | {map} | {struct} | {dt}",
    "ord": "{num} | {str} | {date} | {ts}",
    "bool": """{num} > {num} | {num} = {num} | {str} = {str} | {str} like 'a%' | {str} rlike 'a.*' | {str} ilike {str}
        | {bool} and {bool} | {bool} or {bool} | not {bool} | {any} is null | {any} is not null | {num} <=> {num}
        | {num} between {num} and {num} | {int} in (1, 2, {int}) | {str} in ('a', {str}) | {date} < {ts} | {ts} >= {ts}
        | array_contains({ints}, {int}) | exists({ints}, x -> x > {int}) | forall({strs}, x -> x = {str})
        | {bool} is true | startswith({str}, {str}) | contains({str}, {str}) | isnan({frac}) | map_contains_key({map}, {str})
        | arrays_overlap({ints}, {ints}) | {date} between {date} and {date} | {num} <> {str} | {str} > {num}
        | if({bool}, {bool}, {bool}) | coalesce({bool}, {bool}) | nvl({bool}, {bool}) | {num} is distinct from {num}
        | {time} < {time} | {dt} < {dt} | {ym} >= {ym} | {dec} = {int} | {day} < {day} | try_cast({str} as boolean)
        | cast({str} as boolean) | cast({int} as boolean) | regexp_like({str}, 'a') | {str} like {str} escape '!'
        | bool_xor({bool}, {bool}) | {bin} = {bin} | is_valid_utf8({str}) | {str} like any ('a%', {str})""",
    "int": """{int} + {int} | {int} - {int} | {int} * {int} | {int} % {int} | -{int} | abs({int}) | {int} div {int}
        | length({str}) | char_length({str}) | size({ints}) | cardinality({map}) | cast({num} as int) | cast({num} as bigint)
        | year({day}) | month({day}) | dayofmonth({day}) | hour({ts}) | minute({ts}) | weekofyear({day}) | quarter({day})
        | datediff({day}, {day}) | {int} & {int} | {int} | {int} ^ {int} | ~{int} | shiftleft({int}, {int}) | {int} << 2
        | instr({str}, {str}) | locate({str}, {str}) | position({str}, {str}) | ascii({str}) | hash({any}, {any})
        | xxhash64({any}) | crc32({bin}) | element_at({ints}, 1) | {ints}[0] | {map}['a'] | element_at({map}, {str})
        | {struct}.a | aggregate({ints}, 0, (acc, x) -> acc + x) | coalesce({int}, {int}) | nullif({int}, {int})
        | case when {bool} then {int} else {int} end | case {int} when 1 then {int} when 2 then {int} end
        | if({bool}, {int}, {int}) | greatest({int}, {int}) | least({int}, {int}, {int}) | pmod({int}, {int})
        | floor({num}) | ceil({num}) | sign({int}) | bit_count({int}) | unix_timestamp({ts}) | array_position({ints}, {int})
        | array_max({ints}) | array_min({ints}) | extract(year from {day}) | date_part('day', {day}) | levenshtein({str}, {str})
        | try_cast({str} as int) | cast({str} as int) | dayofweek({day}) | dayofyear({day}) | weekday({day}) | find_in_set({str}, {str})
        | extract(day from {dt}) | cast({bool} as int) | unix_date({date}) | unix_seconds({ts}) | octet_length({str})
        | reduce({ints}, {int}, (a, b) -> a + b) | try_element_at({ints}, 1) | get({ints}, {int}) | nvl2({any}, {int}, {int})
        | months_between({day}, {day}) | factorial({int}) | bround({int}, -1) | round({int}, -1) | {int}::smallint | mod({int}, {int})
        | regexp_count({str}, 'a') | regexp_instr({str}, 'a') | try_add({int}, {int}) | try_divide({int}, {int}) | width_bucket({frac}, {frac}, {frac}, {int})""",
    "frac": """{frac} + {num} | {num} / {frac} | {frac} * {frac} | sqrt({num}) | pow({num}, {num}) | exp({num}) | ln({num})
        | log({num}, {num}) | sin({num}) | cast({num} as double) | cast({num} as float) | round({frac}, 2) | bround({frac}, 1)
        | rand(42) | {int} / {int} | coalesce({frac}, {num}) | abs({frac}) | degrees({frac}) | atan2({num}, {num}) | cbrt({num})
        | case when {bool} then {frac} else {num} end | greatest({frac}, {num}) | nanvl({frac}, {frac}) | pi() | hypot({num}, {num})
        | try_cast({str} as double) | log2({num}) | signum({num}) | nullif({frac}, {num}) | cast({str} as double) | {str} + {frac}""",
    "dec": """{dec} + {dec} | {dec} - {int} | {dec} * {dec} | {dec} / {dec} | {dec} % {dec} | {dec} + {int} | {int} * {dec}
        | cast({num} as decimal(12, 3)) | round({dec}, 1) | round({dec}) | bround({dec}, 2) | ceil({dec}, 1) | floor({dec}) | abs({dec})
        | -{dec} | coalesce({dec}, {dec}) | coalesce({dec}, {int}) | greatest({dec}, {dec}) | pmod({dec}, {dec})
        | case when {bool} then {dec} when {bool} then {int} else {dec} end | if({bool}, {dec}, {int}) | try_divide({dec}, {dec})
        | nullif({dec}, {dec}) | to_number({str}, '999') | extract(second from {ts}) | {dec} div {dec} | try_add({dec}, {dec})
        | nvl({dec}, 0) | sign({dec}) | cast({str} as decimal(20, 4)) | try_cast({str} as decimal(5, 2)) | {dec} / {int}""",
    "str": """upper({str}) | lower({str}) | trim({str}) | {str} || {str} | concat({str}, {str}, {str}) | concat_ws(',', {str}, {strs})
        | substring({str}, 1, {int}) | substr({str}, 2) | left({str}, 3) | replace({str}, 'a', {str}) | regexp_replace({str}, 'a', 'b')
        | regexp_extract({str}, '(a)', 1) | cast({any} as string) | date_format({ts}, 'yyyy') | coalesce({str}, {str})
        | case when {bool} then {str} else {str} end | if({bool}, {str}, {str}) | {struct}.b | {strs}[0] | element_at({strs}, 1)
        | lpad({str}, {int}, 'x') | rpad({str}, 5) | reverse({str}) | repeat({str}, {int}) | initcap({str}) | translate({str}, 'a', 'b')
        | md5({bin}) | sha2({bin}, 256) | hex({int}) | base64({bin}) | to_json({struct}) | get_json_object({str}, '$.a') | split({str}, ',')[0]
        | nullif({str}, {str}) | format_number({num}, 2) | format_string('%s', {any}) | decode({bin}, 'UTF-8') | array_join({strs}, ',')
        | greatest({str}, {str}) | typeof({any}) | chr({int}) | concat({str}, {num}) | date_format({day}, 'MM') | uuid() | bin({int})
        | trim(both 'x' from {str}) | overlay({str} placing 'x' from 1) | substring({str} from 1 for 2) | split_part({str}, ',', 1)
        | conv({str}, 10, 16) | soundex({str}) | space({int}) | to_char({dec}, '999.99') | dayname({date}) | monthname({date})
        | nvl({str}, {str}) | ifnull({str}, 'x') | {str}::string | parse_url({str}, 'HOST') | mask({str}) | from_unixtime({int})
        | btrim({str}) | ltrim({str}) | elt(1, {str}, {str}) | url_encode({str}) | substring_index({str}, ',', 1)""",
    "bin": "cast({str} as binary) | unhex({str}) | encode({str}, 'UTF-8') | unbase64({str}) | to_binary({str}) | {bin} || {bin} | substring({bin}, 1, 2)",
    "date": """date_add({date}, {int}) | date_sub({day}, {int}) | {date} + {int} | {date} - {int} | to_date({str}) | to_date({str}, 'yyyy')
        | cast({str} as date) | cast({ts} as date) | last_day({day}) | next_day({day}, 'MON') | trunc({day}, 'MM') | add_months({day}, {int})
        | make_date({int}, {int}, {int}) | coalesce({date}, {date}) | {date} + {ym} | greatest({date}, {date}) | date({ts})
        | if({bool}, {date}, {date}) | try_cast({str} as date) | date_from_unix_date({int}) | case when {bool} then {date} end""",
    "ts": """cast({str} as timestamp) | to_timestamp({str}) | date_trunc('HOUR', {ts}) | {ts} + {dt} | {ts} - {dt} | {date} + {dt}
        | coalesce({ts}, {date}) | from_utc_timestamp({ts}, 'UTC') | cast({date} as timestamp) | {ts} + {ym} | timestamp_seconds({num})
        | timestampadd(HOUR, {int}, {ts}) | make_timestamp({int}, 1, 1, 0, 0, {dec}) | cast({ntz} as timestamp) | dateadd(DAY, {int}, {ts})
        | case when {bool} then {ts} else {date} end | to_utc_timestamp({ts}, {str}) | timestamp_millis({int}) | try_to_timestamp({str})""",
    "ntz": "cast({ts} as timestamp_ntz) | to_timestamp_ntz({str}) | {ntz} + {dt} | coalesce({ntz}, {ntz}) | cast({str} as timestamp_ntz)",
    "time": "coalesce({time}, {time}) | make_time({int}, {int}, {dec}) | to_time({str})",
    "ym": "{ym} + {ym} | {ym} * {int} | -{ym} | make_ym_interval({int}, {int}) | {ym} / {num} | coalesce({ym}, {ym})",
    "dt": "{dt} + {dt} | {dt} * {num} | {ts} - {ts} | {date} - {date} | make_dt_interval({int}) | -{dt} | {ts} - {date} | {dt} / {int} | abs({dt})",
    "ints": """array({int}, {int}) | transform({ints}, x -> x + {int}) | filter({ints}, x -> x > 1) | sort_array({ints}) | array_distinct({ints})
        | sequence({int}, {int}) | slice({ints}, 1, 2) | concat({ints}, {ints}) | array_union({ints}, {ints}) | array_repeat({int}, 2)
        | coalesce({ints}, {ints}) | {struct}.c | flatten(array({ints}, {ints})) | map_values({map}) | shuffle({ints}) | reverse({ints})
        | array_append({ints}, {int}) | zip_with({ints}, {ints}, (x, y) -> x * y) | {structs}.a | array_except({ints}, {ints}) | array_compact({ints})
        | transform({ints}, (x, i) -> x + i) | array_insert({ints}, 1, {int}) | array_remove({ints}, {int}) | array_sort({ints})
        | case when {bool} then {ints} else {ints} end | array_prepend({ints}, {int}) | array_intersect({ints}, {ints}) | transform({structs}, s -> s.a)""",
    "strs": """array({str}, {str}) | split({str}, ',') | map_keys({map}) | transform({strs}, x -> upper(x)) | filter({strs}, x -> x is not null)
        | transform({ints}, x -> cast(x as string)) | sentences({str})[0] | array_distinct({strs}) | regexp_extract_all({str}, '(a)', 1) | {structs}.b""",
    "map": """map({str}, {int}) | map_from_arrays({strs}, {ints}) | map_concat({map}, {map}) | map_filter({map}, (k, v) -> v > 1)
        | transform_values({map}, (k, v) -> v + 1) | transform_keys({map}, (k, v) -> upper(k)) | str_to_map({str}) | coalesce({map}, {map})
        | map_from_entries(map_entries({map})) | map_zip_with({map}, {map}, (k, a, b) -> a + b)""",
    "struct": """named_struct('a', {int}, 'b', {str}, 'c', {ints}) | {structs}[0] | coalesce({struct}, {struct})
        | from_json({str}, 'a int, b string, c array<int>') | if({bool}, {struct}, {struct}) | element_at({structs}, 1)""",
    "structs": "array({struct}) | filter({structs}, s -> s.a > 1) | coalesce({structs}, {structs}) | array_sort({structs}) | slice({structs}, 1, 1)",
    "variant": "parse_json({str}) | try_parse_json({str}) | variant_get(parse_json({str}), '$.a') | to_variant_object({ints})",
    "agg": """sum({num}) | avg({num}) | min({ord}) | max({ord}) | count(*) | count({any}) | count(distinct {any}) | first({any}) | last({any}, true)
        | collect_list({any}) | collect_set({str}) | stddev({num}) | variance({num}) | corr({num}, {num}) | percentile({num}, 0.5)
        | approx_percentile({num}, 0.5) | median({num}) | mode({str}) | max_by({any}, {ord}) | min_by({str}, {num}) | bool_and({bool})
        | every({bool}) | any_value({any}) | sum(distinct {num}) | sum({num}) filter (where {bool}) | approx_count_distinct({any})
        | bit_or({int}) | skewness({num}) | covar_pop({num}, {num}) | count_if({bool}) | listagg({str}, ',') | sum({dt}) | avg({ym}) | kurtosis({num})
        | percentile_cont(0.5) within group (order by {num}) | array_agg({any}) | regr_slope({num}, {num}) | try_sum({num}) | try_avg({num})
        | string_agg({str}) | max({dt}) | histogram_numeric({num}, 5) | count(distinct {str}, {int}) | sum({num}) + count(*) | bit_xor({int})""",
    "win": """row_number() over (order by {ord}) | rank() over (partition by {ord} order by {ord}) | lag({any}) over (order by {ord})
        | lead({num}, 1, 0) over (order by {ord}) | sum({num}) over (partition by {ord}) | ntile(4) over (order by {ord} desc)
        | first_value({any}) over (partition by {ord} order by {ord} rows between unbounded preceding and current row)
        | avg({dec}) over (order by {ord} rows between 1 preceding and 1 following) | dense_rank() over (order by {ord} nulls last)
        | percent_rank() over (order by {ord}) | cume_dist() over (order by {ord}) | nth_value({str}, 2) over (order by {ord})
        | count(*) over () | max({ord}) over (partition by {ord}) - 1 | lag({str}, 2, 'x') over (order by {ord}) | last_value({any}) over (order by {ord})""",
}  # fmt: skip
"""For each kind the alternatives that make it, `|` between them; a hole is a kind in braces."""

_SEPARATOR = re.compile(r"\s\|\s(?![|])")
TEMPLATES: Mapping[str, tuple[str, ...]] = {
    kind: tuple(each.strip() for part in (text, MORE.get(kind)) if part for each in _SEPARATOR.split(part))
    for kind, text in RULES.items()
}
KINDS = tuple(LITERALS)
_HOLE = re.compile(r"\{(\w+)\}")


class ExpressionGenerator:
    """Random expressions over the given columns."""

    def __init__(self, seed: int, columns: Columns = EVERY_COLUMNS) -> None:
        self.random = random.Random(seed)
        self.columns = columns

    def make(self, kind: str, depth: int) -> str:
        """An expression of a kind, at most `depth` templates deep."""
        if kind in ("num", "day", "any", "ord"):
            return self._fill(self.random.choice(TEMPLATES[kind]), depth)
        if depth <= 0 and kind in LITERALS:
            return self._leaf(kind)
        if self.random.random() < 0.25 and kind in LITERALS:
            return self._leaf(kind)
        text = self._fill(self.random.choice(TEMPLATES[kind]), depth - 1)
        return f"({text})" if kind not in ("agg", "win") else text

    def wild(self, functions: Sequence[str]) -> str:
        """Any function over any arguments: mostly what Spark rejects."""
        count = self.random.choice((0, 1, 1, 2, 2, 3))
        arguments = ", ".join(self.make(self.random.choice(KINDS), 0) for _ in range(count))
        return f"{self.random.choice(functions)}({arguments})"

    def _leaf(self, kind: str) -> str:
        names = self.columns.get(kind, ())
        if names and self.random.random() < 0.8:
            return self.random.choice(names)
        return self.random.choice(LITERALS[kind])

    def _fill(self, template: str, depth: int) -> str:
        return _HOLE.sub(lambda match: self.make(match[1], depth), template)
