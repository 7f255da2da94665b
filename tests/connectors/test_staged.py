"""What a write leaves in the journal: a round trip without its secrets, and refused where its shape differs."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import pytest

import connectors
from catalog.diagnostics.diagnostic import RunError
from catalog.options import Options
from connectors.shared.staged import Staged, secret, secret_mapping


class Mode(str, Enum):
    ADD = "add"
    REPLACE = "replace"


@dataclass(frozen=True, slots=True)
class Inner(Staged):
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Example(Staged):
    name: str
    count: int
    mode: Mode
    inner: Inner
    optional: str | None
    share: float
    is_new: bool
    settings: Mapping[str, str]
    owner: Mapping[str, Any]
    parts: tuple[Inner, ...] = ()
    password: str = secret("")
    options: Mapping[str, str] = secret_mapping()


EXAMPLE = Example(
    "a",
    3,
    Mode.REPLACE,
    Inner(("x", "y")),
    None,
    0.5,
    True,
    {"k": "v"},
    {"pid": 1, "host": None},
    (Inner(()),),
    password="sesame",
    options={"pwd": "sesame"},
)


def test_round_trip_without_secrets():
    record = EXAMPLE.to_json()
    assert "sesame" not in repr(record) + repr(EXAMPLE)
    read = Example.from_json(record)
    assert read.password == ""
    assert read.options == {}
    assert read.to_json() == record
    assert read.mode is Mode.REPLACE
    assert read.inner == Inner(("x", "y"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"more": 1}, "unknown field `more`"),
        ({"password": "x"}, "unknown field `password`"),
        ({"name": None}, "the value of `name`"),
        ({"count": "3"}, "the value of `count`"),
        ({"count": True}, "the value of `count`"),
        ({"mode": "drop"}, "the value of `mode`"),
        ({"settings": []}, "the value of `settings`"),
        ({"inner": {"files": ["x", 1]}}, "the value of `files`"),
        ({"optional": 3}, "the value of `optional`"),
    ],
)
def test_a_record_of_another_shape_is_refused(change, said):
    with pytest.raises(RunError) as caught:
        Example.from_json(EXAMPLE.to_json() | change)
    (error,) = caught.value.diagnostics
    assert error.code == "PEN5011"
    assert said in error.message
    assert "--resume" in error.help


def test_a_record_that_lacks_a_field_is_refused():
    record = EXAMPLE.to_json()
    del record["share"]
    with pytest.raises(RunError, match="it lacks the field `share`"):
        Example.from_json(record)


def test_every_sink_has_a_staged_class_that_can_be_read_back():
    for name in connectors.sink_names():
        kind = connectors.sink(name).staged_type
        assert issubclass(kind, Staged)
        with pytest.raises(RunError, match="unknown field"):
            kind.from_json({"of another version": 1})


def test_typed_options():
    values = {"n": 3, "f": 1.5, "none": None, "mode": "REPLACE", "flag": True, "m": {"a": {"b": True}, "c": 1}}
    options = Options(values)
    assert options.optional_integer("n") == 3
    assert options.optional_integer("none") is None
    assert (options.number("n"), options.number("f"), options.optional_number("none")) == (3.0, 1.5, None)
    assert options.choice("mode", Mode) is Mode.REPLACE
    assert options.texts_by_key("m") == {"a.b": "true", "c": "1"}
    wrong = ((options.integer, "flag"), (options.number, "flag"), (options.integer, "f"), (options.string, "n"))
    for read, name in wrong:
        with pytest.raises(TypeError, match=f"option {name} is no"):
            read(name)
    with pytest.raises(TypeError, match="is no Mode"):
        Options({"mode": "other"}).choice("mode", Mode)
