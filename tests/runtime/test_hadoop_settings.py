"""Settings of Hadoop that no step of a job needs are removed where many tables are written."""

import subprocess
import sys

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.slow]

COUNT = """
import sys
from engine.compile import Settings, compile_jobs
from engine.runtime.application import application

jobs = compile_jobs(sys.argv[1:], Settings())
with application(jobs) as spark:
    spark.range(1).write.parquet("out")
    rows = spark.read.parquet("out").count()
    settings = spark._jsparkSession.sessionState().newHadoopConf()
    print(rows, settings.getPropsWithPrefix("yarn.").size(), settings.get("mapreduce.job.maps"))
"""


@pytest.mark.parametrize(("writes", "kept"), [(24, True), (25, False)])
def test_yarn_is_removed_where_many_tables_are_written(tmp_path, writes, kept):
    tables = ", ".join(f'{{ schema {{ table = "t{n}", fields {{ id = int }} }} }}' for n in range(writes))
    (tmp_path / "job.conf").write_text(
        f"source {{ FakeSource {{ tables_configs = [{tables}] }} }}\n"
        f'sink {{ LocalFile {{ path = "{tmp_path}/${{table_name}}", file_format_type = "json" }} }}\n'
    )
    command = [sys.executable, "-c", COUNT, "job.conf"]
    shown = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    rows, of_yarn, maps = shown.split()
    assert (rows, int(of_yarn) > 500, maps) == ("1", kept, "2")
    assert kept or of_yarn == "0"
