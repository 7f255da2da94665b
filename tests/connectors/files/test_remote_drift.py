"""Columns of files on other machines: compared with the declared ones as a run reads them, as those of local files are.

`viewfs` is a file system that is reached through Hadoop only, and needs no server.
"""

from itertools import count
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from engine.cli import main

pytestmark = pytest.mark.spark

MOUNTS = count(1)
JOB = """
source {{ {source}
  file_format_type = {kind}, schema {{ fields {{ id = bigint, amount = bigint }} }} {more} }} }}
sink {{ LocalFile {{ path = "{out}", file_format_type = parquet, data_save_mode = DROP_DATA }} }}
"""


@pytest.fixture
def run(spark, tmp_path, capsys):
    """Runs a job over files of `tmp_path/in`, which it reads from a mount, and returns its exit code and messages."""
    mount = f"drift{next(MOUNTS)}"
    configuration = spark.sparkContext._jsc.hadoopConfiguration()
    configuration.set(f"fs.viewfs.mounttable.{mount}.link./here", f"file://{tmp_path}")

    def run(kind: str, *queries: str, more: str = "", source: str | None = None) -> tuple[int, str]:
        for number, query in enumerate(queries):
            folder = tmp_path / f"files{number}"
            spark.sql(query).coalesce(1).write.mode("overwrite").format(kind).save(str(folder))
            for file in folder.glob("part-*"):
                (tmp_path / "in").mkdir(exist_ok=True)
                file.rename(tmp_path / "in" / f"{number}.{kind}")
        source = source or f'LocalFile {{ path = "viewfs://{mount}/here/in"'
        (tmp_path / "job.conf").write_text(JOB.format(source=source, kind=kind, more=more, out=tmp_path / "out"))
        code = main(["run", str(tmp_path / "job.conf"), "--quiet", "--state-dir", str(tmp_path / "state")])
        return code, capsys.readouterr().err

    return run


@pytest.mark.parametrize("kind", ["parquet", "orc"])
def test_a_renamed_column_of_remote_files_is_an_error_or_a_warning(run, kind):
    whole, renamed = "select 1L id, 5L amount", "select 2L id, 6L total, 'x' note"
    code, err = run(kind, renamed)
    assert code == 1
    assert "error[PEN3004]: the declared column `amount` is not in" in err
    assert "warning" not in run(kind, renamed, more=", missing_columns = allow")[1].replace("PEN4503", "")
    code, err = run(kind, whole, renamed)
    assert code == 0
    assert "warning[PEN4503]" in err
    assert "lacks `amount`, read as NULL and holds `total`, `note`, which nobody reads" in err
    code, err = run(kind, whole, whole)
    assert (code, err) == (0, "")


def test_a_field_of_remote_json_in_another_case_is_an_error(run):
    code, err = run("json", "select 1L id, 5L amount", "select 2L id, 6L Amount")
    assert code == 1
    assert "error[PEN3004]: the declared field `amount` is `Amount` in" in err
    assert run("json", "select 1L id, 5L amount", "select 2L id, 6L amount") == (0, "")


def test_a_renamed_column_on_an_sftp_server_is_an_error(run, sftp, spark, tmp_path):
    import pyarrow
    import pyarrow.parquet

    folder = Path(sftp.folder) / "drift"
    folder.mkdir(parents=True, exist_ok=True)
    pyarrow.parquet.write_table(pyarrow.table({"id": [1], "total": [2]}), folder / "a.parquet")
    options = ", ".join(f'{name} = "{value}"' for name, value in {**sftp.options, "path": "drift"}.items())
    code, err = run("parquet", source=f"SftpFile {{ {options}")
    assert code == 1
    assert "error[PEN3004]: the declared column `amount` is not in" in err
