"""The base of sources and sinks: a class that lacks a required part cannot be instantiated."""

from abc import ABC
from collections.abc import Mapping
from typing import Any, ClassVar

from catalog.plugins import IncompletePluginError
from connectors.support.option import Options


class Connector(ABC):
    """A connector: its name in job files, its description in the reference, and its needs of the Spark session.

    `maven`: coordinates of the jars that it needs; `session_settings`: settings with which the Spark session must be
    started. `required_attributes`: class attributes that a connector of this kind must have.
    """

    name: ClassVar[str]
    doc: ClassVar[str]
    maven: ClassVar[tuple[str, ...]] = ()
    session_settings: ClassVar[Mapping[str, str]] = {}
    required_attributes: ClassVar[tuple[str, ...]] = ("name", "doc")

    def __new__(cls, *_arguments: Any, **_named: Any) -> "Connector":
        """Raises `IncompletePluginError` with all missing parts."""
        wanted = {name for base in cls.__mro__ for name in base.__dict__.get("required_attributes", ())}
        missing = {*cls.__abstractmethods__, *(name for name in wanted if not hasattr(cls, name))}
        if missing:
            raise IncompletePluginError(cls, sorted(missing))
        return super().__new__(cls)

    def jars(self, options: Options) -> tuple[str, ...]:
        """Coordinates of the jars that a block with these options needs."""
        return self.maven
