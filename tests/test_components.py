"""The tables of components in docs/concepts.md name modules, pages and tests that are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/concepts.md"
ROW = re.compile(r"^\| (?P<part>[^|]+) \| `(?P<code>[^`]+)` \| (?P<page>[^|]+) \| `(?P<test>[^`]+)` \|$", re.MULTILINE)


def components() -> str:
    return PAGE.read_text(encoding="utf-8").split("## Components")[1].split("\n## ")[0]


ROWS = list(ROW.finditer(components()))


def test_every_row_of_the_tables_is_read():
    rows = [line for line in components().split("\n") if line.startswith("| ") and not line.startswith("| Part")]
    assert [row[0] for row in ROWS] == rows
    assert len({row["part"] for row in ROWS}) == len(ROWS) > 30


@pytest.mark.parametrize("row", ROWS, ids=[row["part"] for row in ROWS])
def test_a_component_is_where_the_table_says(row):
    code, test = row["code"], ROOT / "tests" / f"{row['test']}.py"
    assert (ROOT / code).is_dir() if code.endswith("/") else (ROOT / f"{code}.py").is_file()
    assert re.search(r"^ *def test_", test.read_text(encoding="utf-8"), re.MULTILINE)
    if row["page"] != "this one":
        page = re.search(rf"^{re.escape(row['page'])}: (\S+)$", components(), re.MULTILINE)
        assert page is not None, f"{row['page']} has no address"
        assert (PAGE.parent / page[1]).is_file()
