"""Names in Spark's Java process, each looked up once: every part of `jvm.org.apache…` is a question to that process.

java_named(jvm, "org.apache.hadoop.fs.Path")(path)
java_named(jvm, "scala.Option.empty")()
"""

from functools import reduce
from typing import Any, Final

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
