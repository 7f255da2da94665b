"""The tests' own connector, installed as a third party's would be: by an entry point."""

import sys
from pathlib import Path

import pytest

import connectors

METADATA = "Metadata-Version: 2.1\nName: penstock-pushing\nVersion: 1.0\n"
ENTRY_POINTS = "[penstock.connectors]\nPushing = pushing:connector\n"


@pytest.fixture(scope="session", autouse=True)
def _pushing(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    info = folder / "penstock_pushing-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(METADATA)
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    (folder / "pushing.py").write_text(Path(__file__).with_name("pushing.py").read_text())
    sys.path.append(str(folder))
    _forget()
    yield
    sys.path.remove(str(folder))
    _forget()


def _forget() -> None:
    connectors.forget()
