"""Iceberg's type `time`, which Spark has no reader for: found when the job is checked."""

import json

import pytest

from engine.cli import main

TIME = {"id": 2, "name": "at", "required": False, "type": "time"}
NESTED = {"id": 2, "name": "day", "required": False, "type": {
    "type": "struct", "fields": [{"id": 3, "name": "opens", "required": False, "type": "time"}]}}  # fmt: skip


@pytest.mark.parametrize(("field", "code"), [(TIME, "PEN4421"), (NESTED, "PEN4421"), (None, None)])
def test_a_table_with_a_time_is_refused_before_the_run(tmp_path, capsys, field, code):
    fields = [{"id": 1, "name": "id", "required": False, "type": "long"}, *([field] if field else [])]
    folder = tmp_path / "shop" / "days" / "metadata"
    folder.mkdir(parents=True)
    schema = {"type": "struct", "schema-id": 0, "fields": fields}
    (folder / "v1.metadata.json").write_text(json.dumps({"current-schema-id": 0, "schemas": [schema]}))
    job = tmp_path / "job.conf"
    wanted = "schema { fields { id = bigint } }"
    job.write_text(
        f'source {{ Iceberg {{ warehouse = "{tmp_path}", table = "shop.days", {wanted} }} }}\nsink {{ Console {{}} }}'
    )
    assert main(["validate", str(job)]) == (2 if code else 0)
    out = "".join(capsys.readouterr())
    assert (code or "no errors") in out
    assert not code or "of Iceberg's type time, which Spark cannot read" in " ".join(out.split())
