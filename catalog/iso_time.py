"""Times in ISO 8601, alike on every Python: 3.10 reads no `Z`, and fractions of three or six digits only."""

import re
from datetime import datetime
from typing import Final

_FRACTION: Final = re.compile(r"(?<=:\d\d)[.,](\d+)")


def iso_time(text: str) -> datetime:
    """The time that a text names, with its zone if it has one; digits after the microseconds are left out. Raises
    `ValueError`."""
    micros = _FRACTION.sub(lambda found: f".{found[1][:6].ljust(6, '0')}", text.strip())
    return datetime.fromisoformat(re.sub("[Zz]$", "+00:00", micros))
