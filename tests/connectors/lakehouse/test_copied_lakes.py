"""One job over tables of Delta, of a catalog of Spark's and of Iceberg, each by a pattern: locked, validated, run."""

import pytest

from engine.cli import main

CATALOG = "org.apache.iceberg.spark.SparkCatalog"
SINK = """
LocalFile {{ plugin_input = {name}, path = "{out}/${{database_name}}.${{table_name}}", file_format_type = parquet }}
"""


@pytest.mark.spark
@pytest.mark.delta
def test_real_tables_are_copied_by_one_block(spark, tmp_path, monkeypatch, capsys):
    """A Delta table by its folder, one of Spark's catalog, two of Iceberg: by a warehouse and by a catalog."""
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    prefix = "spark.sql.catalog.depot"
    settings = {prefix: CATALOG, f"{prefix}.type": "hadoop", f"{prefix}.warehouse": str(tmp_path / "ice")}
    for key, value in settings.items():
        spark.conf.set(key, value)
    spark.range(2).write.format("delta").save(str(tmp_path / "lake" / "shop" / "plain"))
    spark.sql(f"create database many location '{tmp_path / 'db'}'")
    try:
        spark.sql("create table many.orders_1 using delta as select 1L id")
        spark.sql("create table many.other using delta as select 2L other")
        spark.sql("create table depot.sales.paid_1 as select 3L a, 'x' b")
        spark.sql("create table depot.sales.paid_2 as select 4L c")
        (tmp_path / "penstock.lock").write_text("", encoding="utf-8")
        source = f"""
          Delta {{ plugin_output = d, path = "{tmp_path}/lake/{{database}}/{{table}}" }}
          Table {{ plugin_output = t, table = "many.orders_\\\\d+", use_regex = true }}
          Iceberg {{ plugin_output = w, warehouse = "{tmp_path}/ice", table = "sales.\\\\.*1", use_regex = true }}
          Iceberg {{ plugin_output = i, table_path = "depot.sales.\\\\.*_2", use_regex = true }}
        """
        env = "\n".join(f'{key} = "{value}"' for key, value in settings.items())
        sinks = "\n".join(SINK.format(name=name, out=tmp_path / "out") for name in "dtwi")
        job = tmp_path / "job.conf"
        job.write_text(f"env {{ {env} }}\nsource {{ {source} }}\nsink {{ {sinks} }}", encoding="utf-8")
        assert main(["validate", str(job)]) == 2
        assert capsys.readouterr().out.count("error[PEN4002]") == 2  # the tables of the catalogs
        assert main(["schema", "sync", str(job)]) == 0, capsys.readouterr().err
        assert main(["validate", str(job)]) == 0, capsys.readouterr().err
        assert main(["explain", str(job)]) == 0
        assert "i.paid_2: Iceberg" in capsys.readouterr().out
        assert main(["run", str(job)]) == 0, capsys.readouterr().err
        copied = {path.name: spark.read.parquet(str(path)) for path in (tmp_path / "out").iterdir()}
        assert {name: (df.columns, sorted(map(tuple, df.collect()))) for name, df in copied.items()} == {
            "shop.plain": (["id"], [(0,), (1,)]),
            "many.orders_1": (["id"], [(1,)]),
            "sales.paid_1": (["a", "b"], [(3, "x")]),
            "sales.paid_2": (["c"], [(4,)]),
        }
    finally:
        spark.sql("drop database many cascade")
        for key in settings:
            spark.conf.unset(key)
