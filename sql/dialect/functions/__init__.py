"""Every function that SeaTunnel's SQL means otherwise than Spark's, and what it becomes."""

from collections.abc import Mapping
from typing import Final

from sql.dialect.call import Rule
from sql.dialect.functions import numbers, strings, system, times

RULES: Final[Mapping[str, Rule]] = {**strings.RULES, **numbers.RULES, **times.RULES, **system.RULES}
