"""The base of sources and sinks: a class that lacks a required part cannot be instantiated."""

from abc import ABC
from collections.abc import Mapping
from inspect import Parameter, Signature, getattr_static, signature
from types import FunctionType
from typing import Any, ClassVar

from catalog.options import Options
from catalog.plugins import IncompletePluginError
from connectors.shared.staged import Credentials


class Connector(ABC):
    """A connector: its name in job files, its description in the reference, and its needs of the Spark session.

    `maven`: coordinates of the jars that it needs; `requirements`: the Python packages without which a run does not
    start, as pip names them (`pyarrow>=17`); `session_settings`: settings with which the Spark session must be started.
    `tested_against`: the servers that the tests run it against, empty if there is none, None for a connector without a
    server. `experimental`: the servers that no test runs it against. `required_attributes`: class attributes that a
    connector of this kind must have.
    """

    name: ClassVar[str]
    doc: ClassVar[str]
    maven: ClassVar[tuple[str, ...]] = ()
    requirements: ClassVar[tuple[str, ...]] = ()
    session_settings: ClassVar[Mapping[str, str]] = {}
    tested_against: ClassVar[tuple[str, ...] | None] = None
    experimental: ClassVar[tuple[str, ...]] = ()
    required_attributes: ClassVar[tuple[str, ...]] = ("name", "doc")

    def __new__(cls, *_arguments: Any, **_named: Any) -> "Connector":
        """Raises `IncompletePluginError` with all missing parts, and methods of other parameters than the base's."""
        wanted = {name for base in cls.__mro__ for name in base.__dict__.get("required_attributes", ())}
        missing = {*cls.__abstractmethods__, *(name for name in wanted if not hasattr(cls, name))}
        if missing or (incompatible := _incompatible_overrides(cls)):
            raise IncompletePluginError(cls, sorted(missing), {} if missing else incompatible)
        return super().__new__(cls)

    @property
    def tests(self) -> str:
        """What the tests run it against, as a sentence; empty for a connector without a server."""
        if self.tested_against is None:
            return ""
        against = ", ".join(self.tested_against)
        tests = f"Tested against {against}." if against else "Not tested against a server."
        return f"{tests} Experimental, without tests: {', '.join(self.experimental)}." if self.experimental else tests

    def packages(self, *, is_written: bool) -> tuple[str, ...]:
        """The Python packages that a source needs, or a sink (`is_written`): those of `requirements`."""
        return self.requirements

    def jars(self, options: Options) -> tuple[str, ...]:
        """Coordinates of the jars that a block with these options needs."""
        return self.maven

    def needs(self, options: Options) -> tuple[str, ...]:
        """Notes for `explain` on what a block with these options needs except Spark, such as the jars of its path."""
        return ()

    def credentials(self, options: Options) -> Credentials:
        """The secrets of a block, by what they open: with them this session ends killed runs, whose journals have none.

        The records of the connector (`Staged`) find theirs by `credentials_key`.
        """
        return {}

    def completed(self, options: Options) -> Options:
        """The options of a block with those that other spellings of them imply; done once, when it is checked."""
        return options


def _incompatible_overrides(kind: type) -> dict[str, str]:
    """Methods that cannot be called as those that they override: how they are written, by how they are called."""
    found = {}
    for base in kind.__mro__:
        if not _is_interface(base):
            continue
        for name, method in base.__dict__.items():
            own = getattr_static(kind, name)
            if own is method or not isinstance(own, FunctionType) or not isinstance(method, FunctionType):
                continue
            wanted, given = signature(method), signature(own)
            parameters = wanted.parameters.values()
            named = {of.name: None for of in parameters if of.kind is Parameter.KEYWORD_ONLY}
            try:
                given.bind(*[None] * (len(parameters) - len(named)), **named)
            except TypeError:
                found[_shown(name, wanted)] = _shown(name, given)
    return found


def _is_interface(kind: type) -> bool:
    """Whether it is one of the classes of this package that connectors implement, not an implementation."""
    return kind.__module__.startswith(f"{__package__}.")


def _shown(name: str, of: Signature) -> str:
    bare = [parameter.replace(annotation=Parameter.empty) for parameter in of.parameters.values()]
    return f"{name}{of.replace(parameters=bare, return_annotation=Signature.empty)}"
