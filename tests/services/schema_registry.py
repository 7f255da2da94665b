"""A double of a schema registry: a small HTTP server that implements the three documented endpoints that are used
(`GET /subjects/{subject}/versions`, `GET …/versions/{version}`, `POST …/versions`), not a registry's own program.
"""

import json

import pytest

from tests.connectors.http_.service import service


class SchemaRegistry:
    """What the double holds: the schemas of each subject, with ids over all."""

    def __init__(self):
        self.subjects = {}
        self.schemas = []

    def answer(self, request):
        _, _, subject, *rest = request.path.strip("/").split("/")
        versions = self.subjects.setdefault(subject, []) if request.method == "POST" else self.subjects.get(subject)
        if versions is None:
            return 404, '{"error_code": 40401}', {}
        if request.method == "POST":
            return {"id": self.add(subject, json.loads(request.body)["schema"])}
        if rest == ["versions"]:
            return list(range(1, len(versions) + 1))
        id = versions[int(rest[1]) - 1]
        return {"subject": subject, "version": int(rest[1]), "id": id, "schema": self.schemas[id - 1]}

    def add(self, subject, schema):
        text = schema if isinstance(schema, str) else json.dumps(schema)
        if text not in self.schemas:
            self.schemas.append(text)
        id = self.schemas.index(text) + 1
        versions = self.subjects.setdefault(subject, [])
        if id not in versions:
            versions.append(id)
        return id


@pytest.fixture
def registry():
    held = SchemaRegistry()
    with service(held.answer) as running:
        held.url = running.url
        yield held
