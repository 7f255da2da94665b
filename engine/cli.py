"""The command line: runs the command and turns errors into diagnostics and exit codes.

Exit codes: 0 success, 1 the job failed, 2 the job file or the command is invalid, 130 and 143 interrupted (Ctrl-C,
SIGTERM). Only the standard library is imported before the check that all packages are Penstock's own.
"""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    pass

PACKAGES = ("engine", "catalog", "sql", "connectors")
EXIT_JOB_FAILED, EXIT_USAGE, EXIT_INTERRUPTED, EXIT_NO_READER = 1, 2, 130, 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command in `argv` (default: the process's arguments); returns the exit code."""
    if error := shadowed_package():
        print(error, file=sys.stderr)
        return EXIT_JOB_FAILED
    from engine.terminal.quiet_libraries import quiet_libraries
    from engine.terminal.rare_collections import rare_collections

    words = list(sys.argv[1:] if argv is None else argv)
    if argv is None:
        from engine.terminal.hidden_arguments import hide_words

        hide_words(words)
    from engine.terminal.shown_stream import mask_streams, shown_streams

    with rare_collections(ends_process=argv is None), quiet_libraries(), shown_streams():
        try:
            arguments = parse(words)
        except SystemExit as stop:  # argparse has printed the help or the error
            return stop.code if isinstance(stop.code, int) else EXIT_USAGE
        if arguments.command not in _PRINT_JOBS:
            mask_streams(arguments.masks)
        if argv is not None or not is_bounded(arguments):
            return _carry_out(arguments)
        from catalog.limits import limits
        from engine.supervised import supervised

        return supervised(lambda: _carry_out(arguments), limits().seconds, lambda: _took_too_long(arguments))


def parse(words: Sequence[str]) -> Namespace:
    """Parse the arguments; `masks` are the session's secrets, `words` the arguments as they were given.

    Only the module of the command is imported; all of them for the list of commands.
    """
    from catalog.masks import Masks
    from engine.commands import command, command_names

    names = command_names()
    parser = _Parser(prog="penstock", description="Declarative, SQL-first ETL on Spark.")
    parser.add_argument("--version", action="version", version=_version() if "--version" in words else "")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    if words and not words[0].startswith("-") and words[0] not in names:
        parser.error(_unknown_command(words[0], names))
    wanted = [words[0]] if words and words[0] in names else names
    for name in wanted:
        module = command(name)
        subparser = subparsers.add_parser(name, help=module.SUMMARY, description=module.SUMMARY)
        subparser.add_argument("--verbose", action="store_true", help="show stack traces")
        module.add_arguments(subparser)
    if not words:
        parser.print_help(sys.stderr)
        parser.exit(EXIT_USAGE)
    return parser.parse_args(words, Namespace(masks=Masks(), words=tuple(words)))


class _Parser(ArgumentParser):
    """Its errors quote arguments, which may hold secrets: `-i password=…`."""

    def error(self, message: str) -> NoReturn:
        from catalog.secret_names import redacted_text

        super().error(redacted_text(message))


def _unknown_command(word: str, names: Sequence[str]) -> str:
    from catalog.diagnostics.diagnostic import did_you_mean

    if Path(word).is_file():
        return f"`{word}` is a file, and a command comes first: penstock validate {word}, or penstock run {word}"
    help = did_you_mean(word, names) or "`penstock --help` lists the commands"
    return f"there is no command `{word}`: {help}"


def _carry_out(arguments: Namespace) -> int:
    with ExitStack() as stack:  # errors are reported in the project as well: their files are relative to its root
        return _reported(partial(_in_project, stack, arguments), arguments)


def _in_project(stack: ExitStack, arguments: Namespace) -> int:
    from engine.commands import command
    from engine.project.enter import in_root, project_of

    stack.enter_context(in_root(arguments))
    arguments.project = project_of(arguments)
    return command(arguments.command).run(arguments)


def _reported(run: Callable[[], int], arguments: Namespace) -> int:
    """What `run` returns; an error that it raises is printed."""
    from catalog.diagnostics.diagnostic import PenstockError
    from engine.terminal.report import report

    output_format = getattr(arguments, "format", "text")
    try:
        return run()
    except PenstockError as error:
        if arguments.verbose:
            _print_trace(arguments)
        report(error.diagnostics, arguments.masks, output_format)
        return error.exit_code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:  # the reader of the output has ended, as in `penstock connectors | head -1`
        sys.stderr.close()
        return EXIT_NO_READER  # not 0: the unread part may hold an error
    except OSError as error:
        if arguments.verbose:
            _print_trace(arguments)
        from catalog.diagnostics.unexpected_errors import os_error

        report([os_error(error)], arguments.masks, output_format)
        return EXIT_JOB_FAILED if arguments.command == "run" else EXIT_USAGE
    except Exception as error:  # noqa: BLE001 (the last resort: reports a bug in Penstock)
        from catalog.limits import LimitError, limit_behind

        if (limit := limit_behind(error)) is None:
            return _failed(error, arguments)
        if arguments.verbose:
            _print_trace(arguments)
        report(LimitError(limit).diagnostics, arguments.masks, output_format)
        return EXIT_JOB_FAILED if arguments.command == "run" else EXIT_USAGE


def is_bounded(arguments: Namespace) -> bool:
    """Whether the command only reads jobs, so that it is supervised while it does."""
    if any(getattr(arguments, name, False) for name in ("connect", "engine_check", "jars")):
        return False
    return arguments.command in READERS and getattr(arguments, "action", None) != "sync"


_PRINT_JOBS = ("convert", "migrate", "encrypt", "decrypt")
"""What they print is a job or a value, whole, to be put into a file."""
READERS = (
    "convert", "expectations", "explain", "fmt", "graph", "lineage", "ls", "migrate", "package", "plan", "runs",
    "schema", "state", "validate",
)  # fmt: skip
"""They read jobs, or what runs have recorded, and start nothing: in a process of their own, which is ended in time."""
RUNNERS = ("backfill", "build", "clone", "diff", "restate", "retry", "run", "show", "test")
"""They execute a job: reading it has the same limits, its execution has none."""
OTHERS = ("connectors", "decrypt", "describe", "encrypt", "init", "stop", "wait", "warm")
"""They read no job."""


def _took_too_long(arguments: Namespace) -> int:
    from catalog.limits import LimitError
    from engine.terminal.report import report

    report(LimitError("seconds").diagnostics, arguments.masks, getattr(arguments, "format", "text"))
    return EXIT_USAGE


def _failed(error: Exception, arguments: Namespace) -> int:
    from catalog.diagnostics.diagnostic import internal_error
    from engine.terminal.report import report

    if arguments.verbose:
        _print_trace(arguments)
    report([internal_error(error, verbose=arguments.verbose)], arguments.masks, getattr(arguments, "format", "text"))
    return EXIT_JOB_FAILED


def _print_trace(arguments: Namespace) -> None:
    import traceback

    print(arguments.masks.text(traceback.format_exc()), end="", file=sys.stderr)


def shadowed_package() -> str | None:
    """The message if another distribution's `engine`, `catalog`, `sql` or `connectors` would be imported, else None."""
    home = Path(__file__).resolve().parent.parent
    for name in PACKAGES:
        spec = find_spec(name)
        origin = spec.origin if spec else None
        if origin is None or Path(origin).resolve().parent.parent != home:
            found = f"is {origin}" if origin else "cannot be imported"
            return (
                f"error[PEN9002]: the package `{name}` {found}, but Penstock is in {home}\n"
                "  = help: install Penstock in an environment of its own (pipx, uv tool, or a venv)"
            )
    return None


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    from catalog.distribution import DISTRIBUTION

    try:
        return f"penstock {version(DISTRIBUTION)}"
    except PackageNotFoundError:  # run from a checkout or a packaged zip
        return "penstock (not installed)"


if __name__ == "__main__":
    sys.exit(main())
