"""A query's text in a form that is equal for queries which differ in layout, comments, case and inner names only."""

from collections.abc import Mapping


def meaning(query: str, names: Mapping[str, str]) -> str | None:
    """The canonical text of a query, its inputs called as `names` says; None for a query that cannot be parsed."""
    return None
