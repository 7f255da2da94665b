"""Registers Penstock's functions in a Spark session, those that a query calls.

    penstock_json_path(json, path)           what a JSON path finds, as JSON
    penstock_des_encrypt(password, text)     DES, as SeaTunnel's SQL has it; `penstock_des_decrypt` is its inverse
    penstock_murmur64(text)                  a hash of 64 bits

`sql/functions/penstock.tsv` has their types.
"""

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from engine import functions
from engine.functions import arrow_calls, des, json_queries, murmur

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CALLED: Final = re.compile(r"\bpenstock_\w+(?=\()", re.IGNORECASE)
_FUNCTIONS: Final[Mapping[str, tuple[Callable[..., Any], str]]] = {
    "penstock_des_decrypt": (des.decrypted, "string"),
    "penstock_des_encrypt": (des.encrypted, "string"),
    "penstock_json_path": (json_queries.find_at, "string"),
    "penstock_murmur64": (murmur.murmur64, "bigint"),
}


def register_functions(spark: "SparkSession", query: str) -> None:
    """Register the functions that the query calls; Spark's workers get their code, so they need no Penstock."""
    called = {name.lower() for name in _CALLED.findall(query)} & _FUNCTIONS.keys()
    if not called:
        return
    from pyspark import cloudpickle
    from pyspark.sql.pandas.functions import arrow_udf

    cloudpickle.register_pickle_by_value(functions)  # type: ignore[no-untyped-call]
    declare: Any = arrow_udf  # its stubs know no function of any number of columns
    for name in sorted(called):
        function, type = _FUNCTIONS[name]
        spark.udf.register(name, declare(arrow_calls.by_columns(function, type), type))
