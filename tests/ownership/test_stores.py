"""What each store does in one step, and what `explain` reports where it does less."""

import pytest

from connectors.shared.store_primitives import missing_primitive, primitives_of
from connectors.storage.local_files import LocalFiles
from engine.cli import main
from tests.ownership.model_store import CopyingFiles, ModelFiles, PlainFiles
from tests.ownership.programs import Store

JOB = """
source { FakeSource { plugin_output = t, row.num = 1, schema { fields { id = int } } } }
sink { Console { plugin_input = t } }
"""


def content() -> dict[str, str]:
    return {"/s/a": "1", "/s/b": "2"}


@pytest.mark.parametrize("kind", [ModelFiles, CopyingFiles, PlainFiles])
def test_a_store_behaves_as_its_primitives_say(kind):
    """`renames`: there is no step at which both names, or a part of the files, are there."""
    store, seen = Store(content(), kind), []

    class Observed(kind):
        def ask(self, name, *arguments):
            answer = store.ask(name, *arguments)
            seen.append(frozenset(store.content))
            return answer

    files = Observed()
    files.rename("/s", "/t")
    assert set(store.content) == {"/t/a", "/t/b"}
    is_atomic = set(seen) <= {frozenset(content()), frozenset(store.content)}
    assert is_atomic == kind.primitives.renames
    assert files.write_new("/n", "first")
    assert not files.write_new("/n", "second")
    assert store.content["/n"] == "first"


def test_a_disk_creates_only_what_is_not_there(tmp_path):
    assert LocalFiles.primitives.creates
    assert LocalFiles().write_new(f"{tmp_path}/a", "first")
    assert not LocalFiles().write_new(f"{tmp_path}/a", "second")
    assert LocalFiles().read(f"{tmp_path}/a") == "first"


@pytest.mark.parametrize(("path", "is_named"), [("oss://b/state", True), ("s3a://b/state", False), ("state", False)])
def test_explain_names_a_store_of_the_state_directory_that_lacks_a_primitive(path, is_named, tmp_path, capsys):
    (tmp_path / "job.conf").write_text(JOB)
    assert main(["explain", str(tmp_path / "job.conf"), "--state-dir", path]) == 0
    assert ("state directory: `oss` cannot create" in capsys.readouterr().out) == is_named
    assert (missing_primitive(path) is not None) == is_named


def test_an_unknown_store_has_no_primitives():
    assert not primitives_of("unheard").renames
    assert not primitives_of("unheard").creates
