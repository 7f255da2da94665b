"""JSON paths that Spark cannot take; the values are those of Jayway's JsonPath, which SeaTunnel uses."""

import json

import pytest

from engine.functions.json_queries import PathError, find_at, parse

STORE = {
    "store": {
        "book": [
            {"title": "Sayings", "price": 8.95, "isbn": "0-1", "tags": ["old", "short"]},
            {"title": "Sword", "price": 12.99, "tags": []},
            {"title": "Moby", "price": 5, "isbn": "0-3"},
        ],
        "bicycle": {"price": 19.95, "color": None},
    },
    "limit": 10,
}
CASES = {
    "$.store.book[?(@.price < 10)].title": ["Sayings", "Moby"],
    "$.store.book[?(@.price < $.limit)].title": ["Sayings", "Moby"],
    "$.store.book[?(@.isbn)].title": ["Sayings", "Moby"],
    "$.store.book[?(!@.isbn)].title": ["Sword"],
    "$.store.book[?(@.title == 'Sword')].price": [12.99],
    '$.store.book[?(@.title != "Sword" && @.price > 5)].title': ["Sayings"],
    "$.store.book[?(@.price < 6 || (@.price > 9 && @.title =~ /sw.*/i))].title": ["Sword", "Moby"],
    "$.store.book[?(@.title in ['Moby', 'Sword'])].title": ["Sword", "Moby"],
    "$.store.book[?(@.title nin ['Moby'])].title": ["Sayings", "Sword"],
    "$.store.book[?(@.tags contains 'old')].title": ["Sayings"],
    "$.store.book[?(@.tags empty true)].title": ["Sword"],
    "$.store.book[?(@.tags size 2)].title": ["Sayings"],
    "$.store.book[?(@.price == '5')].title": ["Moby"],
    "$.store.book[?(@.price > 'a')].title": [],
    "$..price": [8.95, 12.99, 5, 19.95],
    "$..book[0].title": ["Sayings"],
    "$..[?(@.price > 12)].price": [12.99, 19.95],
    "$.store.book[0:2].title": ["Sayings", "Sword"],
    "$.store.book[1:].title": ["Sword", "Moby"],
    "$.store.book[-2:].title": ["Sword", "Moby"],
    "$.store.book[0, 2].title": ["Sayings", "Moby"],
    "$.store.book[-1].title": "Moby",
    "$.store.book[9, 0].title": ["Sayings"],
    "$.store.book[0]['title', 'price']": {"title": "Sayings", "price": 8.95},
    "$.store.bicycle.*": [19.95, None],
    "$.store.book.length()": 3,
    "$..price.max()": 19.95,
    "$.store.bicycle.keys()": ["price", "color"],
    "$.nothing[?(@.a == 1)]": [],
}


@pytest.mark.parametrize("path", CASES)
def test_finds(path):
    assert json.loads(find_at(json.dumps(STORE), path)) == CASES[path]


@pytest.mark.parametrize("path", ["$.store.book[-9]", "$.store.nothing.length()", "$.limit.length()"])
def test_a_missing_value_is_none(path):
    assert find_at(json.dumps(STORE), path) is None


def test_a_text_that_is_no_json_has_nothing():
    assert find_at("{", "$..a") is None
    assert find_at(None, "$..a") is None
    assert find_at("{}", None) is None


NO_PATHS = [
    "store", "$.a[", "$.a[?(@.b < 1]", "$.a[?(@.b ~ 1)]", "$.a b", "$[?(@.a == )]", "$.a[?(@.a == 'x)]", "$..",
    "$.a.nope()",
]  # fmt: skip


@pytest.mark.parametrize("path", NO_PATHS)
def test_a_path_that_cannot_be_read_is_refused(path):
    with pytest.raises(PathError):
        parse(path)
