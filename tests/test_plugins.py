"""Plugins of other distributions: found by their entry points, and a clear fault where one leads nowhere."""

import pytest

import connectors
from catalog.diagnostics import InternalError
from catalog.plugins import Plugins
from engine import transforms


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Installs a distribution whose entry points are given as `group: {name: place}`; modules as `name: text`."""

    def install(points, modules):
        info = tmp_path / "others-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: others\nVersion: 1.0\n")
        lines = [f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in each.items()) for group, each in points.items()]
        (info / "entry_points.txt").write_text("\n".join(lines))
        for name, text in modules.items():
            (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        forget()

    yield install
    monkeypatch.undo()
    forget()


def forget():
    connectors.forget()
    transforms.plugins.forget()


def test_the_packages_own_win(installed):
    installed({"penstock.connectors": {"Console": "nowhere:connector"}}, {})
    assert connectors.sink("console").name == "Console"


@pytest.mark.parametrize(
    ("place", "code", "said"),
    [
        ("not_there:x", "PEN9003", "cannot be imported"),
        ("broken_plugin:x", "PEN9003", "cannot be imported: no such luck"),
        ("empty_plugin:x", "PEN9001", "which is no"),
    ],
)
@pytest.mark.parametrize(
    ("group", "look_up"), [("penstock.connectors", connectors.source), ("penstock.transforms", transforms.transform)]
)
def test_an_entry_point_that_leads_nowhere(installed, group, look_up, place, code, said):
    installed(
        {group: {"Others": place}}, {"broken_plugin": "raise RuntimeError('no such luck')", "empty_plugin": "x = 1\n"}
    )
    with pytest.raises(InternalError) as caught:
        look_up("others")
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == code
    assert said in diagnostic.message
    assert "`Others`" in diagnostic.message


def test_names_fold_case_and_underscores():
    assert transforms.transform("field_mapper") is transforms.transform("FieldMapper")


def test_what_is_no_plugin_is_passed_over():
    numbers = Plugins(
        "number", "connectors", connectors.__path__, "penstock.none", lambda found: isinstance(found, int)
    )
    assert numbers.all() == ()
