"""Requests of the Http source to a service on this machine, and the rows of its responses."""

import json
import socket

import pytest

from catalog.diagnostics.diagnostic import RunError
from connectors.http_.connector import connector
from connectors.http_.http_pages import row_texts
from engine.runtime.transient import is_transient

pytest.importorskip("pyspark")
from tests.connectors.given_options import options_of
from tests.connectors.http_.service import service


def rows(url, *, column=None, **given):
    given = {"retry": 0, **given, "url": url}
    return [json.loads(text) for text in row_texts(options_of(connector.source_options, **given), column)]


def numbered(count, size):
    """Pages of `size` rows each, `count` rows in all."""

    def answer(request):
        page = int(request.params["page"])
        return [{"id": number} for number in range(count)[(page - 1) * size : page * size]]

    return answer


def test_a_page_that_is_not_full_is_the_last():
    with service(numbered(count=5, size=2)) as there:
        found = rows(there.url, pageing__page_field="page", pageing__batch_size=2)
    assert [row["id"] for row in found] == [0, 1, 2, 3, 4]
    assert there.param("page") == ["1", "2", "3"]


def test_the_last_page_is_given():
    with service(numbered(count=9, size=2)) as there:
        found = rows(
            there.url, pageing__page_field="page", pageing__total_page_size=3, pageing__start_page_number=2,
            params={"page": 0, "size": 2},
        )  # fmt: skip
    assert [row["id"] for row in found] == [2, 3, 4, 5]
    assert there.param("page") == ["2", "3"]
    assert there.param("size") == ["2", "2"]


def test_a_service_that_ignores_the_page_is_an_error():
    with service(lambda request: [{"id": 1}]) as there:
        with pytest.raises(RunError, match="page 2: the response is that of the page before") as caught:
            rows(there.url, pageing__page_field="page", pageing__batch_size=1)
        assert not is_transient(caught.value)
        assert len(there.requests) == 2


def test_the_page_is_replaced_in_headers_params_and_body():
    with service(lambda request: [{}]) as there:
        rows(
            there.url, method="POST", body='{"filter": {"page": ${page}}}', headers={"X-Page": "p${page}"},
            params={"page": "unchanged", "at": "${page}"}, pageing__page_field="page", pageing__total_page_size=1,
            pageing__use_placeholder_replacement=True,
        )  # fmt: skip
    (request,) = there.requests
    assert json.loads(request.body) == {"filter": {"page": 1}}
    assert request.headers["x-page"] == "p1"
    assert request.params == {"page": "unchanged", "at": "1"}
    assert request.headers["content-type"] == "application/json"


def test_a_key_of_the_body_takes_the_page():
    with service(lambda request: [{}]) as there:
        rows(
            there.url, method="POST", body='{"id": 7, "at": {"page": 1}}', pageing__page_field="page",
            pageing__start_page_number=3, pageing__total_page_size=3,
        )  # fmt: skip
    (request,) = there.requests
    assert json.loads(request.body) == {"id": 7, "at": {"page": 3}}
    assert request.params == {}


def test_forms():
    with service(lambda request: [{}]) as there:
        rows(there.url, method="POST", params={"a": "x y"}, keep_params_as_form=True)
        form = {"content-type": "application/x-www-form-urlencoded"}
        rows(there.url, method="POST", body='{"b": 1}', headers=form)
        rows(there.url + "?c=1", params={"d": 2})
    assert [request.body for request in there.requests] == ["a=x+y", "b=1", ""]
    assert [request.method for request in there.requests] == ["POST", "POST", "GET"]
    assert {request.headers.get("content-type") for request in there.requests} == {*form.values(), None}
    assert there.requests[2].params == {"c": "1", "d": "2"}


def test_a_cursor_is_followed_until_there_is_none():
    pages = {None: (1, "x"), "x": (2, "y"), "y": (3, None)}

    def answer(request):
        value, following = pages[request.params.get("cursor")]
        return {"data": [{"id": value}], "next": following}

    with service(answer) as there:
        found = rows(
            there.url, pageing__page_type="Cursor", pageing__cursor_field="cursor",
            pageing__cursor_response_field="$.next", content_field="$.data.*",
        )  # fmt: skip
    assert [row["id"] for row in found] == [1, 2, 3]


def test_a_cursor_that_comes_again_is_an_error():
    with (
        service(lambda request: {"next": "same"}) as there,
        pytest.raises(RunError, match="`same`, was returned before"),
    ):
        rows(there.url, pageing__page_type="Cursor", pageing__cursor_field="c", pageing__cursor_response_field="$.next")


def test_the_values_of_columns_are_found_by_their_paths():
    document = {"book": [{"title": "a", "price": 1.50}, {"title": "b"}]}
    paths = {"title": "$.book[*].title", "price": "$.book[*].price"}
    with service(lambda request: document) as there:
        found = rows(there.url, json_field=paths)
        assert found == [{"title": "a", "price": 1.5}, {"title": "b", "price": None}]
        with pytest.raises(RunError, match=r"`\$.book\[\*\].title` has 2 values, `\$.none\[\*\].x` has 0"):
            rows(there.url, json_field={**paths, "x": "$.none[*].x"})
        found = rows(there.url, json_field={**paths, "x": "$.none[*].x"}, json_filed_missed_return_null=True)
    assert [row["x"] for row in found] == [None, None]


def test_numbers_stay_as_they_are_written():
    text = '{"a": 12345678901234567890.1250, "b": [1.50, 1e3, -0.0], "c": "1.50"}'
    with service(lambda request: text) as there:
        (found,) = row_texts(options_of(connector.source_options, url=there.url), None)
    assert found == text


def test_text_and_lines():
    with service(lambda request: "one\ntwo\n") as there:
        assert rows(there.url, column="content") == [{"content": "one\ntwo\n"}]
        assert rows(there.url, column="content", enable_multi_lines=True) == [{"content": "one"}, {"content": "two"}]
    with service(lambda request: '{"id": 1}\n\n{"id": 2}\n') as there:
        assert rows(there.url, enable_multi_lines=True) == [{"id": 1}, {"id": 2}]
    with service(lambda request: "") as there:
        assert rows(there.url) == []


def test_transient_errors_are_repeated_and_permanent_ones_are_not():
    statuses = iter([503, 429, 200])
    with service(lambda request: (next(statuses), [{"id": 1}], {})) as there:
        assert rows(there.url, retry=2, retry_backoff_multiplier_ms=1) == [{"id": 1}]
        assert len(there.requests) == 3
    with service(lambda request: (503, "", {})) as there:
        with pytest.raises(RunError, match=r"503 Service Unavailable \(2 attempts\)") as caught:
            rows(there.url, retry=1, retry_backoff_multiplier_ms=1)
        assert is_transient(caught.value)
        assert len(there.requests) == 2
    with service(lambda request: (404, "", {})) as there:
        with pytest.raises(RunError, match="the server answered 404 Not Found") as caught:
            rows(there.url, retry=5)
        assert not is_transient(caught.value)
        assert len(there.requests) == 1


def test_a_host_that_is_not_there_and_one_that_is_silent():
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{bound.getsockname()[1]}/"
        with pytest.raises(RunError, match="refused") as caught:
            rows(url)
        assert caught.value.diagnostics[0].code == "PEN5004"
        bound.listen()
        with pytest.raises(RunError, match="timed out"):
            rows(url, socket_timeout_ms=50)


def test_what_is_no_json_and_what_are_no_rows():
    with (
        service(lambda request: "<html> password=hunter2</html>") as there,
        pytest.raises(RunError, match="the response is not JSON") as caught,
    ):
        rows(there.url + "?api_key=topsecret")
    (found,) = caught.value.diagnostics
    assert "hunter2" not in found.message
    assert "topsecret" not in found.message
    assert "<html>" in found.message
    with service(lambda request: [1]) as there, pytest.raises(RunError, match="a row is no JSON object: `1`"):
        rows(there.url)
    with service(lambda request: '{"a": NaN}') as there, pytest.raises(RunError, match="NaN is no JSON"):
        rows(there.url)


def test_another_host_gets_no_credentials():
    with service(lambda request: [{"id": 1}]) as other:
        with service(lambda request: (302, "", {"Location": other.url})) as there:
            headers = {"Authorization": "Bearer abcdef", "X-Own": "abcdef", "Accept": "text/plain"}
            assert rows(there.url, headers=headers) == [{"id": 1}]
        assert there.requests[0].headers["authorization"] == "Bearer abcdef"
        assert "authorization" not in other.requests[0].headers
        assert "x-own" not in other.requests[0].headers  # nothing says that it is no secret
        assert other.requests[0].headers["accept"] == "text/plain"
