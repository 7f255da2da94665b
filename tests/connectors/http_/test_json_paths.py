"""JSON paths: what they select, and which are refused."""

import pytest

from connectors.http_.json_paths import is_json_path, values_at

STORE = {
    "store": {"book": [{"title": "a", "price": 1}, {"title": "b"}], "bicycle": {"color": "red"}},
    "odd name": [[1, 2], [3]],
}


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("$", [STORE]),
        ("$.store.book[*].title", ["a", "b"]),
        ("$.store.book.*.title", ["a", "b"]),
        ("$.store.book[*].price", [1, None]),
        ("$.store.book[0].title", ["a"]),
        ("$.store.book[-1].title", ["b"]),
        ("$.store.book[7].title", []),
        ("$.store.book[1:]", [{"title": "b"}]),
        ("$.store.bicycle.*", ["red"]),
        ("$['odd name'][*][*]", [1, 2, 3]),
        ('$["odd name"][0]', [[1, 2]]),
        ("$..title", ["a", "b"]),
        ("$..price", [1]),
        ("$.none.title", []),
        ("$.none", [None]),
    ],
)
def test_values(path, values):
    assert values_at(STORE, path) == values


@pytest.mark.parametrize("path", ["store", "$.store.book[?(@.price > 1)]", "$.a.length()", "$.", "$a", "$.a["])
def test_what_is_no_path(path):
    assert not is_json_path(path)
    with pytest.raises(ValueError, match="no JSON path"):
        values_at(STORE, path)
