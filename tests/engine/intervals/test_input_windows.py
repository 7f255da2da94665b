"""An interval reads of a source the rows of its window."""

from pathlib import Path

import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from engine.compile import compile_job
from engine.job.model.settings import Settings
from engine.plan.rendering.explain_text import explain

JOB = """
env { interval { column = day, grain = GRAIN, start = "START", timezone = "Europe/Berlin", inputs { WINDOW } } }
source { LocalFile { plugin_output = raw, path = "in", file_format_type = parquet
  schema { fields { id = int, day = date, at = timestamp } } } }
transform { Sql { plugin_input = raw, plugin_output = o, query = "select *, at as hour from raw" } }
sink { Delta { plugin_input = o, path = "out", write_mode = replace_where } }
"""


def compiled(folder: Path, window: str, grain: str = "day", start: str = "2024-03-31") -> tuple[str, list[str]]:
    path, diagnostics = folder / "job.conf", Diagnostics()
    text = JOB.replace("WINDOW", window).replace("GRAIN", grain).replace("START", start)
    path.write_text(text.replace("column = day", "column = hour") if grain == "hour" else text)
    found = compile_job(path, Settings(), diagnostics)
    return explain(found.built) if found else "", [f"{item.code} {item.message}" for item in diagnostics if item.span]


@pytest.mark.parametrize(
    ("window", "grain", "start", "condition"),
    [
        ("raw {}", "day", "2024-03-31", "day = date '2024-03-31'"),
        ("raw { before = 6 }", "day", "2024-03-31", "day >= date '2024-03-25' AND day < date '2024-04-01'"),
        ("RAW { after = 1 }", "month", "2024-02", "day >= date '2024-02-01' AND day < date '2024-04-01'"),
        ("raw { column = at, before = 1, after = 1 }", "day", "2024-03-31",  # of 23 hours
         "at >= timestamp '2024-03-29 23:00:00' AND at < timestamp '2024-04-01 22:00:00'"),
        ("raw { column = at, before = 2 }", "hour", "2024-03-31 04:00",
         "at >= timestamp '2024-03-31 00:00:00' AND at < timestamp '2024-03-31 03:00:00'"),
    ],
)  # fmt: skip
def test_the_window_is_of_whole_intervals(tmp_path, window, grain, start, condition):
    shown, errors = compiled(tmp_path, window, grain, start)
    assert [error for error in errors if not error.startswith("PEN4030")] == []
    assert "raw: Window\n" in shown
    assert f"SELECT * WHERE {condition}\n" in shown


@pytest.mark.parametrize(
    ("window", "message"),
    [
        ("rows {}", "PEN1669 `interval.inputs` names `rows`, which is no source of the job"),
        ("raw { column = id }", "PEN1669 the window of `raw` is by the column `id`, which is int, no time"),
        ("raw { column = dai }", "PEN1669 the window of `raw` is by the column `dai`, which it does not have"),
        ("raw { befor = 1 }", "PEN1669 the window of the input `raw`: `befor` is none of its settings"),
        ("raw { before = -1 }", "PEN1669 the window of the input `raw`: it has a value of another type"),
        ("raw = 7", "PEN1669 the window of the input `raw`: it has a value of another type"),
    ],
)
def test_a_window_that_is_none_is_an_error(tmp_path, window, message):
    assert message in compiled(tmp_path, window)[1]
