"""What to write for functions of other databases: `getdate()` is `current_timestamp()` in Spark."""

from collections.abc import Mapping
from typing import Final

FOREIGN_FUNCTIONS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("getdate", "sysdate", "systimestamp", "getutcdate"), "current_timestamp()"),
    **dict.fromkeys(("strpos", "charindex"), "instr(text, part)"),
    **dict.fromkeys(("str_to_date", "parse_date"), "to_date(text, format)"),
    **dict.fromkeys(("strptime", "parse_timestamp"), "to_timestamp(text, format)"),
    **dict.fromkeys(("format_date", "strftime", "formatdatetime"), "date_format(date, format)"),
    **dict.fromkeys(("group_concat", "wm_concat"), "listagg(value, ',')"),
    **dict.fromkeys(("json_value", "json_extract", "json_extract_scalar"), "get_json_object(text, '$.path')"),
    **dict.fromkeys(("regexp_matches", "regexp_match"), "regexp_like(text, pattern)"),
    "datename": "date_format(date, format)",
    "eomonth": "last_day(date)",
    "iif": "if(condition, value, other)",
    "newid": "uuid()",
    "gen_random_uuid": "uuid()",
    "generate_series": "explode(sequence(first, last))",
    "safe_cast": "try_cast(value as type)",
    "safe_divide": "try_divide(a, b)",
    "unnest": "explode(array)",
}
"""The call in Spark by the name of the function elsewhere."""

FILE_READERS: Final = frozenset((
    "csv_scan", "delta_scan", "iceberg_scan", "json_scan", "openrowset", "parquet_scan", "read_avro", "read_csv",
    "read_csv_auto", "read_delta", "read_files", "read_json", "read_json_auto", "read_orc", "read_parquet",
    "read_text", "read_xlsx", "read_xml",
))  # fmt: skip
"""Functions of other engines that read files where they stand in FROM."""

FILE_FORMATS: Final = frozenset((
    "avro", "binaryfile", "csv", "delta", "iceberg", "json", "orc", "parquet", "text", "xml",
))  # fmt: skip
"""Formats before the path of a file that Spark reads: `` parquet.`lake/orders` ``."""

READ_FILES: Final = "a source of the job reads files (connector `LocalFile`, `Delta`, …): name that source here"
