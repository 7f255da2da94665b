"""One identity for what nodes read and write: readers and writers of the same rows have the same dataset."""

from itertools import permutations

import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from engine.compile import Settings, compile_job
from engine.plan.datasets import Dataset, dataset_of, holding
from engine.plan.nodes import Scan

PG = 'url = "jdbc:postgresql://DB:5432/shop?ssl=true"'


def datasets(tmp_path, source, sink):
    """What a job of one source and one sink reads and writes."""
    job = tmp_path / "job.conf"
    job.write_text(
        f"source {{ {source} }}\n"
        f'sink {{ {sink} }}\n'
    )  # fmt: skip
    diagnostics = Diagnostics()
    compiled = compile_job(job, Settings(), diagnostics)
    assert compiled, list(diagnostics)
    (scan,) = (node for node in compiled.built.nodes() if isinstance(node, Scan))
    return dataset_of(scan), dataset_of(compiled.built.writes[0])


FAKE = "FakeSource { schema { fields { id = int } } }"
CONSOLE = "Console {}"
FIELDS = "schema { fields { id = int } }"


@pytest.mark.parametrize(
    ("source", "sink"),
    [
        (f'LocalFile {{ path = "DIR/x", file_format_type = json, {FIELDS} }}',
         'LocalFile { path = "file://DIR/y/../x/", file_format_type = csv }'),
        (f'Delta {{ path = "DIR/t", {FIELDS} }}', 'Delta { path = "DIR/./t" }'),
        (f'S3File {{ bucket = "s3a://b", path = "/x", file_format_type = json, {FIELDS} }}',
         'LocalFile { path = "s3://b//x/", file_format_type = json }'),
        (f'Jdbc {{ {PG}, table_path = "public.Orders", {FIELDS} }}',
         'Jdbc { url = "jdbc:postgresql://db/shop", table = "orders" }'),
        (f'Jdbc {{ {PG}, table_path = "shop.eu.orders", {FIELDS} }}',
         'Jdbc { url = "jdbc:postgresql://db/shop?currentSchema=eu", table = "orders" }'),
        (f'Jdbc {{ url = "jdbc:mariadb://db/a", table_path = "shop.orders", {FIELDS} }}',
         'Jdbc { url = "jdbc:mariadb://db:3306/shop", table = "orders" }'),
        (f'Kafka {{ bootstrap.servers = "b:1,A:2", topic = orders, {FIELDS} }}',
         'Kafka { bootstrap.servers = "a:2,b:1", topic = orders }'),
        (f'Table {{ table = "shop.Orders", {FIELDS} }}',
         'Spark { format = delta, table = "spark_catalog.shop.orders" }'),
        (f'Spark {{ format = parquet, path = "DIR/x", {FIELDS} }}', 'Spark { format = csv, path = "DIR/y/../x" }'),
    ],
)  # fmt: skip
def test_reader_and_writer_of_one_place_have_one_dataset(tmp_path, source, sink):
    read, written = datasets(tmp_path, source.replace("DIR", str(tmp_path)), sink.replace("DIR", str(tmp_path)))
    assert read is not None
    assert read == written
    assert Dataset.of(str(read)) == read


def test_tables_of_one_database_are_different_datasets(tmp_path):
    read, written = datasets(
        tmp_path, f'Jdbc {{ {PG}, table_path = "a", {FIELDS} }}', f'Jdbc {{ {PG}, table = "b" }}'
    )  # fmt: skip
    assert (read.namespace, read.name) == ("jdbc:postgresql://db:5432/shop", "a")
    assert (written.namespace, written.name) == (read.namespace, "b")


def test_a_query_reads_something_of_its_database(tmp_path):
    read, _ = datasets(tmp_path, f'Jdbc {{ {PG}, query = "select 1 as id", {FIELDS} }}', CONSOLE)
    assert (read.namespace, read.name) == ("jdbc:postgresql://db:5432/shop", "")


def test_no_secret_is_in_a_dataset(tmp_path):
    url = "jdbc:postgresql://me:hunter22@db/shop?password=hunter22"
    read, _ = datasets(tmp_path, f'Jdbc {{ url = "{url}", table_path = "a", {FIELDS} }}', CONSOLE)
    assert "hunter22" not in str(read)
    read, _ = datasets(tmp_path, f'Http {{ url = "https://h/x?api_key=hunter23", {FIELDS} }}', CONSOLE)
    assert "hunter23" not in str(read)


def test_generated_and_printed_rows_are_no_datasets(tmp_path):
    assert datasets(tmp_path, FAKE, CONSOLE) == (None, None)


def test_a_pattern_of_files_is_in_its_folder():
    pattern = Dataset.of("/data/2026-*/x.csv")
    assert pattern.folder == Dataset.of("/data")
    assert holding(Dataset.of("/data/day=1/*.csv"), [Dataset.of("/data"), Dataset.of("/")]) == Dataset.of("/data")


def test_datasets_overlap_where_one_is_in_the_other():
    file, folder, other = (Dataset.of(path) for path in ("/data/a/1.csv", "/data/a", "/data/ab"))
    assert folder.overlaps(file)
    assert file.overlaps(folder)
    assert not any(a.overlaps(other) for a in (file, folder))
    topics = [Dataset.of(f"kafka://b:9/{names}") for names in ("a,b", "b,c", "c")]
    shared = [(a.name, b.name) for a, b in permutations(topics, 2) if a.overlaps(b)]
    assert shared == [("a,b", "b,c"), ("b,c", "a,b"), ("b,c", "c"), ("c", "b,c")]


RULE = 'expectations = [{ name = known, condition = "id > 0", on_violation = WARN }]'
QUERY = 'query = "select id from t"'


@pytest.mark.parametrize(
    ("named", "added", "names"),
    [
        ("", RULE, ["paimon", "paimon_2"]),
        ("plugin_output = NAME,", QUERY, ["a", "b"]),
        ("plugin_output = NAME,", f"{QUERY}, {RULE}", ["a", "b"]),
    ],
)
def test_a_source_keeps_its_written_name(tmp_path, named, added, names):
    """By which its watermark is called, whatever nodes its block becomes."""
    block = f'Paimon {{ {named} path = "t", ADDED, {FIELDS} }}'
    for text in ("parallelism = 1", added):
        sources = "\n".join(block.replace("NAME", name).replace("ADDED", text) for name in ("a", "b"))
        sinks = "Console { plugin_input = [a, b] }" if named else CONSOLE
        job = tmp_path / "job.conf"
        job.write_text(f"source {{ {sources} }}\nsink {{ {sinks} }}\n")
        diagnostics = Diagnostics()
        compiled = compile_job(job, Settings(), diagnostics)
        assert compiled, list(diagnostics)
        assert [node.written_name for node in compiled.built.nodes() if isinstance(node, Scan)] == names
