"""The functions whose meaning differs between SeaTunnel's SQL and Spark's, and their replacements."""

from collections.abc import Mapping
from typing import Final

from sql.seatunnel.functions import numeric, strings, system, times
from sql.seatunnel.sites.call import Rule

RULES: Final[Mapping[str, Rule]] = {**strings.RULES, **numeric.RULES, **times.RULES, **system.RULES}
