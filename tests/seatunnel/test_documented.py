"""Every option that SeaTunnel's documentation lists is taken, or refused with a reason."""

import pytest

import connectors
from catalog.compat import Compat
from catalog.diagnostics.diagnostic import Diagnostics
from engine.job.compat.counterparts import COUNTERPARTS, counterpart
from engine.job.compat.documented_options import DOCUMENTED, DOCUMENTED_SINKS, DOCUMENTED_SOURCES
from engine.job.compat.unsupported_options import unsupported_options
from engine.job.load import load_file
from engine.job.model.settings import Settings
from tests.reference import taken_options

PLUGINS = [
    (kind, plugin, names)
    for kind, documented in (("transform", DOCUMENTED), ("source", DOCUMENTED_SOURCES), ("sink", DOCUMENTED_SINKS))
    for plugin, names in documented.items()
]


@pytest.mark.parametrize(("kind", "plugin", "names"), PLUGINS, ids=[f"{kind}-{name}" for kind, name, _ in PLUGINS])
def test_every_documented_option_is_taken_or_refused_with_a_reason(kind, plugin, names):
    documented, refused = set(names.split()), set(unsupported_options(kind, plugin))
    assert documented - taken_options(kind, plugin) <= refused
    assert refused <= documented


def found(tmp_path, block: str, *, compat: bool):
    job = tmp_path / "job.conf"
    job.write_text(f"source {{ {block} }}\nsink {{ Console {{}} }}")
    diagnostics = Diagnostics()
    load_file(job, diagnostics, Settings(compat=Compat.SEATUNNEL_2 if compat else Compat.OFF))
    return [(each.code, each.severity.value, each.help) for each in diagnostics]


FILES = "LocalFile {{ path = in, file_format_type = parquet, {} }}"


def test_an_option_that_changes_rows_is_refused_also_under_the_flag(tmp_path):
    reason = unsupported_options("source", "localfile")["recursive_file_scan"].reason
    block = FILES.format("recursive_file_scan = false")
    for compat in (False, True):
        assert found(tmp_path, block, compat=compat) == [("PEN2003", "error", reason)]


def test_with_its_default_it_is_nothing(tmp_path):
    assert found(tmp_path, FILES.format("recursive_file_scan = true"), compat=True) == []


def test_one_without_effect_is_a_warning_under_the_flag(tmp_path):
    block = 'LocalFile { path = "in", file_format_type = parquet, sort_files_by_modification_time = true }'
    assert [each[:2] for each in found(tmp_path, block, compat=True)] == [("PEN2003", "warning")]
    assert [each[:2] for each in found(tmp_path, block, compat=False)] == [("PEN2003", "error")]


def test_an_unknown_plugin_is_answered_with_what_to_use(tmp_path):
    job = tmp_path / "job.conf"
    job.write_text("source { Oracle-CDC { plugin_output = a } }\nsink { Console {} }")
    diagnostics = Diagnostics()
    load_file(job, diagnostics, Settings(compat=Compat.SEATUNNEL_2))
    (error,) = [each for each in diagnostics if each.code == "PEN2002"]
    assert error.help == COUNTERPARTS["Oracle-CDC"]


def test_what_is_here_needs_no_counterpart():
    assert connectors.source("FakeSource") is not None
    assert counterpart("FakeSource") is None
    assert counterpart("s3-redshift") == COUNTERPARTS["S3-Redshift"]
