"""Connectors are found by the name of their file, and only the one asked for is imported."""

import pytest

import connectors
from connectors.interface.testing.common import check_import, check_options


def test_names_are_those_of_the_files():
    assert set(connectors.names()) >= {"Assert", "Console", "Delta", "FakeSource", "LocalFile", "Spark"}
    for name in connectors.names():
        found = connectors.source(name) or connectors.sink(name)
        assert found.name == name
        assert found is (connectors.source(name.upper()) or connectors.sink(name.upper()))
        package, _, module = type(found).__module__.removesuffix(".connector").rpartition(".")
        assert module.replace("_", "") == name.replace("-", "").lower() or package.partition(".")[0] != "connectors"


def test_unknown_names_and_wrong_kinds():
    assert connectors.source("Nowhere") is None
    assert connectors.sink("FakeSource") is None
    assert connectors.source("Console") is None
    for name in ("base", "filesystem", "file_schema"):  # modules of the package that are no connectors
        assert connectors.source(name) is None


def test_importing_the_connectors_imports_no_driver():
    found = [
        found for name in connectors.names() for found in (connectors.source(name), connectors.sink(name)) if found
    ]
    check_import(*found)


@pytest.mark.parametrize("name", connectors.names())
def test_options_are_documented_and_named_once(name):
    if source := connectors.source(name):
        check_options(source.source_options)
    if sink := connectors.sink(name):
        check_options(sink.sink_options)
