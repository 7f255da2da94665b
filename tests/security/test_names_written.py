"""Tables, columns, databases and partitions of hostile names, written by runs and read back by other programs: each is
under its target under its own name, or was refused by name.

Random names, 2,000 for each target in `make soak`; a few in the normal run.
"""

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.security.hostile_names import NAMES, random_names
from tests.security.written_names import (
    batches,
    check,
    columns_job,
    given,
    ids_in,
    partitions_job,
    quoted,
    tables_job,
    write_all,
    write_some,
)

pytestmark = [pytest.mark.spark, pytest.mark.delta]
COUNT = int(os.environ.get("PENSTOCK_TEST_WRITTEN_NAMES", "0"))
"""Random names of each target; 2,000 in `make soak`. 0: some of those that are known."""
SEED = int(os.environ.get("PENSTOCK_TEST_SEED", "28"))
FEW = 6


def names(kind: str) -> list[str]:
    """Names of a kind that a job can have: none has NUL or half a character."""
    start = sum(map(ord, kind))
    found = [*NAMES[start % len(NAMES) :], *NAMES][:FEW] if not COUNT else [*NAMES, *random_names(COUNT, SEED + start)]
    return [
        name for name in found
        if name and not re.search("[\x00\ud800-\udfff]", name) and ("." not in name or name == name.strip())
    ]  # fmt: skip


def sampled(targets: Mapping[str, object], *quick: str) -> list[object]:
    """Each run takes seconds: the others are in `make soak`."""
    return [name if name in quick else pytest.param(name, marks=pytest.mark.soak) for name in targets]


class Target:
    """Where tables are written: a sink, and what is found there by another program."""

    def __init__(self, sink: str, read: Callable[[], Mapping[str, Sequence[int]]], clear: Callable[[], None]) -> None:
        self.sink, self.read, self.clear = sink, read, clear


def folders_of(folder: Path) -> dict[str, list[int]]:
    """The ids in the data files below each folder; a table's own metadata has none."""
    found = {}
    for entry in folder.iterdir() if folder.is_dir() else ():
        if entry.name.endswith(".penstock"):
            continue
        assert entry.is_dir(), entry
        found[entry.name] = data_ids(entry)
    return found


def data_ids(folder: Path) -> list[int]:
    import pyarrow.parquet

    ids = []
    for file in sorted(folder.rglob("*")):
        if file.suffix == ".csv":
            ids += ids_in(file.read_text())
        if file.suffix == ".parquet" and "_delta_log" not in file.parts:
            ids += pyarrow.parquet.read_table(file).column("id").to_pylist()
    return ids


def folder_target(tmp_path: Path, sink: str) -> Target:
    out = tmp_path / "out"

    def clear() -> None:
        import shutil

        shutil.rmtree(out, ignore_errors=True)

    return Target(sink, lambda: folders_of(out), clear)


def local(request, tmp_path):
    return folder_target(tmp_path, 'LocalFile { plugin_input = r, path = "out/${table_name}", file_format_type = csv }')


def delta(request, tmp_path):
    return folder_target(tmp_path, 'Delta { plugin_input = r, path = "out/${table_name}" }')


def spark_files(request, tmp_path):
    sink = f'Spark {{ plugin_input = r, format = parquet, path = "{tmp_path}/out/${{table_name}}" }}'
    return folder_target(tmp_path, sink)  # Java's current folder is another one here


def hdfs(request, tmp_path):
    sink = f'HdfsFile {{ plugin_input = r, path = "{tmp_path}/out/${{table_name}}", file_format_type = csv,'
    return folder_target(tmp_path, f'{sink} fs.defaultFS = "file:///" }}')


def iceberg(request, tmp_path):
    target = folder_target(tmp_path, 'Iceberg { plugin_input = r, warehouse = "out", table = "db.${table_name}" }')
    return Target(target.sink, lambda: folders_of(tmp_path / "out" / "db"), target.clear)


def paimon(request, tmp_path):
    sink = 'Paimon { plugin_input = r, warehouse = "out", database = db, table = "${table_name}" }'
    target = folder_target(tmp_path, sink)
    return Target(sink, lambda: folders_of(tmp_path / "out" / "db.db"), target.clear)


def table(request, tmp_path):
    spark = request.getfixturevalue("spark")
    spark.sql("create database if not exists hostile")

    def read() -> dict[str, list[int]]:
        found = [row.tableName for row in spark.sql("show tables in hostile").collect() if not row.isTemporary]
        return {
            name: [row.id for row in spark.sql(f"select id from hostile.`{name.replace('`', '``')}`").collect()]
            for name in found
        }

    def clear() -> None:
        spark.sql("drop database hostile cascade")
        spark.sql("create database hostile")

    return Target('Table { plugin_input = r, table = "hostile.${table_name}", provider = delta }', read, clear)


def database_target(database, quote: str, prefix: str) -> Target:
    login = ", ".join(f"{name} = {quoted(value)}" for name, value in database.options.items())
    sink = f'Jdbc {{ plugin_input = r, {login}, table = "{prefix}${{table_name}}", generate_sink_sql = true }}'

    def at(name: str) -> str:
        return prefix + quote + name.replace(quote, quote * 2) + quote

    def listed() -> list[str]:
        if database.kind == "sqlite":
            return [str(row[0]) for row in database.rows("select name from sqlite_master where type = 'table'")]
        schema = prefix.rstrip(".")
        query = f"select table_name from information_schema.tables where table_schema = '{schema}'"
        return [str(row[0]) for row in database.rows(query) if not str(row[0]).startswith("penstock_")]

    def read() -> dict[str, list[int]]:
        return {
            name: [int(row[0]) for row in database.rows(f"select id from {at(name)}")]
            for name in listed()
            if not name.startswith("penstock_")
        }

    def clear() -> None:
        for name in listed():
            database.run(f"drop table {at(name)}")

    return Target(sink, read, clear)


def postgres(request, tmp_path):
    database = request.getfixturevalue("postgres")
    database.run("create schema if not exists hostile")
    return database_target(database, '"', "hostile.")


def mariadb(request, tmp_path):
    database = request.getfixturevalue("mariadb")
    database.run("create database if not exists hostile")
    return database_target(database, "`", "hostile.")


def sqlite(request, tmp_path):
    return database_target(request.getfixturevalue("sqlite"), '"', "")


def served(request, tmp_path, kind: str):
    server = request.getfixturevalue(kind)
    login = ", ".join(f"{name} = {quoted(value)}" for name, value in server.options.items())
    sink = f'{kind.title()}File {{ {login}, path = "/names/${{table_name}}", file_format_type = csv }}'

    def clear() -> None:
        import shutil

        shutil.rmtree(server.folder / "names", ignore_errors=True)

    return Target(sink, lambda: folders_of(server.folder / "names"), clear)


def sftp(request, tmp_path):
    return served(request, tmp_path, "sftp")


def ftp(request, tmp_path):
    return served(request, tmp_path, "ftp")


def s3(request, tmp_path):
    request.getfixturevalue("s3_spark")
    store = request.getfixturevalue("s3")
    bucket = store.bucket()
    settings = ", ".join(f'"{name}" = {quoted(value)}' for name, value in store.settings.items())
    sink = (
        f'S3File {{ plugin_input = r, bucket = "s3a://{bucket.bucket}", path = "/names/${{table_name}}",'
        f" file_format_type = csv, hadoop_s3_properties {{ {settings} }} }}"
    )

    def keys() -> list[str]:
        return [key for key in bucket.keys() if key.endswith(".csv")]  # noqa: SIM118

    def read() -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for key in keys():
            folder, name, _ = key.split("/")
            assert folder == "names", key
            found.setdefault(name, []).extend(ids_in(bucket.read(key).decode()))
        return found

    def clear() -> None:
        for key in bucket.keys():  # noqa: SIM118
            bucket.delete(key)

    return Target(sink, read, clear)


def kafka(request, tmp_path):
    broker = request.getfixturevalue("kafka")
    sink = f'Kafka {{ plugin_input = r, bootstrap.servers = "{broker.servers}", topic = "${{table_name}}" }}'

    def topics() -> list[str]:
        with closing(broker._admin()) as admin:
            return [topic for topic in admin.list_topics() if not topic.startswith("__")]

    def read() -> dict[str, list[int]]:
        return {topic: ids_in(" ".join(map(str, broker.values(topic)))) for topic in topics()}

    def clear() -> None:
        for topic in topics():
            broker.delete(topic)

    return Target(sink, read, clear)


TARGETS = {
    "LocalFile": local, "HdfsFile": hdfs, "Delta": delta, "Spark": spark_files, "Iceberg": iceberg, "Paimon": paimon,
    "Table": table, "PostgreSQL": postgres, "MariaDB": mariadb, "SQLite": sqlite, "SftpFile": sftp, "FtpFile": ftp,
    "S3File": s3, "Kafka": kafka,
}  # fmt: skip


@pytest.fixture
def place(spark, tmp_path, monkeypatch) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    return folder


@pytest.mark.parametrize("target", sampled(TARGETS, "LocalFile", "Delta", "PostgreSQL"))
def test_a_table_is_under_its_target_under_its_own_name(target, request, place, capsys):
    made = TARGETS[target](request, place)
    made.clear()
    before = {path.name for path in place.parent.iterdir()} | {"state"}
    for batch in batches(names(target)):
        outcome = write_all(batch, lambda left: tables_job(made.sink, left), capsys)
        check(outcome, made.read())
        made.clear()
        assert {path.name for path in place.parent.iterdir()} <= before
        assert {path.name for path in place.iterdir()} <= {"job.conf", "out", "spark-warehouse", "metastore_db"}


FORMATS = ("csv", "json", "parquet", "orc", "avro", "xml", "text", "excel")
COLUMNS = 50


def file_columns(format: str):
    def made(request, place: Path):
        header = ", enable_header_write = true" if format in ("csv", "text") else ""
        one = f"file_format_type = {format}, single_file_mode = true{header}"
        sink = f'LocalFile {{ plugin_input = r, path = "out", {one} }}'

        def read() -> dict[str, int]:
            (file,) = [file for file in (place / "out").glob("*") if file.is_file() and file.name[0] not in "._"]
            return READERS[format](file)

        return sink, read

    return made


def read_lines(file: Path, delimiter: str) -> dict[str, int]:
    import csv

    with file.open(newline="") as lines:
        header, row = list(csv.reader(lines, delimiter=delimiter))
    return dict(zip(header, map(int, row), strict=True))


def read_arrow(file: Path) -> dict[str, int]:
    import pyarrow.orc
    import pyarrow.parquet

    module = pyarrow.orc if file.name.endswith(".orc") else pyarrow.parquet
    return {name: values[0] for name, values in module.read_table(file).to_pydict().items()}


def read_xml(file: Path) -> dict[str, int]:
    from xml.etree import ElementTree

    (row,) = ElementTree.parse(file).getroot()
    return {element.tag: int(element.text or "") for element in row} | {k: int(v) for k, v in row.attrib.items()}


def read_excel(file: Path) -> dict[str, int]:
    import zipfile
    from xml.etree import ElementTree

    space = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
    with zipfile.ZipFile(file) as archive:
        sheet = ElementTree.fromstring(archive.read("xl/worksheets/sheet1.xml"))
    rows = [["".join(cell.itertext()) for cell in row] for row in sheet.iter(f"{space}row")]
    header, row = rows
    return {name: int(float(value)) for name, value in zip(header, row, strict=True)}


def read_avro(file: Path) -> dict[str, int]:
    from pyspark.sql import SparkSession

    row = SparkSession.getActiveSession().read.format("avro").load(f"file://{file}").first()
    return row.asDict()


READERS: dict[str, Callable[[Path], dict[str, int]]] = {
    "csv": lambda file: read_lines(file, ","), "text": lambda file: read_lines(file, "\x01"),
    "json": lambda file: json.loads(file.read_text()), "parquet": read_arrow, "orc": read_arrow, "xml": read_xml,
    "excel": read_excel, "avro": read_avro,
}  # fmt: skip


def lake_columns(connector: str, options: str, folder: str):
    def made(request, place: Path):
        spark = request.getfixturevalue("spark")

        def read() -> dict[str, int]:
            return spark.read.format(connector.lower()).load(str(place / folder)).first().asDict()

        return f"{connector} {{ plugin_input = r, {options} }}", read

    return made


def paimon_columns(request, place: Path):
    spark = request.getfixturevalue("spark")

    def read() -> dict[str, int]:
        from catalog.tables.table import CatalogTable
        from connectors.interface.source import ScanTask
        from connectors.paimon.connector import connector
        from tests.connectors.given_options import options_of

        schema = json.loads((place / "out" / "schema" / "schema-0").read_text())
        options = options_of(connector.source_options, path=str(place / "out"))
        row = connector.read(spark.newSession(), ScanTask(options, CatalogTable.unknown("t"))).first()
        return dict(zip([field["name"] for field in schema["fields"]], row, strict=True))

    return 'Paimon { plugin_input = r, path = "out" }', read


def database_columns(kind: str):
    def made(request, place: Path):
        database = request.getfixturevalue(kind)
        database.clear()
        login = ", ".join(f"{name} = {quoted(value)}" for name, value in database.options.items())

        def read() -> dict[str, int]:
            with database.connect() as connection:
                cursor = connection.cursor()
                cursor.execute("select * from wide")
                row = cursor.fetchone()
                return {str(column[0]): int(value) for column, value in zip(cursor.description, row, strict=True)}

        return f"Jdbc {{ plugin_input = r, {login}, table = wide, generate_sink_sql = true }}", read

    return made


def kafka_columns(request, place: Path):
    broker = request.getfixturevalue("kafka")
    topic = broker.topic()

    def read() -> dict[str, int]:
        (value,) = broker.values(topic)
        return json.loads(value)

    return f'Kafka {{ plugin_input = r, bootstrap.servers = "{broker.servers}", topic = "{topic}" }}', read


COLUMN_TARGETS = {
    **{format: file_columns(format) for format in FORMATS},
    "Delta": lake_columns("Delta", "path = out", "out"),
    "Iceberg": lake_columns("Iceberg", 'warehouse = out, table = "db.t"', "out/db/t"), "Paimon": paimon_columns,
    "PostgreSQL": database_columns("postgres"), "MariaDB": database_columns("mariadb"),
    "SQLite": database_columns("sqlite"), "Kafka": kafka_columns,
}  # fmt: skip


@pytest.mark.parametrize("target", sampled(COLUMN_TARGETS, "csv", "parquet", "MariaDB", "Kafka"))
def test_a_column_has_its_own_name(target, request, place, capsys):
    for number, batch in enumerate(batches(names(f"column {target}"), COLUMNS)):
        folder = place / str(number)
        folder.mkdir()
        os.chdir(folder)
        sink, read = COLUMN_TARGETS[target](request, folder)
        written, refused = write_some(
            [name for name in batch if name], lambda left, sink=sink: (columns_job(sink, left), ()), capsys
        )
        assert not written or read() == {name: index for index, name in enumerate(written)}, refused
    os.chdir(place)


def partition_folders(place: Path) -> dict[str, list[int]]:
    found = {}
    for folder in (place / "out").iterdir():
        if folder.name[0] not in "._":
            column, equals, value = folder.name.partition("=")
            assert (column, equals) == ("p", "="), folder
            found[unquote(value)] = data_ids(folder)
    return found


def lake_partitions(connector: str, folder: str):
    def read(place: Path) -> dict[str, list[int]]:
        from pyspark.sql import SparkSession

        rows = SparkSession.getActiveSession().read.format(connector).load(str(place / folder)).collect()
        return {row.p: [row.id] for row in rows}

    return read


def paimon_partitions(place: Path) -> dict[str, list[int]]:
    from pyspark.sql import SparkSession

    from catalog.tables.table import CatalogTable
    from connectors.interface.source import ScanTask
    from connectors.paimon.connector import connector
    from tests.connectors.jobs import options_of

    options = options_of(connector.source_options, path=str(place / "out"))
    session = SparkSession.getActiveSession().newSession()
    rows = connector.read(session, ScanTask(options, CatalogTable.unknown("t"))).collect()
    return {row.p: [row.id] for row in rows}


PARTITION_TARGETS = {
    "LocalFile": ("LocalFile { plugin_input = r, path = out, file_format_type = csv, partition_by = [p] }",
                  partition_folders),
    "Delta": ("Delta { plugin_input = r, path = out, partition_by = [p] }", lake_partitions("delta", "out")),
    "Iceberg": ('Iceberg { plugin_input = r, warehouse = out, table = "db.t", partition_by = [p] }',
                lake_partitions("iceberg", "out/db/t")),
    "Paimon": ("Paimon { plugin_input = r, path = out, partition_by = [p] }", paimon_partitions),
}  # fmt: skip


@pytest.mark.parametrize("target", sampled(PARTITION_TARGETS, "LocalFile"))
def test_a_partition_is_below_its_target_with_its_own_value(target, request, place, capsys):
    sink, read = PARTITION_TARGETS[target]
    before = {path.name for path in place.parent.iterdir()} | {"state"}
    for number, batch in enumerate(batches(names(f"partition {target}"))):
        folder = place / str(number)
        folder.mkdir()
        os.chdir(folder)
        written, refused = write_some(
            batch,
            lambda left: (partitions_job(sink, len(left)), given(left)),
            capsys,
        )
        assert {path.name for path in place.parent.iterdir()} <= before
        assert {path.name for path in folder.iterdir()} <= {"job.conf", "out"}
        assert not written or read(folder) == {name: [index] for index, name in enumerate(written)}, refused
    os.chdir(place)
