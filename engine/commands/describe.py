"""`penstock describe`: prints a source block for data, with the types of its columns."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from engine.terminal.arguments import positive, spark_setting

if TYPE_CHECKING:
    from engine.describe.describe_data import Described
    from engine.describe.guess import Guess

SUMMARY = "print a source block for a file, web address or table, with column types read from the data"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "path",
        metavar="PATH",
        help="a file, folder or pattern, a URL such as s3a://bucket/orders or https://host/orders.json, a table of "
        "Spark's catalogs, or a JDBC URL",
    )
    parser.add_argument("--table", metavar="NAME", help="of a JDBC URL: the table")
    parser.add_argument(
        "--user", metavar="NAME", help="of a JDBC URL: the user; the password is in $PENSTOCK_JDBC_PASSWORD"
    )
    parser.add_argument("--sql", action="store_true", help="print a CREATE TABLE statement instead of HOCON")
    parser.add_argument("--name", help="the name of the source (default: from the path)")
    parser.add_argument(
        "--file-format",
        choices=("csv", "json", "parquet", "orc", "avro", "text", "delta"),
        help="the format, if the name does not show it",
    )
    parser.add_argument("--sample", type=positive, metavar="N", help="read types from the first N rows only")
    parser.add_argument(
        "--conf",
        action="append",
        default=[],
        type=spark_setting,
        metavar="KEY=VALUE",
        help="a setting of Spark, such as that of a catalog: spark.sql.catalog.lake=…; may be repeated",
    )


def run(arguments: Namespace) -> int:
    from engine.describe.describe_data import as_hocon, as_sql, table_name
    from engine.describe.fetch import is_web_address, without_query
    from engine.needs_spark import require_spark

    require_spark("describing data")
    notes: list[str] = []
    path = arguments.path
    if is_web_address(path):
        described = _web_address(arguments, notes)
        path = without_query(path)
    else:
        from engine.describe.guess import guess

        described = _described(arguments, guess(path, arguments.file_format, arguments.table, arguments.user))
    if described.rows:
        notes.append(f"types from the first {described.rows:,} rows")
    options = described.guess.options
    table = str(options.get("table_path") or options.get("table") or "").rpartition(".")[2]
    name = arguments.name or table_name(table or path)
    settings = _without_secrets(dict(arguments.conf), notes)
    for note in notes:
        print(f"{'--' if arguments.sql else '#'} {note}")
    print((as_sql if arguments.sql else as_hocon)(described, name, settings), end="")
    return 0


def _described(arguments: Namespace, found: "Guess") -> "Described":
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    from catalog.diagnostics.diagnostic import run_error
    from engine.describe.describe_data import SETTINGS, describe, needs
    from engine.describe.unreadable import unreadable
    from engine.spark.session import open_session, pipeline_session

    print("starting Spark", file=sys.stderr, flush=True)
    settings = {**SETTINGS, **dict(arguments.conf)}
    spark = pipeline_session(open_session("penstock describe", settings, *needs(found)), settings)
    try:
        described = describe(found, spark, arguments.sample)
    except (PySparkException, Py4JError) as error:
        raise unreadable(error, found, arguments.path) from error
    if not described.columns:
        help = "check that it holds a header or rows with values"
        raise run_error("PEN5004", f"`{arguments.path}` has no columns", None, help)
    return described


def _web_address(arguments: Namespace, notes: list[str]) -> "Described":
    from catalog.secret_names import redacted_text
    from engine.describe.fetch import fetch
    from engine.describe.web_address import web_source

    with TemporaryDirectory(prefix="penstock-") as folder:
        fetched = fetch(arguments.path, Path(folder))
        source = web_source(arguments.path, fetched, arguments.file_format)
        found = source.described(_described(arguments, source.sample))
    if found.guess.plugin == "LocalFile":
        notes.append("a job reads files from a disk or an object store; fetch this one first, for instance by")
        notes.append(f"  curl -fLo {fetched.name} {quote(redacted_text(arguments.path))}")
    elif redacted_text(arguments.path) != arguments.path:
        notes.append("the address holds a secret: put a variable in its place, and give that by the environment")
    return found


def _without_secrets(settings: Mapping[str, str], notes: list[str]) -> dict[str, str]:
    """The settings for the printed block; secrets are left out, and a note says so."""
    from catalog.secret_names import is_secret_name

    secrets = [name for name in settings if is_secret_name(name)]
    if secrets:
        notes.append(f"add {', '.join(secrets)} to `env`, with a variable as value: secrets are not printed")
    return {name: value for name, value in settings.items() if name not in secrets}
