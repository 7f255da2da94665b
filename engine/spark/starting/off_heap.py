"""How much memory outside of Java's heap a session with an accelerator gets, where the user does not say.

On one machine: a quarter of its memory, or of what its container may use, and at most half of what is free next to
Java's heap. On a cluster: as much as an executor's heap; YARN and Kubernetes add it to what they reserve.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_MIB: Final = 1 << 20
_LEAST: Final = 512 * _MIB
"""Less, and Comet's joins and sorts fail or spill all the time."""
_UNKNOWN: Final = 2 << 30
"""Where the system does not say how much memory it has."""
_HEAP: Final = 1 << 30
"""Spark's default of `spark.driver.memory` and `spark.executor.memory`."""
_PROC: Final = Path("/proc/meminfo")
_CGROUPS: Final = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"), Path("/sys/fs/cgroup/memory/memory.usage_in_bytes")),
)
"""What a container may use and what it uses, of cgroups v2 and v1."""
_SIZE: Final = re.compile(r"(\d+)\s*([kmgtp]?)(?:i?b)?", re.IGNORECASE)


def off_heap(settings: Mapping[str, str]) -> str:
    """The value of `spark.memory.offHeap.size` for a session with these settings."""
    if settings.get("spark.master", "local").startswith("local"):
        total, free = _memory()
        return f"{max(_LEAST, min(total // 4, (free - _heap(settings, 'driver')) // 2)) // _MIB}m"
    return f"{max(_LEAST, _heap(settings, 'executor')) // _MIB}m"


def _heap(settings: Mapping[str, str], of: str) -> int:
    text = settings.get(f"spark.{of}.memory")
    return (bytes_of(text) or _HEAP) if text else _HEAP


def bytes_of(text: str) -> int | None:
    """The bytes of a size as Spark writes it, `4g`; a number alone is of MiB, as for Spark's memory."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        return None
    return int(found[1]) << (10 * " kmgtp".index(found[2].lower()) if found[2] else 20)


def _memory() -> tuple[int, int]:
    """The bytes of memory that there are here, and those of them that are free."""
    total, free = _machine()
    for limit, used in _CGROUPS:
        most, now = _number(limit), _number(used)
        if most is not None and most < total:
            total, free = most, min(free, most - (now or 0))
    return total, free


def _machine() -> tuple[int, int]:
    try:
        lines = _PROC.read_text().splitlines()
    except OSError:
        return 4 * _UNKNOWN, 4 * _UNKNOWN
    found = {name: int(rest.split()[0]) << 10 for name, _, rest in (line.partition(":") for line in lines) if rest}
    total = found.get("MemTotal", 4 * _UNKNOWN)
    return total, found.get("MemAvailable", total)


def _number(file: Path) -> int | None:
    try:
        text = file.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdecimal() else None
