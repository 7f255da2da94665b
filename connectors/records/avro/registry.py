"""A schema registry with Confluent's HTTP API: the schemas of a subject, and one more for it.

GET  /subjects/{subject}/versions              [1, 2]
GET  /subjects/{subject}/versions/{version}    {"id": 7, "schema": "…"}
POST /subjects/{subject}/versions              {"schema": "…"} → {"id": 7}
"""

import json
from base64 import b64encode
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote

from catalog.diagnostics.diagnostic import run_error
from catalog.diagnostics.source import Span
from connectors.shared.http_client import HttpClient, HttpRequest

_CONTENT: Final = "application/vnd.schemaregistry.v1+json"
_known: Final[dict[tuple[str, str, int], tuple[int, str]]] = {}
"""The id and schema of each version that was asked for: versions never change."""


@dataclass(frozen=True, slots=True)
class Registry:
    """A registry; `user` and `password` of its basic authentication."""

    url: str
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    span: Span | None = None

    def schemas(self, subject: str) -> dict[int, str]:
        """The schemas of all versions of a subject, by their id. Raises PEN5040 and PEN5004."""
        found = {}
        for version in self._asked("GET", f"/subjects/{quote(subject, safe='')}/versions"):
            key = (self.url, subject, int(version))
            if key not in _known:
                _known[key] = self._version(subject, int(version))
            id, schema = _known[key]
            found[id] = schema
        return found

    def latest(self, subject: str) -> str:
        """The schema of the last version."""
        return list(self.schemas(subject).values())[-1]

    def register(self, subject: str, schema: str) -> int:
        """The id of a schema, which becomes a version of the subject if it is none yet."""
        body = json.dumps({"schema": schema}).encode()
        return int(self._asked("POST", f"/subjects/{quote(subject, safe='')}/versions", body)["id"])

    def _version(self, subject: str, version: int) -> tuple[int, str]:
        answer = self._asked("GET", f"/subjects/{quote(subject, safe='')}/versions/{version}")
        kind = answer.get("schemaType", "AVRO")
        if kind != "AVRO" or answer.get("references"):
            why = f"is {kind}" if kind != "AVRO" else "refers to other schemas, which is not supported"
            raise run_error("PEN5040", f"version {version} of the subject `{subject}` {why}", self.span)
        return int(answer["id"]), str(answer["schema"])

    def _asked(self, method: str, path: str, body: bytes | None = None) -> Any:
        headers = {"Accept": _CONTENT, "Content-Type": _CONTENT}
        if self.user is not None:
            credentials = b64encode(f"{self.user}:{self.password or ''}".encode()).decode()
            headers["Authorization"] = f"Basic {credentials}"
        client = HttpClient(10, 30, 3, 0.5, 2, self.span)
        label = f"schema registry {self.url}, {method} {path}"
        answer = client.text(HttpRequest(self.url.rstrip("/") + path, method, headers, body, label))
        try:
            return json.loads(answer)
        except ValueError as error:
            raise run_error("PEN5040", f"{label}: the answer is not JSON", self.span) from error
