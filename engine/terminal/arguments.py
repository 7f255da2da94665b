"""Arguments that several commands share."""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from catalog.compat import Compat

if TYPE_CHECKING:
    from engine.job.model.settings import Settings


def add_job_arguments(parser: ArgumentParser, *, has_environment: bool = True) -> None:
    """How a job file is read and planned."""
    if has_environment:
        add_environment_argument(parser)
    parser.add_argument(
        "-i",
        "--variable",
        dest="variables",
        action="append",
        default=[],
        type=variable,
        metavar="NAME=VALUE",
        help="give a variable of the job its value; may be repeated",
    )
    parser.add_argument(
        "--vars",
        dest="variable_files",
        action="append",
        default=[],
        type=_variables_file,
        metavar="FILE",
        help="read variables from a file of NAME=VALUE lines, such as env/prod.vars; -i wins over it",
    )
    parser.add_argument(
        "--compat",
        choices=[compat.value for compat in Compat if compat.is_seatunnel],
        help="read job files as SeaTunnel does: its 2.3 line, or 3.x where that differs",
    )
    parser.add_argument(
        "--strict", action="store_true", help="both of the next two: what cannot be checked is an error"
    )
    parser.add_argument(
        "--strict=types",
        dest="strict_types",
        action="store_true",
        help="report columns of unknown types, and values that may not fit their target, as errors",
    )
    parser.add_argument(
        "--strict=data",
        dest="strict_data",
        action="store_true",
        help="report missing source files, files of other columns or another schema than the locked one, and data "
        "outside of the project, which is not read, as errors",
    )
    parser.add_argument(
        "--allow-outside",
        action="store_true",
        help="read files outside of the project too: those that jobs include, and data and schemas for validation",
    )
    parser.add_argument(
        "--disable", action="append", default=[], metavar="RULE", help="leave out an optimizer rule; may be repeated"
    )


def add_accelerator_argument(parser: ArgumentParser) -> None:
    """For commands that start Spark."""
    parser.add_argument(
        "--accelerator",
        choices=("none", "comet"),
        help="what executes Spark's operators natively, whatever the jobs set (default: `accelerator` in their `env`)",
    )


def add_environment_argument(parser: ArgumentParser) -> None:
    """For commands that work in a project: those that have it find `penstock.conf`."""
    parser.add_argument(
        "--env",
        dest="environment",
        metavar="NAME",
        help="the environment of the project (default: $PENSTOCK_ENV, or the one that penstock.conf calls the default)",
    )


def add_selection_arguments(parser: ArgumentParser) -> None:
    """Which jobs of the project a command works on."""
    parser.add_argument("-s", "--select", action="append", nargs="+", metavar="SELECTION",
                        help="jobs by dbt's selection grammar, such as `+orders` or `tag:daily`")  # fmt: skip
    parser.add_argument("--exclude", action="append", nargs="+", metavar="SELECTION", help="jobs to leave out")
    parser.add_argument("--selector", metavar="NAME", help="a selection that penstock.conf names")
    parser.add_argument("--against", metavar="REV", help="the git revision that `state:` compares with")
    parser.add_argument("--state", metavar="DIR", help="the state directory that `state:` and `result:` ask")


def add_defer_argument(parser: ArgumentParser) -> None:
    """Where a run of some jobs reads what the others write."""
    parser.add_argument(
        "--defer", metavar="ENV",
        help="read in this environment what jobs write that are neither selected nor built in the own one",
    )  # fmt: skip


def add_run_arguments(parser: ArgumentParser) -> None:
    """How the jobs of a project are run."""
    parser.add_argument("--threads", type=positive, default=4, metavar="N", help="jobs at once (default: 4)")
    parser.add_argument("--run-id", metavar="ID", help="name the run; a finished run of the same name is not repeated")
    parser.add_argument("--master", metavar="URL", help="Spark's master (default: local[*])")
    parser.add_argument("--quiet", action="store_true", help="print only errors and warnings")
    parser.add_argument("--state-dir", metavar="DIR", help="where runs are recorded, whatever the project sets")


def add_range_arguments(parser: ArgumentParser, what: str, *, is_required: bool = False) -> None:
    """From where to where a command works on intervals."""
    parser.add_argument(
        "--from", dest="start", metavar="TIME", required=is_required,
        help=f"where the first of the {what} starts, such as 2024-02-01 or 2024-02-01T05:00 (default: that of the job)",
    )  # fmt: skip
    parser.add_argument(
        "--to", dest="end", metavar="TIME", required=is_required,
        help="where the last one ends, which is not included itself (default: the last that is over)",
    )  # fmt: skip


def add_interval_arguments(parser: ArgumentParser, default: str, *, is_required: bool = False) -> None:
    """For commands that do intervals of jobs; `default`: of which jobs, where none is named."""
    parser.add_argument("jobs", nargs="*", type=Path, metavar="JOB",
                        help=f"job files; in a project also names{default}")  # fmt: skip
    add_range_arguments(parser, "intervals", is_required=is_required)
    parser.add_argument("--keep-going", action="store_true", help="run the other jobs, too, after one has failed")
    add_selection_arguments(parser)
    add_run_arguments(parser)
    add_accelerator_argument(parser)
    add_format_argument(parser)
    add_job_arguments(parser)


def add_table_arguments(parser: ArgumentParser) -> None:
    """Which of a job's tables are written."""
    parser.add_argument("--only", action="append", default=[], metavar="TABLE",
                        help="write only this table or set, or all that match; may be repeated")  # fmt: skip
    parser.add_argument("--except", dest="but", action="append", default=[], metavar="TABLE",
                        help="do not write this table or set; may be repeated")  # fmt: skip


def add_format_argument(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--format",
        choices=("text", "json", "github", "sarif"),
        default="text",
        help="the format of errors and warnings (default: text)",
    )


def settings_of(arguments: Namespace, *, reads_secrets: bool = False) -> "Settings":
    from engine.job.model.job import Accelerator
    from engine.job.model.project_defaults import NO_PROJECT
    from engine.job.model.settings import Settings  # imported here, because it imports sqlglot
    from engine.terminal.given_variables import check_variables

    check_variables(arguments)
    variables = {name: value for file in arguments.variable_files for name, value in file}
    variables |= dict(arguments.variables)
    accelerator = getattr(arguments, "accelerator", None)
    return Settings(
        variables=variables,
        compat=Compat(arguments.compat) if arguments.compat else Compat.OFF,
        strict_types=arguments.strict or arguments.strict_types,
        allows_outside=arguments.allow_outside,
        limits_process=True,
        strict_data=arguments.strict or arguments.strict_data,
        disabled_rules=tuple(arguments.disable),
        reads_secrets=reads_secrets,
        only=tuple(getattr(arguments, "only", ())),
        but=tuple(getattr(arguments, "but", ())),
        project=arguments.project.defaults if arguments.project else NO_PROJECT,
        masks=arguments.masks,
        state_dir=getattr(arguments, "state_dir", None),
        accelerator=Accelerator(accelerator) if accelerator else None,
    )


def positive(text: str) -> int:
    """The argument type for a positive number."""
    if not (text.isdecimal() and int(text)):
        raise ArgumentTypeError(f"`{text}` is not a number from 1")
    return int(text)


def spark_setting(text: str) -> tuple[str, str]:
    """The argument type for a setting of Spark: `spark.…=VALUE`."""
    name, value = variable(text)
    if not name.startswith("spark."):
        raise ArgumentTypeError(f"`{name}` is no setting of Spark: those begin with `spark.`")
    return name, value


def _variables_file(name: str) -> tuple[tuple[str, str], ...]:
    """The variables of a file: one NAME=VALUE a line; empty lines and those that begin with `#` are left out."""
    from catalog.limits import LimitError, read_small
    from catalog.reach import leads_out

    if leads_out(name):
        raise ArgumentTypeError(f"`{name}` leads out of the current folder by a link, and is not read")
    try:
        lines = read_small(name).decode("utf-8").split("\n")
    except LimitError as error:
        raise ArgumentTypeError(error.diagnostics[0].message) from error
    except UnicodeDecodeError as error:
        raise ArgumentTypeError(f"`{name}` is not UTF-8") from error
    except OSError as error:
        raise ArgumentTypeError(f"`{name}` cannot be read: {error.strerror}") from error
    variables = []
    for number, line in enumerate(map(str.strip, lines), 1):
        if line and not line.startswith("#"):
            left, equals, right = line.partition("=")
            if not (left.strip() and equals):  # the line is not shown: it may be of another file, or a secret
                raise ArgumentTypeError(f"line {number} of `{name}` is not NAME=VALUE")
            variables.append((left.strip(), right.strip()))
    return tuple(variables)


def variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise ArgumentTypeError(f"`{text}` is not NAME=VALUE")
    return name, value
