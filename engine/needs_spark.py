"""Reports a missing PySpark where something needs it."""

from importlib.util import find_spec

from catalog.diagnostics.diagnostic import run_error
from catalog.distribution import pip_install


def require_spark(what: str) -> None:
    """Raise PEN9003 if pyspark is missing; `what` needs it, as the start of a sentence."""
    if find_spec("pyspark") is None:
        raise run_error("PEN9003", f"{what} needs pyspark", None, pip_install("spark"))
