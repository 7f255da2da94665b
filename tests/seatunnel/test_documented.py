"""Every option that SeaTunnel's documentation lists is taken, or refused with a reason."""

import pytest

import connectors
from catalog.diagnostics import Diagnostics
from engine.job.counterparts import COUNTERPARTS, counterpart
from engine.job.documented_options import DOCUMENTED, DOCUMENTED_SOURCES, REFUSED
from engine.job.load import load
from engine.transforms import transform


@pytest.mark.parametrize("name", DOCUMENTED)
def test_every_documented_option_is_taken_or_refused(name):
    found = transform(name)
    assert found is not None
    taken = {spelling for option in found.options for spelling in (option.name, *option.alternatives)}
    refused = {option for each, option in REFUSED if each == name}
    documented = set(DOCUMENTED[name].split())
    assert documented - taken == refused
    assert refused <= documented


@pytest.mark.parametrize("name", DOCUMENTED_SOURCES)
def test_every_documented_option_of_a_source_is_taken(name):
    found = connectors.source(name)
    assert found is not None
    taken = {spelling for option in found.source_options for spelling in (option.name, *option.alternatives)}
    assert set(DOCUMENTED_SOURCES[name].split()) <= taken


def test_an_unknown_plugin_is_answered_with_what_to_use(tmp_path):
    job = tmp_path / "job.conf"
    job.write_text("source { MySQL-CDC { plugin_output = a } }\nsink { Console {} }")
    diagnostics = Diagnostics()
    load(job, diagnostics, seatunnel=True)
    (error,) = [each for each in diagnostics if each.code == "PEN2002"]
    assert error.help == COUNTERPARTS["MySQL-CDC"]


def test_what_is_here_needs_no_counterpart():
    assert connectors.source("FakeSource") is not None
    assert counterpart("FakeSource") is None
    assert counterpart("s3-redshift") == COUNTERPARTS["S3-Redshift"]
