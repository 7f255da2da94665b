"""Text of a selection -> criteria and set operations, as dbt reads it.

A blank is a union, a comma an intersection, `+` before and after a criterion takes ancestors and descendants, `2+` as
many steps, `@` the descendants and all that they depend on. `METHOD:VALUE` names the method; without one, a value with
`/` is a path, one that ends like a job file is a file name, and any other a qualified name.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from catalog.diagnostics.diagnostic import did_you_mean, job_error
from catalog.diagnostics.source import Span

_CRITERION: Final = re.compile(
    r"(?P<at>@)?(?P<parents>(?P<parents_depth>\d*)\+)?(?:(?P<method>[\w.]+):)?(?P<value>.*?)"
    r"(?P<children>\+(?P<children_depth>\d*))?"
)
METHODS: Final = ("fqn", "path", "file", "tag", "owner", "source", "package", "config", "state", "result", "selector")
_FILE_SUFFIXES: Final = (".sql", ".conf", ".hocon", ".json", ".py", ".csv")


@dataclass(frozen=True, slots=True)
class Criterion:
    """One criterion. `parents`, `children`: whether and how many steps of them are taken, None for all of them."""

    method: str
    arguments: tuple[str, ...]
    value: str
    takes_parents: bool = False
    parents_depth: int | None = None
    takes_children: bool = False
    children_depth: int | None = None
    takes_childrens_parents: bool = False


@dataclass(frozen=True, slots=True)
class AnyOf:
    parts: tuple["Selection", ...]


@dataclass(frozen=True, slots=True)
class AllOf:
    parts: tuple["Selection", ...]


@dataclass(frozen=True, slots=True)
class Without:
    chosen: "Selection"
    excluded: "Selection"


Selection: TypeAlias = Criterion | AnyOf | AllOf | Without
EVERYTHING: Final = AnyOf((Criterion("fqn", (), "*"), Criterion("source", (), "*")))


def parse_arguments(select: Iterable[str] | None, exclude: Iterable[str] = ()) -> Selection:
    """The selection of `--select` and `--exclude`; without `--select`, everything. Raises a `JobError` PEN2701."""
    chosen = EVERYTHING if select is None else parse_selection(select)
    excluded = parse_selection(exclude)
    return Without(chosen, excluded) if excluded.parts else chosen


def parse_selection(texts: Iterable[str], span: Span | None = None) -> AnyOf:
    parts = (part for text in texts for part in text.split(" "))
    return AnyOf(tuple(AllOf(tuple(criterion(one, span) for one in part.split(","))) for part in parts))


def criterion(text: str, span: Span | None = None) -> Criterion:
    match = _CRITERION.fullmatch(text)
    if match is None:
        raise job_error("PEN2701", f"`{text}` is no selection", span, "such as `+orders`, `tag:daily` or `path:jobs/a`")
    if match["at"] and match["children"]:
        help = "`@` takes descendants already: leave `+` out"
        raise job_error("PEN2701", f"`{text}` has both `@` and `+`", span, help)
    method, *arguments = (match["method"] or _method_of(match["value"])).split(".")
    if method not in METHODS:
        raise job_error("PEN2701", f"there is no selection method `{method}`", span, did_you_mean(method, METHODS))
    return Criterion(
        method,
        tuple(arguments),
        match["value"],
        match["parents"] is not None,
        _depth(match["parents_depth"]),
        match["children"] is not None,
        _depth(match["children_depth"]),
        match["at"] is not None,
    )


def _method_of(value: str) -> str:
    if "/" in value:
        return "path"
    return "file" if value.lower().endswith(_FILE_SUFFIXES) else "fqn"


_MOST_DIGITS: Final = 9
"""Of the steps to a job's parents or children: no project has as many."""


def _depth(digits: str | None) -> int | None:
    return int(digits[-_MOST_DIGITS:]) if digits else None


def parse_definition(definition: object, span: Span | None) -> Selection:
    """A named selector of `penstock.conf`: a text, `{ union = […] }`, `{ intersection = […] }`, or `{ method, value }`
    with `parents`, `children`, their depths, `childrens_parents` and `exclude`."""
    match definition:
        case str():
            return parse_selection([definition], span)
        case list():
            return _of_list(definition, AnyOf, span)
        case {"union": list(parts), **rest} if not rest:
            return _of_list(parts, AnyOf, span)
        case {"intersection": list(parts), **rest} if not rest:
            return _of_list(parts, AllOf, span)
        case Mapping() if {"method", "value"} <= definition.keys():
            return _of_mapping(definition, span)
        case _:
            help = 'a text, `{ union = […] }`, `{ intersection = […] }` or `{ method = "tag", value = "daily" }`'
            raise job_error("PEN2701", "this is no selector", span, help)


def _of_list(parts: list[object], kind: type[AnyOf] | type[AllOf], span: Span | None) -> Selection:
    excluded = [part["exclude"] for part in parts if isinstance(part, Mapping) and part.keys() == {"exclude"}]
    chosen = [part for part in parts if not (isinstance(part, Mapping) and part.keys() == {"exclude"})]
    whole: Selection = kind(tuple(parse_definition(part, span) for part in chosen))
    for part in excluded:
        whole = Without(whole, parse_definition(part, span))
    return whole


def _of_mapping(definition: Mapping[str, object], span: Span | None) -> Selection:
    def depth(name: str) -> str:
        return str(definition.get(f"{name}_depth", "")) if definition.get(name) else ""

    before = f"{depth('parents')}+" if definition.get("parents") else ""
    after = f"+{depth('children')}" if definition.get("children") else ""
    at = "@" if definition.get("childrens_parents") else ""
    found = criterion(f"{at}{before}{definition['method']}:{definition['value']}{after}", span)
    excluded = definition.get("exclude")
    return found if excluded is None else Without(found, parse_definition(excluded, span))
