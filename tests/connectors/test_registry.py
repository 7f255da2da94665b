"""Connectors are found by the name of their file, and only the one asked for is imported."""

import subprocess
import sys

import pytest

import connectors
from connectors.interface.sink import Sink
from connectors.interface.source import Source


def test_names_are_those_of_the_files():
    assert set(connectors.names()) >= {"Assert", "Console", "Delta", "FakeSource", "LocalFile", "Spark"}
    for name in connectors.names():
        found = connectors.source(name) or connectors.sink(name)
        assert found.name == name
        assert found is (connectors.source(name.upper()) or connectors.sink(name.upper()))
        package, _, module = type(found).__module__.removesuffix(".connector").rpartition(".")
        assert module.replace("_", "") == name.lower() or package.partition(".")[0] != "connectors"


def test_unknown_names_and_wrong_kinds():
    assert connectors.source("Nowhere") is None
    assert connectors.sink("FakeSource") is None
    assert connectors.source("Console") is None
    for name in ("base", "filesystem", "file_schema"):  # modules of the package that are no connectors
        assert connectors.source(name) is None


@pytest.mark.parametrize("name", ["Assert", "Console", "Delta", "FakeSource", "LocalFile", "Spark"])
def test_importing_a_connector_imports_no_driver(name):
    code = (
        "import sys, connectors;"
        f"assert connectors.source({name!r}) or connectors.sink({name!r});"
        "heavy = {m.split('.')[0] for m in sys.modules} & {'pyspark', 'py4j', 'pyarrow', 'pandas', 'delta'};"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", ["Assert", "Console", "Delta", "FakeSource", "LocalFile", "Spark"])
def test_option_names_are_reported_apart(name):
    for connector in (connectors.source(name), connectors.sink(name)):
        options = getattr(connector, "source_options", ()) if isinstance(connector, Source) else ()
        for spec in (options, connector.sink_options if isinstance(connector, Sink) else ()):
            spelled = [each for option in spec for each in (option.name, *option.alternatives)]
            assert len(spelled) == len(set(spelled))
            assert all(option.doc for option in spec)
