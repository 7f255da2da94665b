"""What authors of connectors import, and which optional abilities connectors have."""

import inspect

import pytest

import connectors
from connectors import interface
from connectors.interface import Sink, Source, sink_abilities, source_abilities
from connectors.interface.incremental import INCREMENTAL

ABILITIES = [
    kind
    for module in (source_abilities, sink_abilities)
    for name, kind in inspect.getmembers(module, inspect.isclass)
    if name.startswith("Supports")
]


def test_all_that_is_exported_is_listed():
    public = {name for name, value in vars(interface).items() if name[0] != "_" and not inspect.ismodule(value)}
    assert set(interface.__all__) == public - {"Final"}


def test_every_ability_is_exported():
    assert {kind.__name__ for kind in ABILITIES} <= set(interface.__all__)


def test_every_type_of_a_column_is_exported():
    from catalog.types import datatypes

    exported = [getattr(interface, name) for name in interface.__all__]
    missing = [
        name for name, value in vars(datatypes).items()
        if name.isupper() and isinstance(value, datatypes.DataType) and value not in exported
    ]  # fmt: skip
    assert missing == []


@pytest.mark.parametrize("kind", [Source, Sink])
def test_no_optional_ability_is_a_method_of_source_or_sink(kind):
    abilities = {
        name for ability in ABILITIES for name, value in vars(ability).items() if inspect.isfunction(value)
    } - {"read"}
    assert abilities & set(dir(kind)) == set()


@pytest.mark.parametrize("name", connectors.names())
def test_options_and_abilities_agree(name):
    source = connectors.source(name)
    options = {option.name for option in source.source_options} if source else set()
    assert (INCREMENTAL.name in options) == isinstance(source, source_abilities.SupportsIncremental)


@pytest.mark.parametrize("name", connectors.names())
def test_a_method_of_an_ability_is_not_defined_without_it(name):
    """Such a method would never be called."""
    for found in filter(None, (connectors.source(name), connectors.sink(name))):
        for ability in ABILITIES:
            methods = {key for key, value in vars(ability).items() if inspect.isfunction(value)} - {"read"}
            own = {method for method in methods if hasattr(found, method)}
            assert not own or isinstance(found, ability), (name, ability.__name__, own)
