"""The commands of `penstock`, one module each, found by its name.

A command has `SUMMARY` (one line), `add_arguments(parser)` and `run(arguments) -> exit code`. Its module is imported
only when it is used, and imports slow modules inside functions, so that `validate` starts fast and without Spark.
"""

from argparse import ArgumentParser, Namespace
from importlib import import_module
from pkgutil import iter_modules
from typing import Protocol, cast


class Command(Protocol):
    SUMMARY: str

    def add_arguments(self, parser: ArgumentParser) -> None: ...

    def run(self, arguments: Namespace) -> int:
        """Run the command and return the exit code. Errors are raised as `PenstockError`."""
        ...


def command_names() -> tuple[str, ...]:
    return tuple(sorted(_modules()))


def command(name: str) -> Command:
    return cast(Command, import_module(_modules()[name]))


def _modules() -> dict[str, str]:
    return {module.name: f"{__name__}.{module.name}" for module in iter_modules(__path__)}
