"""Names in Spark's Java process, each looked up once: every part of `jvm.org.apache…` is a question to that process.

java_named(jvm, "org.apache.hadoop.fs.Path")(path)
java_named(jvm, "scala.Option.empty")()
"""

from functools import reduce
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import DataFrame

_SEPARATOR: Final = "\u001f"
"""Between the texts of an array; not in SQL that anyone writes."""


_KNOWN: Final[dict[tuple[int, str], tuple[Any, Any]]] = {}
"""By the Java process, which is held so that its id stays its own."""


def java_named(jvm: Any, name: str) -> Any:
    """A class, or a static method of one, by its full name."""
    from py4j.java_gateway import JavaPackage

    known = _KNOWN.get((id(jvm), name))
    if known is not None:
        return known[1]
    found = reduce(getattr, name.split("."), jvm)
    if not isinstance(found, JavaPackage):  # a class that is missing may come with a jar
        _KNOWN[(id(jvm), name)] = jvm, found
    return found


def select_sql(df: "DataFrame", expressions: "Iterable[str]") -> "DataFrame":
    """As `df.selectExpr`, with one call for all expressions instead of one for each."""
    from pyspark.sql import DataFrame

    texts = list(expressions)
    if not texts or any(_SEPARATOR in text for text in texts):
        return df.selectExpr(*texts)
    jvm: Any = df.sparkSession.sparkContext._jvm
    split = java_named(jvm, "org.apache.commons.lang3.StringUtils.splitPreserveAllTokens")
    return DataFrame(df._jdf.selectExpr(split(_SEPARATOR.join(texts), _SEPARATOR)), df.sparkSession)
