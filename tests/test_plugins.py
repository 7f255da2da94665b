"""Plugins of other distributions: found by their entry points, and a clear error where one leads nowhere."""

import sys

import pytest

import connectors
from catalog.diagnostics.diagnostic import InternalError
from catalog.plugins import Plugins
from engine import transforms
from engine.cli import main


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


HALF_SINK = """
from connectors.interface.sink import Sink

class Half(Sink):
    name = "Half"
    doc = "Stages rows and never commits them."
    sink_options = ()

    def validate(self, options, table, diagnostics): ...
    def inspect(self, spark, task): ...
    def prepare(self, spark, task, actions): ...
    def stage(self, spark, df, task, prepared): ...
    def abort(self, spark, staged, run): ...

connector = Half()
"""
OTHER_PARAMETERS = (
    HALF_SINK.replace(
        "sink_options = ()",
        "sink_options = ()\n    sink_capabilities = SinkCapabilities((), ())\n    staged_type = Staged",
    )
    .replace("import Sink", "import Sink, SinkCapabilities\nfrom connectors.shared.staged import Staged")
    .replace(
        "def abort(self, spark, staged, run)", "def commit(self, spark): ...\n    def abort(self, staged, *, force)"
    )
)
HALF_SOURCE = """
from connectors.interface.source import Source, SourceCapabilities

class Half(Source):
    name = "Half"
    source_options = ()
    source_capabilities = SourceCapabilities()
    def tables(self, options, diagnostics): return ()

connector = Half()
"""
ALIKE = "class Half:\n    name = doc = 'Half'\n    def commit(self, spark, staged, run): ...\nconnector = Half()\n"
JOB = "source { FakeSource { row.num = 1, schema { fields { id = int } } } }\nsink { Half {} }\n"


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        (HALF_SINK, "connector", "is incomplete: the class `Half` lacks `commit`, `sink_capabilities`, `staged_type`"),
        (HALF_SOURCE, "connector", "is incomplete: the class `Half` lacks `doc`, `read`"),
        (
            OTHER_PARAMETERS,
            "connector",
            "the class `Half` has `commit(self, spark)`, which is called as `commit(self, spark, staged, run)`; "
            "it has `abort(self, staged, *, force)`, which is called as `abort(self, spark, staged, run)`",
        ),
        (ALIKE, "connector", "which is not a connector"),
        (HALF_SINK.replace("connector = Half()", ""), "Half", "which is not a connector"),
    ],
)
def test_an_incomplete_connector_is_refused(installed, text, place, said):
    installed({"penstock.connectors": {"Half": f"half_{place.lower()}:{place}"}}, {f"half_{place.lower()}": text})
    sys.modules.pop(f"half_{place.lower()}", None)
    for look_up in (connectors.source, connectors.sink, lambda name: connectors.names()):
        with pytest.raises(InternalError) as caught:
            look_up("half")
        (error,) = caught.value.diagnostics
        assert error.code == "PEN9001"
        assert said in error.message


def test_an_incomplete_connector_of_our_own_is_refused(tmp_path, monkeypatch):
    (tmp_path / "half_package").mkdir()
    (tmp_path / "half_package" / "__init__.py").write_text("")
    (tmp_path / "half_package" / "half.py").write_text(HALF_SINK)
    monkeypatch.syspath_prepend(tmp_path)
    found = Plugins(
        "connector", "half_package", [str(tmp_path / "half_package")], "penstock.none", connectors._is_connector
    )
    with pytest.raises(InternalError, match=r"`half` of `half_package.half` is incomplete: .* lacks `commit`"):
        found.get("half")


def test_a_class_instead_of_an_object_is_refused(tmp_path, monkeypatch):
    (tmp_path / "class_package").mkdir()
    (tmp_path / "class_package" / "__init__.py").write_text("")
    (tmp_path / "class_package" / "half.py").write_text(HALF_SINK.replace("= Half()", "= Half"))
    monkeypatch.syspath_prepend(tmp_path)
    found = Plugins(
        "connector", "class_package", [str(tmp_path / "class_package")], "penstock.none", connectors._is_connector
    )
    with pytest.raises(InternalError, match=r"`class_package.half.connector` is not a connector") as caught:
        found.get("half")
    assert "make it an object" in caught.value.diagnostics[0].help


def test_a_job_with_an_incomplete_sink_does_not_validate(installed, tmp_path, capsys):
    installed({"penstock.connectors": {"Half": "half_of_job:connector"}}, {"half_of_job": HALF_SINK})
    (tmp_path / "job.conf").write_text(JOB)
    assert main(["validate", str(tmp_path / "job.conf")]) != 0
    printed = capsys.readouterr()
    assert "lacks `commit`" in printed.out + printed.err
