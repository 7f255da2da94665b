"""Whether Comet's published library runs on this machine.

    Linux on x86-64-v3 (AVX2, 2013) or Arm Neoverse N1 (2019), with glibc 2.30

Its jar holds a library for Linux on each of both. One that needs an instruction which the processor lacks would end
Java without a message.
"""

import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from catalog.diagnostics.diagnostic import run_error

_NEEDED: Final[Mapping[str, tuple[str, ...]]] = {
    "x86_64": ("avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "abm"),
    "aarch64": ("atomics", "asimddp", "asimdhp", "fphp", "lrcpc"),
}
"""Of each machine, the instructions that Linux names in `/proc/cpuinfo`; those of x86-64-v3 and Neoverse N1."""
_GLIBC: Final = (2, 30)
_CPU: Final = Path("/proc/cpuinfo")
_HELP: Final = "leave `accelerator` out, or build Comet for this machine and name its jar in `spark.jars`"


def refuse_machine(
    system: str = platform.system(),
    machine: str = platform.machine(),
    libc: tuple[str, str] | None = None,
    cpu: Path = _CPU,
) -> None:
    """Raise `RunError` PEN5440 where the library does not run."""
    if reason := _reason(system, machine, platform.libc_ver() if libc is None else libc, cpu):
        raise run_error("PEN5440", f"the accelerator `comet` does not run here: {reason}", None, _HELP)


def _reason(system: str, machine: str, libc: tuple[str, str], cpu: Path) -> str | None:
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(machine.lower(), machine.lower())
    if system != "Linux":
        return f"its jar is for Linux, this is {system or 'another system'}"
    if machine not in _NEEDED:
        return f"its jar is for x86-64 and 64-bit Arm, this is {machine}"
    name, version = libc
    if name != "glibc" or _numbers(version) < _GLIBC:
        return f"it needs glibc 2.30, this system has {f'{name} {version}'.strip() or 'another C library'}"
    missing = [flag for flag in _NEEDED[machine] if flag not in _flags(cpu, _NEEDED[machine])]
    return f"the processor lacks {', '.join(missing)}" if missing else None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdecimal())


def _flags(cpu: Path, unknown: tuple[str, ...]) -> frozenset[str]:
    """What the processor has; where Linux does not say it, all that is asked for."""
    try:
        lines = cpu.read_text(errors="replace").splitlines()
    except OSError:
        return frozenset(unknown)
    found = (line.partition(":")[2] for line in lines if line.lower().startswith(("flags", "features")))
    flags = next(found, None)
    return frozenset(unknown if flags is None else flags.split())
