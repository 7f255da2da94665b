"""Calls a model over HTTP for each batch of rows, in Spark's workers; imports nothing of Penstock.

Requests follow OpenAI's API, or the job's own body with `${model}`, `${prompt}` and `${input}` in it.
"""

import ast
import json
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from engine.transforms.support.arrow_rows import json_style, with_values
from engine.transforms.support.simple_json_path import steps_of

if TYPE_CHECKING:
    import pyarrow

TRANSIENT = frozenset((408, 409, 425, 429, 500, 502, 503, 504))


class ModelError(RuntimeError):
    """The model's endpoint refused the request, or its answer cannot be read."""


@dataclass(frozen=True)
class Endpoint:
    """Where and how a model is called. `body` and `answers` replace those of the API. `token_url` gives the token that
    each request carries in its URL; the part before `?` may be shown."""

    url: str
    model: str
    headers: Mapping[str, str] = field(repr=False)
    body: Mapping[str, Any] | None = None
    answers: str | None = None
    attempts: int = 3
    backoff: float = 1.0
    most_backoff: float = 10.0
    timeout: float = 20.0
    per_second: float | None = None
    token_url: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Completion:
    """A request to a language model: the prompt, over these columns of `size` rows."""

    endpoint: Endpoint
    prompt: str
    inputs: Sequence[str]
    output: str
    size: int


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect is an answer like others: another host must not get the key."""

    def redirect_request(self, *_: Any) -> None:
        return None


@dataclass(frozen=True)
class Vectors:
    """Which columns become vectors: output column -> text column."""

    endpoint: Endpoint
    columns: Mapping[str, str]
    size: int
    dimension: int | None


def complete(asked: Completion, batches: "Iterator[pyarrow.RecordBatch]", schema: "pyarrow.Schema") -> Iterator[Any]:
    calls = _Calls(asked.endpoint)
    for batch in batches:
        rows = [{name: json_style(row[name]) for name in asked.inputs} for row in batch.to_pylist()]
        values: list[Any] = []
        for start in range(0, len(rows), asked.size):
            values += _completed(calls, asked, rows[start : start + asked.size])
        yield with_values(batch, {asked.output: values}, schema)


def embed(asked: Vectors, batches: "Iterator[pyarrow.RecordBatch]", schema: "pyarrow.Schema") -> Iterator[Any]:
    calls = _Calls(asked.endpoint)
    for batch in batches:
        added: dict[str, list[Any]] = {}
        for output, source in asked.columns.items():
            inputs = batch.column(batch.schema.get_field_index(source)).to_pylist()
            there = [index for index, value in enumerate(inputs) if value is not None]
            vectors: list[Any] = [None] * len(inputs)
            for start in range(0, len(there), asked.size):
                part = there[start : start + asked.size]
                found = _embedded(calls, asked, [str(json_style(inputs[index])) for index in part])
                for index, vector in zip(part, found, strict=True):
                    vectors[index] = vector
            added[output] = vectors
        yield with_values(batch, added, schema)


def _completed(calls: "_Calls", asked: Completion, rows: Sequence[Mapping[str, Any]]) -> list[Any]:
    prompt = (
        f"{asked.prompt}\nThe input is a JSON array of {len(rows)} rows. "
        f"Answer with a JSON array of {len(rows)} values only, one for each row, in order."
    )
    shown = json.dumps(rows, ensure_ascii=False)
    body = {
        "model": asked.endpoint.model,
        "messages": [{"role": "system", "content": prompt}, {"role": "user", "content": shown}],
    }
    if asked.endpoint.body is not None:
        filled = _filled(asked.endpoint.body, {"model": asked.endpoint.model, "prompt": prompt, "input": shown})
        body = filled if isinstance(filled, dict) else body
    found = found_at(calls.post(body), asked.endpoint.answers or "$.choices[0].message.content")
    return _values_of(found[0] if len(found) == 1 else found, len(rows))


def _values_of(answer: Any, wanted: int) -> list[Any]:
    """The answer's values, one per row: a JSON array, a text that holds one, or for one row a text."""
    if isinstance(answer, str):
        answer = _read(re.sub(r"^```(?:json)?\s*|\s*```$", "", answer.strip()))
    values = answer if isinstance(answer, list) else [answer]
    if wanted == 1 and len(values) != 1:
        return [json.dumps(values, ensure_ascii=False)]
    if len(values) != wanted:
        raise ModelError(f"the model answered {len(values)} values for {wanted} rows")
    return [next(iter(item.values())) if isinstance(item, dict) and len(item) == 1 else item for item in values]


def _read(text: str) -> Any:
    """A text as JSON, or as a list of Python's (`[True]`), as models write it too; else the text alone in a list."""
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        found = ast.literal_eval(text) if text.startswith("[") else None
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        found = None
    return found if isinstance(found, list) else [text]


def _embedded(calls: "_Calls", asked: Vectors, inputs: Sequence[str]) -> list[Any]:
    body: dict[str, Any] = {"model": asked.endpoint.model, "input": list(inputs)}
    if asked.dimension is not None:
        body["dimensions"] = asked.dimension
    if asked.endpoint.body is not None:
        given = inputs[0] if len(inputs) == 1 else list(inputs)
        filled = _filled(asked.endpoint.body, {"model": asked.endpoint.model, "input": given})
        body = filled if isinstance(filled, dict) else body
    found = found_at(calls.post(body), asked.endpoint.answers or "$.data[*].embedding")
    if len(found) != len(inputs) and len(found) == 1 and isinstance(found[0], list):
        found = found[0]
    if len(found) != len(inputs):
        raise ModelError(f"the model answered {len(found)} vectors for {len(inputs)} texts")
    return found


def _filled(value: Any, names: Mapping[str, Any]) -> Any:
    """The body with its placeholders filled in; a text that is a placeholder only takes its value as it is."""
    match value:
        case str():
            whole = re.fullmatch(r"\$\{(\w+)\}", value)
            if whole and whole[1] in names:
                return names[whole[1]]
            return re.sub(r"\$\{(\w+)\}", lambda found: str(names.get(found[1], found[0])), value)
        case Mapping():
            return {key: _filled(item, names) for key, item in value.items()}
        case list() | tuple():
            filled = [_filled(item, names) for item in value]
            return filled[0] if len(filled) == 1 and isinstance(filled[0], list) else filled
        case _:
            return value


def found_at(document: Any, path: str) -> list[Any]:
    """The values at a JSON path."""
    values = [document]
    steps, rest = steps_of(path)
    for step in () if rest else steps:
        if step == "[*]":
            values = [item for value in values if isinstance(value, list) for item in value]
        elif step.startswith("[") and step[1:-1].isdigit():
            number = int(step[1:-1])
            values = [value[number] for value in values if isinstance(value, list) and number < len(value)]
        else:
            name = step[2:-2] if step.startswith("['") else step[1:]
            values = [value[name] for value in values if isinstance(value, Mapping) and name in value]
    return values


class _Calls:
    """One task's requests: rate-limited, and retried after transient errors."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.next = 0.0
        self.token: str | None = None

    def post(self, body: Mapping[str, Any]) -> Any:
        url = self.endpoint.url
        if self.endpoint.token_url:
            self.token = self.token or self._token(self.endpoint.token_url)
            url += f"?access_token={urllib.parse.quote(self.token)}"
        data = json.dumps(body, ensure_ascii=False).encode()
        headers = {"Content-Type": "application/json", **self.endpoint.headers}
        return self._answer(urllib.request.Request(url, data, headers, method="POST"))

    def _token(self, url: str) -> str:
        found = self._answer(urllib.request.Request(url))
        if not isinstance(found, Mapping) or not found.get("access_token"):
            raise ModelError(f"{url.partition('?')[0]} answered without `access_token`: are the keys right?")
        return str(found["access_token"])

    def _answer(self, request: urllib.request.Request) -> Any:
        endpoint, shown = self.endpoint, request.full_url.partition("?access_token=")[0].partition("?grant_type=")[0]
        for attempt in range(1, endpoint.attempts + 1):
            self._wait()
            try:
                with urllib.request.build_opener(_NoRedirect).open(request, timeout=endpoint.timeout) as answer:
                    return json.loads(answer.read())
            except urllib.error.HTTPError as error:
                with error:
                    reason = f"{error.code} {error.reason}"
                if error.code not in TRANSIENT or attempt == endpoint.attempts:
                    raise ModelError(f"{shown} answered {reason}, attempt {attempt}") from None
            except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
                if attempt == endpoint.attempts:
                    raise ModelError(f"{shown} cannot be reached: {error}, attempt {attempt}") from None
            except ValueError as error:
                raise ModelError(f"{shown} answered what is no JSON: {error}") from None
            time.sleep(min(endpoint.backoff * 2 ** (attempt - 1), endpoint.most_backoff))
        raise ModelError(f"{shown} was asked {endpoint.attempts} times")

    def _wait(self) -> None:
        if self.endpoint.per_second:
            now = time.monotonic()
            time.sleep(max(self.next - now, 0))
            self.next = max(self.next, now) + 1 / self.endpoint.per_second
