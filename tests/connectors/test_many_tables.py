"""Many tables through one block of Delta, Iceberg, Paimon or a catalog: patterns, and lists of tables."""

import json

import pytest

import connectors
from catalog.diagnostics.diagnostic import Diagnostics, Severity
from connectors.interface.source_abilities import SupportsTableSets, table_pattern_of
from connectors.matching.table_patterns import name_patterns
from connectors.matching.warehouse_folders import all_folders, matching_folders
from engine.compile import Settings, compile_job
from tests.connectors.given_options import options_of
from tests.connectors.jobs import run_writes

SINK = 'sink {{ LocalFile {{ path = "{out}/${{database_name:none}}.${{table_name}}", file_format_type = parquet }} }}'


def compiled(folder, source, env=""):
    """The compiled job `job.conf` of that source, and the codes of its errors."""
    job = folder / "job.conf"
    sink = SINK.format(out=folder / "out")
    job.write_text(f"{env}\nsource {{ {source} }}\n{sink}\n", encoding="utf-8")
    diagnostics = Diagnostics()
    found = compile_job(job, Settings(), diagnostics)
    return found, errors_in(diagnostics)


def errors_in(diagnostics):
    return [diagnostic.code for diagnostic in diagnostics if diagnostic.severity is Severity.ERROR]


def scans(found):
    """Each table's name in the job, and its columns."""
    return {write.input.name: [str(column) for column in write.table.columns] for write in found.plan.writes}


def delta_log(folder, column):
    schema = {"type": "struct", "fields": [{"name": column, "type": "long", "nullable": True, "metadata": {}}]}
    log = folder / "_delta_log"
    log.mkdir(parents=True)
    action = {"metaData": {"id": "x", "schemaString": json.dumps(schema), "partitionColumns": [], "configuration": {}}}
    (log / f"{0:020}.json").write_text(json.dumps(action), encoding="utf-8")


def iceberg_metadata(folder, column):
    place = folder / "metadata"
    place.mkdir(parents=True)
    fields = [{"id": 1, "name": column, "type": "long", "required": False}]
    metadata = {"current-schema-id": 0, "schemas": [{"schema-id": 0, "type": "struct", "fields": fields}]}
    (place / "v1.metadata.json").write_text(json.dumps(metadata), encoding="utf-8")


def paimon_schema(folder, column):
    place = folder / "schema"
    place.mkdir(parents=True)
    schema = {"fields": [{"id": 0, "name": column, "type": "BIGINT"}], "partitionKeys": [], "primaryKeys": []}
    (place / "schema-0").write_text(json.dumps(schema), encoding="utf-8")


def test_delta_tables_of_a_folder_pattern(tmp_path):
    delta_log(tmp_path / "lake" / "shop" / "orders", "id")
    delta_log(tmp_path / "lake" / "shop" / "people", "name")
    delta_log(tmp_path / "lake" / "_hidden" / "orders", "id")
    (tmp_path / "lake" / "shop" / "exports").mkdir()
    path = f"{tmp_path}/lake/{{database}}/{{table}}"
    found, errors = compiled(tmp_path, f'Delta {{ plugin_output = crm, path = "{path}" }}')
    assert errors == []
    assert scans(found) == {"crm.orders": ["id bigint"], "crm.people": ["name bigint"]}
    delta_log(tmp_path / "lake" / "old" / "a [b]", "id")
    source = connectors.source("Delta")
    (options,) = source.expand(options_of(source.source_options, path=f"{tmp_path}/lake/old/{{table}}"), Diagnostics())
    assert options["path"] == f"{tmp_path}/lake/old/a [b]"  # it is no pattern for Delta


def test_iceberg_and_paimon_tables_of_a_warehouse(tmp_path):
    for name in ("orders_1", "orders_22", "people"):
        iceberg_metadata(tmp_path / "ice" / "shop" / name, name)
        paimon_schema(tmp_path / "pai" / "shop.db" / name, name)
    iceberg_metadata(tmp_path / "ice" / "other" / "orders_3", "id")
    paimon_schema(tmp_path / "pai" / "other.db" / "orders_3", "id")
    wanted = {"crm.orders_1": ["orders_1 bigint"], "crm.orders_22": ["orders_22 bigint"]}
    for block in (
        f'Iceberg {{ warehouse = "{tmp_path}/ice", table = "shop.orders_\\\\d+"',
        f'Iceberg {{ iceberg.catalog.config = {{ type = hadoop, warehouse = "{tmp_path}/ice" }}, namespace = shop, '
        'table = "orders_\\\\d+"',
        f'Paimon {{ warehouse = "{tmp_path}/pai", table = "shop.orders_\\\\d+"',
        f'Paimon {{ warehouse = "{tmp_path}/pai", database = shop, table = "orders_\\\\d+"',
    ):
        found, errors = compiled(tmp_path, f"{block}, use_regex = true, plugin_output = crm }}")
        assert errors == [], block
        assert scans(found) == wanted, block
    found, errors = compiled(
        tmp_path, f'Iceberg {{ warehouse = "{tmp_path}/ice", table = "\\\\.*.\\\\.*", use_regex = true }}'
    )
    assert len(found.plan.writes) == 4
    entries = '[{ table = "shop.orders_\\\\d", use_regex = true }, { table = other.orders_3 }]'
    found, errors = compiled(tmp_path, f'Iceberg {{ warehouse = "{tmp_path}/ice", tables_configs = {entries} }}')
    assert errors == []
    assert [name.rpartition(".")[2] for name in scans(found)] == ["orders_1", "orders_3"]
    found, errors = compiled(tmp_path, f'Iceberg {{ warehouse = "{tmp_path}/ice", table = shop.people }}')
    assert found.plan.writes[0].options["path"] == f"{tmp_path}/out/shop.people"


def test_lists_of_tables_are_named_by_what_they_read(tmp_path):
    for name in ("orders", "people"):
        iceberg_metadata(tmp_path / "ice" / "shop" / name, name)
        paimon_schema(tmp_path / "pai" / "shop.db" / name, name)
    wanted = {"crm.orders": ["orders bigint"], "crm.people": ["people bigint"]}
    listed = "plugin_output = crm, table_list = [{ table = shop.orders }, { table = shop.people }]"
    for block in (
        f'Iceberg {{ warehouse = "{tmp_path}/ice", {listed} }}',
        f'Paimon {{ warehouse = "{tmp_path}/pai", {listed} }}',
    ):
        found, errors = compiled(tmp_path, block)
        assert errors == [], block
        assert scans(found) == wanted
        assert [write.options["path"] for write in found.plan.writes] == [
            f"{tmp_path}/out/shop.orders", f"{tmp_path}/out/shop.people",
        ]  # fmt: skip


@pytest.mark.parametrize(
    "block",
    [
        'Table { table = "shop.orders_\\\\d+"',
        'Table { table = "lake.shop.orders_\\\\d+", provider = iceberg',
        'Iceberg { table_path = "lake.shop.orders_\\\\d+"',
        'Iceberg { warehouse = "s3a://lake/ice", table = "shop.orders_\\\\d+"',
    ],
)
def test_tables_of_a_catalog_are_those_of_the_lock(tmp_path, block):
    (tmp_path / "penstock.lock").write_text("", encoding="utf-8")
    _, errors = compiled(tmp_path, f"{block}, use_regex = true, plugin_output = crm }}")
    assert errors == ["PEN4002"]
    catalog = "lake." if "lake.shop" in block else ""
    sections = [f"[job.conf] crm {catalog}shop.{name}\n  id int not null\n" for name in ("orders_1", "people")]
    (tmp_path / "penstock.lock").write_text("\n".join(sections), encoding="utf-8")
    found, errors = compiled(tmp_path, f"{block}, use_regex = true, plugin_output = crm }}")
    assert errors == []
    assert scans(found) == {"crm.orders_1": ["id int not null"]}
    (write,) = found.plan.writes
    assert write.options["path"] == f"{tmp_path}/out/shop.orders_1"


@pytest.mark.parametrize(
    ("plugin", "given", "code"),
    [
        ("Table", {"table": "shop.t("}, "PEN2004"),
        ("Table", {"table": r"l\.*.shop.t"}, "PEN2004"),
        ("Iceberg", {"table_path": "shop.*"}, "PEN2004"),
        ("Iceberg", {"table_path": r"\.*.shop.t"}, "PEN2004"),
        ("Iceberg", {"table_path": "lake.shop.t", "warehouse": "/w"}, "PEN2011"),
        ("Iceberg", {"warehouse": "/nowhere/w"}, "PEN2011"),
        ("Iceberg", {"warehouse": "/nowhere/w", "table": "shop.t"}, "PEN4002"),
        ("Paimon", {"warehouse": "/nowhere/w", "table": "shop.t"}, "PEN4002"),
        ("Paimon", {"warehouse": "/nowhere/w", "table": "t"}, "PEN2004"),
        ("Paimon", {"warehouse": "/nowhere/w", "table": "shop.t["}, "PEN2004"),
        ("Paimon", {"path": "/nowhere/w"}, "PEN2011"),
    ],
)
def test_contradictions_are_reported(plugin, given, code):
    source = connectors.source(plugin)
    options = options_of(source.source_options, use_regex=True, **given)
    diagnostics = Diagnostics()
    expanded = source.expand(options, diagnostics) if isinstance(source, SupportsTableSets) else None
    if expanded is None and table_pattern_of(source, options) is None:
        source.tables(options, diagnostics)
    assert errors_in(diagnostics) == [code]


def test_only_directories_that_match_are_listed(tmp_path, monkeypatch):
    for name in ("a/t1", "a/x", "b/t1"):
        (tmp_path / name / "metadata").mkdir(parents=True)
    listed = []
    scandir = __import__("os").scandir
    monkeypatch.setattr("os.scandir", lambda folder: (listed.append(str(folder)), scandir(folder))[1])
    assert matching_folders(str(tmp_path), name_patterns(r"a.t\d"), lambda folder: True) == [("a", "t1")]
    assert listed == [str(tmp_path), str(tmp_path / "a")]
    assert all_folders(str(tmp_path), 2, lambda folder: not folder.endswith("x")) == [("a", "t1"), ("b", "t1")]


@pytest.mark.spark
def test_real_paimon_tables_are_copied_by_one_block(spark, tmp_path):
    pypaimon = pytest.importorskip("pypaimon")
    import pyarrow

    catalog = pypaimon.CatalogFactory.create({"warehouse": str(tmp_path / "pai")})
    catalog.create_database("shop", True)
    for number in (1, 2):
        columns = pyarrow.schema([(f"id{number}", pyarrow.int64())])
        catalog.create_table(f"shop.orders_{number}", pypaimon.Schema.from_pyarrow_schema(columns), False)
        builder = catalog.get_table(f"shop.orders_{number}").new_batch_write_builder()
        write, commit = builder.new_write(), builder.new_commit()
        write.write_arrow(pyarrow.table({f"id{number}": [number]}, columns))
        commit.commit(write.prepare_commit())
        write.close()
        commit.close()
    block = f'Paimon {{ warehouse = "{tmp_path}/pai", table = "shop.\\\\.*", use_regex = true }}'
    found, errors = compiled(tmp_path, block)
    assert errors == []
    run_writes(spark, found.plan.writes, str(tmp_path / "state"), "run")
    for number in (1, 2):
        df = spark.read.parquet(str(tmp_path / "out" / f"shop.orders_{number}"))
        assert (df.columns, df.collect()) == ([f"id{number}"], [(number,)])
