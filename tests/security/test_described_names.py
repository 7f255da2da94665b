"""What `describe` prints for columns of hostile names is a job that has these columns, and nothing else."""

import os
from pathlib import Path

import pytest

from catalog.diagnostics.diagnostic import Diagnostics, JobError
from catalog.tables.table import Column
from catalog.types.datatypes import INT, Field, Struct
from engine.compile import compile_job
from engine.describe.describe_data import Described, as_hocon, as_sql
from engine.describe.guess import Guess
from engine.job.model.settings import Settings
from engine.plan.nodes import Scan
from tests.security.hostile_names import NAMES, random_names
from tests.security.test_shown_names import MOVES

COUNT = int(os.environ.get("PENSTOCK_TEST_NAMES", "40"))
ALL_NAMES = [name for name in dict.fromkeys((*NAMES, *random_names(COUNT, seed=282))) if name and "\x00" not in name]
ENDS = {
    "conf": "sink { Console { plugin_input = src } }\n",
    "sql": "CREATE TABLE o WITH ('connector' = 'Console');\nINSERT INTO o SELECT * FROM src;\n",
}


def columns_of(text: str, form: str) -> list[Column]:
    path = Path(f"job.{form}")
    path.write_text(text + ENDS[form], encoding="utf-8")
    compiled = compile_job(path, Settings(), Diagnostics())
    assert compiled is not None, text
    (scan,) = [node for node in compiled.built.nodes() if isinstance(node, Scan)]
    return list(scan.table.columns)


@pytest.mark.parametrize("form", ["conf", "sql"])
def test_a_described_column_is_a_column_of_that_name(form, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOKEN", "planted-9c1e")
    for name in ALL_NAMES:
        columns = (Column(name, INT), Column("last", Struct((Field("x", INT),))))
        described = Described(Guess("LocalFile", {"path": "in.json", "file_format_type": "json"}), columns)
        if form == "sql" and (MOVES.search(name) or "\n" in name):
            with pytest.raises(JobError, match="PEN1612") as refused:
                as_sql(described, "src")
            assert not MOVES.search(str(refused.value))
            continue
        text = as_hocon(described, "src") if form == "conf" else as_sql(described, "src")
        assert not MOVES.search(text), repr(name)
        if not any("\ud800" <= char <= "\udfff" for char in name):
            assert [column.name for column in columns_of(text, form)] == [name, "last"]
