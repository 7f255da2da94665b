"""A row that is too long for Java's memory is named by its file and line, however Java ends."""

import gzip
import signal

import pytest

pytest.importorskip("pyspark")

from catalog.diagnostics.diagnostic import Diagnostics
from connectors.files.bad_lines import long_line
from engine.compile import Settings, compile_job
from engine.spark.failures.fatal_errors import fatal_error
from engine.spark.failures.lost_java import lost_java

LONG = 33 << 20
JOB = """
source {{ LocalFile {{ plugin_output = orders, path = "{0}/in", file_format_type = csv
  schema {{ fields {{ id = int, n = string }} }} }} }}
sink {{ Console {{}} }}
"""


@pytest.fixture
def nodes(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("1,a\n2,b\n")
    with (tmp_path / "in" / "b.csv").open("wb") as file:
        file.write(b"1,a\n2," + b"x" * LONG + b"\n3,c\n")
    (tmp_path / "job.conf").write_text(JOB.format(tmp_path))
    compiled = compile_job(tmp_path / "job.conf", Settings(), Diagnostics())
    assert compiled is not None
    return tuple(compiled.plan.nodes())


def test_a_row_of_many_megabytes_is_named_where_java_has_no_memory(nodes, tmp_path):
    (read,) = (node for node in nodes if node.name == "orders")
    error = fatal_error("java.lang.OutOfMemoryError: Java heap space", nodes[-1], (read,))
    (said,) = error.diagnostics
    assert said.code == "PEN5902"
    row = f"line 2 of `{tmp_path}/in/b.csv`, which `orders` reads, has 33 MiB"
    assert said.message == f"Java ran out of memory: {row}"
    assert "missing line break" in said.help
    for code in (52, -signal.SIGKILL):
        (said,) = lost_java(code, run_id="r", is_decided=False, nodes=nodes).diagnostics
        assert said.code == "PEN5403"
        assert row in said.message
        assert "missing line break" in said.help
    (said,) = lost_java(52, run_id="r", is_decided=True, nodes=nodes).diagnostics
    assert "line 2" not in said.message
    assert "as Spark does where Java's memory runs out" in said.message


@pytest.mark.parametrize(
    ("content", "expected"),
    [(b"", None), (b"ab\nabc", None), (b"ab\nabcdef", (2, 6)), (b"abcde\n", (1, 5)), (b"a\n\n\nabcdefg\nb\n", (4, 7))],
)
def test_the_first_long_line(tmp_path, content, expected):
    (tmp_path / "a.csv").write_bytes(content)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(content))
    assert long_line(str(tmp_path / "a.csv"), 4) == expected
    assert long_line(str(tmp_path / "a.csv.gz"), 4) == expected
    assert long_line(str(tmp_path / "gone.csv"), 4) is None
