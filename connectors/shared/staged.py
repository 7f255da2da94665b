"""The base class for a journal's record of a write: a frozen dataclass that is stored as JSON.

    @dataclass(frozen=True, slots=True)
    class TableStaged(Staged):
        staging_table: str
        columns: tuple[str, ...]
        password: str = secret("")

`to_json` omits secrets; `from_json` refuses a record with other fields or types, since a commit relies on all of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Final, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

from catalog.diagnostics.diagnostic import run_error
from catalog.options import Value

Credentials: TypeAlias = Mapping[str, Mapping[str, str]]
"""The secrets of the jobs of a session, by the `credentials_key` of what they open."""

S = TypeVar("S", bound="Staged")
T = TypeVar("T")

_SECRET: Final = "penstock.secret"
_ATOMS: Final = (bool, int, float, str)


@dataclass(frozen=True, slots=True)
class Staged:
    """What a write has staged or is about to stage: another process can commit or abort it from this record alone.

    Fields are `bool`, `int`, `float`, `str`, an `Enum` of texts, another `Staged`, `tuple[T, ...]`, `Mapping[str, T]`,
    `Any` for JSON of any shape, or one of these or None.
    """

    def to_json(self) -> dict[str, Value]:
        """The fields for the journal, without the secrets."""
        return {field_.name: _to_json(getattr(self, field_.name)) for field_ in fields(self) if not is_secret(field_)}

    @property
    def credentials_key(self) -> str | None:
        """What the field `secrets` opens; None for a record without such a field."""
        return None

    def with_credentials(self: S, known: Credentials) -> S:
        """The record of a killed run with the secrets that a job of this session names for the same place."""
        changed: dict[str, Any] = {}
        for part in fields(self):
            value = getattr(self, part.name)
            if isinstance(value, Staged) and (opened := value.with_credentials(known)) is not value:
                changed[part.name] = opened
        key = self.credentials_key
        if key is not None and key in known and not getattr(self, "secrets", None):
            changed["secrets"] = known[key]
        return replace(self, **changed) if changed else self

    @classmethod
    def from_json(cls: type[S], record: Mapping[str, Any]) -> S:
        """Read a record of the journal; secrets get their defaults. Raises PEN5011 for a record of another shape."""
        types = get_type_hints(cls)
        known = {field_.name: field_ for field_ in fields(cls) if not is_secret(field_)}
        required = {
            name for name, field_ in known.items() if field_.default is MISSING and field_.default_factory is MISSING
        }
        if unknown := sorted(set(record) - set(known)):
            raise _unreadable(cls, f"it has the unknown field `{unknown[0]}`")
        if missing := sorted(required - set(record)):
            raise _unreadable(cls, f"it lacks the field `{missing[0]}`")
        values = {}
        for name, value in record.items():
            try:
                values[name] = _from_json(value, types[name])
            except (TypeError, ValueError) as cause:
                raise _unreadable(cls, f"the value of `{name}` is not of type {types[name]}") from cause
        return cls(**values)


def secret(default: T) -> T:
    """A field that the journal, logs and the repr omit: a commit in the same process has its value, one in another
    process the default."""
    found: T = field(default=default, repr=False, metadata={_SECRET: True})
    return found


def secret_mapping() -> Any:
    """A secret field of type `Mapping`, empty where it is not known."""
    return field(default_factory=dict, repr=False, metadata={_SECRET: True})


def is_secret(declared: Any) -> bool:
    """Whether a dataclass field is kept out of the journal."""
    return bool(declared.metadata.get(_SECRET))


def _unreadable(kind: type, reason: str) -> Exception:
    help = "end the run with the version of Penstock that began it: `penstock run --resume <run id>`"
    return run_error("PEN5011", f"a journal entry cannot be read as {kind.__name__}: {reason}", None, help)


def _to_json(value: Any) -> Value:
    match value:
        case Staged():
            return value.to_json()
        case Enum():
            return str(value.value)
        case Mapping():
            return {str(key): _to_json(item) for key, item in value.items()}
        case list() | tuple():
            return [_to_json(item) for item in value]
        case None | bool() | int() | float() | str():
            return value
    raise TypeError(f"{type(value).__name__} is no type of a journal entry")


def _from_json(value: Any, kind: Any) -> Any:
    """The value as `kind`; raises TypeError or ValueError where it is not."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _from_union(value, arguments)
    if origin is tuple:
        return tuple(_from_json(item, arguments[0]) for item in _checked(value, list))
    if origin is not None and issubclass(origin, Mapping):
        return {key: _from_json(item, arguments[1]) for key, item in _checked(value, dict).items()}
    if origin is not None and issubclass(origin, Sequence):
        return [_from_json(item, arguments[0]) for item in _checked(value, list)]
    if isinstance(kind, type) and issubclass(kind, Staged):
        return kind.from_json(_checked(value, dict))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value)
    if kind in _ATOMS or kind is NoneType:
        return _atom(value, kind)
    return value  # Any


def _from_union(value: Any, kinds: Sequence[Any]) -> Any:
    for kind in kinds:
        try:
            return _from_json(value, kind)
        except (TypeError, ValueError):
            continue
    raise TypeError(value)


def _atom(value: Any, kind: type) -> Any:
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:  # bool is a subclass of int, but not accepted as one
        raise TypeError(value)
    return value


def _checked(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise TypeError(value)
    return value
