"""`penstock describe`: prints a source block for a file or folder, with the types of its columns."""

from argparse import ArgumentParser, Namespace

from engine.terminal.arguments import positive

SUMMARY = "print a source block for a file or table, with column types read from the data"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "path",
        metavar="PATH",
        help="a file, folder or pattern, a URL such as s3a://bucket/orders, a table of Spark's catalog, or a JDBC URL",
    )
    parser.add_argument("--table", metavar="NAME", help="of a JDBC URL: the table")
    parser.add_argument(
        "--user", metavar="NAME", help="of a JDBC URL: the user; the password is in $PENSTOCK_JDBC_PASSWORD"
    )
    parser.add_argument("--sql", action="store_true", help="print a CREATE TABLE statement instead of HOCON")
    parser.add_argument("--name", help="the name of the source (default: from the path)")
    parser.add_argument(
        "--file-format",
        choices=("csv", "json", "parquet", "orc", "text", "delta"),
        help="the format, if the name does not show it",
    )
    parser.add_argument("--sample", type=positive, metavar="N", help="read types from the first N rows only")


def run(arguments: Namespace) -> int:
    from engine.describing.describe import as_hocon, as_sql, describe, needs, table_name
    from engine.describing.guess import guess
    from engine.terminal.needs_spark import require_spark

    found = guess(arguments.path, arguments.file_format, arguments.table, arguments.user)
    require_spark("describing data")
    from engine.spark.session import open_session

    spark = open_session("penstock describe", {}, *needs(found))
    described = describe(found, spark, arguments.sample)
    table = str(found.options.get("table_path") or found.options.get("table") or "").rpartition(".")[2]
    name = arguments.name or table_name(table or arguments.path)
    if described.rows:
        print(f"{'--' if arguments.sql else '#'} types from the first {described.rows:,} rows")
    print((as_sql if arguments.sql else as_hocon)(described, name), end="")
    return 0
