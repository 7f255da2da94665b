"""What Spark makes of functions' names and arguments in the names of calls, as tables."""

from typing import Final

LAMBDA_VARIABLE: Final = "namedlambdavariable()"

_UPPER_NAMES: Final = """
acos acosh asin asinh atan atan2 atanh cbrt cos cosh cot csc degrees e exp expm1 hypot log10 log1p log2 pi power radians
regexp regexp_like rlike sec signum sin sinh spark_partition_id sqrt tan tanh log
"""
UPPER: Final = frozenset(_UPPER_NAMES.split())
"""Functions that Spark prints in capitals."""

RENAMED: Final = {
    "curdate": "current_date", "array_agg": "collect_list", "current_database": "current_schema",
    "random": "rand",
}  # fmt: skip

_V: Final = LAMBDA_VARIABLE
_ASCENDING: Final = (
    f"lambdafunction((IF((({_V} IS NULL) AND ({_V} IS NULL)), 0, (IF(({_V} IS NULL), 1, (IF(({_V} IS NULL), -1,"
    f" (IF(({_V} < {_V}), -1, (IF(({_V} > {_V}), 1, 0)))))))))), {_V}, {_V})"
)
"""The comparison that Spark writes into `array_sort(x)`."""

DEFAULTS: Final[dict[str, tuple[int, tuple[str, ...]]]] = {
    "aes_decrypt": (5, ("GCM", "DEFAULT", "")), "aes_encrypt": (6, ("GCM", "DEFAULT", "", "")),
    "try_aes_decrypt": (5, ("GCM", "DEFAULT", "")), "approx_percentile": (3, ("10000",)),
    "percentile_approx": (3, ("10000",)), "percentile": (3, ("1",)), "approx_top_k": (3, ("5", "10000")),
    "approx_top_k_accumulate": (2, ("10000",)), "round": (2, ("0",)), "bround": (2, ("0",)),
    "current_time": (1, ("6",)), "from_unixtime": (2, ("yyyy-MM-dd HH:mm:ss",)), "hll_sketch_agg": (2, ("12",)),
    "hll_union": (3, ("false",)), "hll_union_agg": (2, ("false",)), "listagg": (2, ("NULL",)),
    "string_agg": (2, ("NULL",)),    "approx_top_k_estimate": (2, ("5",)),
    "locate": (3, ("1",)), "position": (3, ("1",)), "lpad": (3, (" ",)), "rpad": (3, (" ",)),
    "make_dt_interval": (4, ("0", "0", "0", "0.000000")), "make_ym_interval": (2, ("0", "0")),
    "make_interval": (7, ("0", "0", "0", "0", "0", "0", "0.000000")),
    "try_make_interval": (7, ("0", "0", "0", "0", "0", "0", "0.000000")),
    "mask": (5, ("X", "x", "n", "NULL")), "months_between": (3, ("true",)), "overlay": (4, ("-1",)),
    "regexp_extract": (3, ("1",)), "regexp_extract_all": (3, ("1",)), "regexp_instr": (3, ("0",)),
    "regexp_replace": (4, ("1",)), "replace": (3, ("",)), "sentences": (3, ("", "")), "sort_array": (2, ("true",)),
    "split": (3, ("-1",)), "str_to_map": (3, (",", ":")), "substr": (3, ("2147483647",)),
    "substring": (3, ("2147483647",)), "theta_sketch_agg": (2, ("12",)), "theta_union": (3, ("12",)),
    "theta_union_agg": (2, ("12",)), "to_unix_timestamp": (2, ("yyyy-MM-dd HH:mm:ss",)), "lag": (3, ("1", "NULL")),
    "lead": (3, ("1", "NULL")), "unix_timestamp": (2, ("current_timestamp()", "yyyy-MM-dd HH:mm:ss")),
    "ntile": (1, ("1",)), "array_sort": (2, (_ASCENDING,)),
}  # fmt: skip
"""How many arguments Spark prints, and what stands for the last ones where they are not given."""

SHOWN: Final = {
    "from_json": 1, "ilike": 2, "from_xml": 1, "from_csv": 1, "to_json": 1, "to_csv": 1,
    "to_xml": 1, "schema_of_xml": 1,
    "schema_of_json": 1, "schema_of_csv": 1, "variant_get": 2, "try_variant_get": 2, "first": 1, "first_value": 1,
    "last": 1, "last_value": 1, "any_value": 1, "try_make_timestamp": 6, "hour": 1, "minute": 1, "second": 1,
    "approx_count_distinct": 1,
}  # fmt: skip
"""How many arguments Spark prints of calls whose last ones are options."""

TRIMS: Final = {"trim": "BOTH", "btrim": "", "ltrim": "LEADING", "rtrim": "TRAILING"}
UNITS: Final = {
    "dateadd": "timestampadd", "date_add": "timestampadd", "datediff": "timestampdiff", "date_diff": "timestampdiff",
    "timediff": "timestampdiff",
}  # fmt: skip
"""What a call with a unit (`dateadd(DAY, 1, ts)`) is printed as."""

_NAMED_BY_CALL: Final = """
assert_true btrim decode equal_null ifnull nullif nullifzero nvl nvl2 try_add try_aes_decrypt try_divide
try_element_at try_make_interval try_mod try_multiply try_parse_url try_reflect try_subtract try_to_binary
try_url_decode zeroifnull extract date_part datepart
"""
NAMED_BY_CALL: Final = frozenset(_NAMED_BY_CALL.split())
"""Functions that Spark replaces by others but prints as they were called (`InheritAnalysisRules`)."""

_LATE: Final = """
array_sort current_date current_time date_format date_trunc from_json from_unixtime hour make_timestamp months_between
rand sequence timestampadd to_csv to_date to_json to_timestamp to_xml unix_timestamp uuid variant_get
"""
RESOLVED_LATE: Final = frozenset(_LATE.split())
"""Functions that Spark resolves after it has looked for generators next to them: those with a time zone or a seed."""
