"""With `tuning.hadoop`, Hadoop adds less to each table: settings that no step needs, and a process for each file."""

import json
import os
import stat
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.slow]

COUNT = """
import json, os, sys
from engine.compile import Settings, compile_jobs
from engine.runtime.application import application

jobs = compile_jobs(sys.argv[1:], Settings())
with application(jobs) as spark:
    spark.range(1).write.parquet("out")
    settings = spark._jsparkSession.sessionState().newHadoopConf()
    local = spark._jvm.org.apache.hadoop.fs.FileSystem.get(settings).getRawFileSystem()
    folder = spark._jvm.org.apache.hadoop.fs.Path(os.path.abspath("shared/inner"))
    local.mkdirs(folder, spark._jvm.org.apache.hadoop.fs.permission.FsPermission("0700"))
    print(json.dumps({
        "rows": spark.read.parquet("out").count(),
        "of YARN": settings.getPropsWithPrefix("yarn.").size(),
        "maps": settings.get("mapreduce.job.maps"),
        "sources": len(settings.getPropertySources("mapreduce.job.maps") or ()),
        "local files": local.getClass().getName(),
    }))
"""


def counted(folder, env: str) -> dict:
    tables = ", ".join(f'{{ schema {{ table = "t{n}", fields {{ id = int }} }} }}' for n in range(30))
    (folder / "job.conf").write_text(
        f"env {{ {env} }}\n"
        f"source {{ FakeSource {{ tables_configs = [{tables}] }} }}\n"
        f'sink {{ LocalFile {{ path = "{folder}/${{table_name}}", file_format_type = "json" }} }}\n'
    )
    (folder / "shared").mkdir()
    os.chmod(folder / "shared", 0o2775)  # new directories in it inherit its group
    command = [sys.executable, "-c", COUNT, "job.conf"]
    shown = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, umask=0o022).stdout
    return json.loads(shown)


def modes(folder) -> dict[str, object]:
    files = [path for path in (folder / "out").iterdir() if path.suffix in (".parquet", ".crc")]
    assert len(files) >= 2
    return {
        "files": {stat.S_IMODE(path.stat().st_mode) for path in files},
        "out": stat.S_IMODE((folder / "out").stat().st_mode),
        "inner": stat.S_IMODE((folder / "shared" / "inner").stat().st_mode),
    }


def test_parts_of_hadoop_are_replaced_only_where_the_job_asks_for_it(tmp_path):
    plain, tuned = tmp_path / "plain", tmp_path / "tuned"
    plain.mkdir()
    tuned.mkdir()
    before, after = counted(plain, ""), counted(tuned, "tuning.hadoop = true")
    assert before.pop("of YARN") > 500
    assert before == {
        "rows": 1, "maps": "2", "sources": 1, "local files": "org.apache.hadoop.fs.RawLocalFileSystem",
    }  # fmt: skip
    assert after == {"rows": 1, "of YARN": 0, "maps": "2", "sources": 0, "local files": "PenstockLocalFiles"}
    assert modes(plain) == modes(tuned) == {"files": {0o644}, "out": 0o755, "inner": 0o2700}
