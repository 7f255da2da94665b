"""Codes that once had several meanings are raised only where they have their first one."""

from pathlib import Path

import pytest

from catalog.diagnostics.codes import CODES

ROOT = Path(__file__).parents[3]
RAISED_IN = {
    "PEN5007": {
        "connectors/files/committing/target_lock.py",
        "connectors/jdbc/writing/staging.py",
        "engine/state/recorded_runs.py",
    },
    "PEN5008": {"engine/spark/writing/recover.py"},
    "PEN3002": {"engine/plan/building/build_plan.py", "sql"},
}
"""By code: the modules or packages that may have it."""


def modules_with(code: str) -> set[str]:
    """The modules whose text has the code as a string, but the table of codes and the suites for other connectors."""
    found = set()
    for package in ("catalog", "sql", "connectors", "engine"):
        for path in (ROOT / package).rglob("*.py"):
            name = path.relative_to(ROOT).as_posix()
            is_other = name.endswith("diagnostics/codes.py") or name.startswith("connectors/interface/testing/")
            if not is_other and f'"{code}"' in path.read_text(encoding="utf-8"):
                found.add(name)
    return found


@pytest.mark.parametrize("code", RAISED_IN)
def test_a_code_has_one_meaning(code):
    assert code in CODES
    found = {name if name in RAISED_IN[code] else name.partition("/")[0] for name in modules_with(code)}
    assert found == RAISED_IN[code]
