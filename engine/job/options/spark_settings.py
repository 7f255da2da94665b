"""The names of Spark's settings, from `spark_settings.txt`, which `tests/oracle/spark_settings.py` writes."""

import os
import re
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Final

_FREE: Final = (
    "hadoop.", "sql.catalog.", "executorEnv.", "yarn.appMasterEnv.", "kubernetes.", "databricks.", "delta.", "comet.",
)  # fmt: skip
"""Below `spark.`: names that users choose, or that other programs define."""

_OF_CODE: Final = re.compile(
    r"spark\.(?:jars|files|archives|submit\.pyFiles|plugins|yarn\.(?:jars|archive|dist\.\w+)|.*\.jars?(?:\.\w+)?)"
    r"(?:\.repositories|\.ivySettings)?|.*[rR]epositories"
)
"""Settings that name what Spark fetches and runs."""
ALLOWS_HTTP: Final = "PENSTOCK_ALLOW_HTTP"


def fetches_unencrypted(name: str, value: str) -> bool:
    """Whether a setting has Spark fetch code by plain HTTP or FTP, and the environment does not allow it."""
    is_plain = re.search(r"(?:^|[\s,;|])(?:http|ftp):", value, re.IGNORECASE) is not None
    return is_plain and _OF_CODE.fullmatch(name) is not None and os.environ.get(ALLOWS_HTTP) != "1"


def misspelt_setting(name: str) -> str | None:
    """The setting of Spark that is most like the name; None where Spark knows it, or none is near enough."""
    if name in _known() or name.removeprefix("spark.").startswith(_FREE):
        return None
    close = get_close_matches(name, _known(), n=1, cutoff=0.88)
    return close[0] if close else None


@cache
def _known() -> frozenset[str]:
    text = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    return frozenset(text.split())
