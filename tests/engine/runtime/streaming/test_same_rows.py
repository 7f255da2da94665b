"""One job file yields the same rows with `job.mode` BATCH and STREAMING, from each source that is read as a stream, and
into each kind of sink."""

import json

import pytest

pytest.importorskip("pyspark")

from catalog.tables.table import CatalogTable
from connectors.interface.source import ScanTask
from connectors.paimon.connector import connector as paimon
from engine.runtime.execute import run_job
from engine.runtime.run_request import RunRequest, new_run_id
from engine.runtime.streaming.run_stream import run_stream
from tests.connectors.given_options import options_of
from tests.connectors.kafka.jobs import compiled

pytestmark = pytest.mark.spark
FIELDS = "schema { fields { id = bigint, name = string } }"
NOW = "job.mode = STREAMING, stream.trigger = available_now, job.name = same"
QUERY = "select id, upper(name) as name, cast(id as decimal(10,2)) as amount from s where id <> 2"


def run(spark, folder, text):
    job = compiled(folder, text)
    is_stream = job.plan.env.mode == "STREAMING"
    result = (run_stream if is_stream else run_job)(spark, job, RunRequest(new_run_id()))
    if result.errors:
        raise result.errors[0]


class Arriving:
    """Rows that arrive in one of the sources."""

    def __init__(self, spark, folder, kafka, kind):
        self.spark, self.folder, self.kafka, self.kind = spark, folder, kafka, kind
        self.topic = kafka.topic(2) if kind == "Kafka" else None
        (folder / "in").mkdir()

    @property
    def block(self):
        """The source, but for its closing bracket; as a sink it adds rows to it, where it is a table."""
        return {
            "Kafka": f'Kafka {{ bootstrap.servers = "{self.kafka.servers}", topic = {self.topic}, '
            f"start_mode = earliest, max_offsets = 2, {FIELDS}",
            "LocalFile": f'LocalFile {{ path = "{self.folder}/in", file_format_type = json, {FIELDS}',
            "Delta": f'Delta {{ path = "{self.folder}/in/d"',
            "Iceberg": f'Iceberg {{ warehouse = "{self.folder}/in", table = "db.i"',
            "Paimon": f'Paimon {{ warehouse = "{self.folder}/in", table = "db.p"',
        }[self.kind]

    def add(self, *ids):
        rows = [json.dumps({"id": id, "name": f"n{id}"}) for id in ids]
        if self.kind == "Kafka":
            self.kafka.send(self.topic, rows)
        elif self.kind == "LocalFile":
            (self.folder / "in" / f"{ids[0]}.json").write_text("\n".join(rows))
        else:
            listed = ", ".join(f'{{ fields = [{id}, "n{id}"] }}' for id in ids)
            fake = f"FakeSource {{ {FIELDS}, rows = [{listed}] }}"
            run(self.spark, self.folder, f"source {{ {fake} }}\nsink {{ {self.block} }} }}")


class Written:
    """The targets of one mode, and what they hold."""

    def __init__(self, spark, folder, postgres, mode, kinds):
        self.spark, self.folder, self.postgres, self.mode = spark, folder / mode, postgres, mode
        self.kinds = kinds

    @property
    def sinks(self):
        database = f'url = "{self.postgres.url}", user = "{self.postgres.user}", password = "{self.postgres.password}"'
        sinks = {
            "files": f'LocalFile {{ path = "{self.folder}/files", file_format_type = parquet',
            "delta": f'Delta {{ path = "{self.folder}/delta", write_mode = upsert, primary_keys = [id]',
            "iceberg": f'Iceberg {{ warehouse = "{self.folder}", table = "db.i"',
            "paimon": f'Paimon {{ path = "{self.folder}/paimon"',
            "jdbc": f'Jdbc {{ {database}, table = "{self.mode}"',
        }
        return "\n".join(f"{sinks[kind]}, plugin_input = q }}" for kind in self.kinds)

    def rows(self):
        return {kind: sorted(map(tuple, self.rows_of(kind))) for kind in self.kinds}

    def rows_of(self, kind):
        task = ScanTask(options_of(paimon.source_options, path=f"{self.folder}/paimon"), CatalogTable.unknown("p"))
        match kind:
            case "files":
                return self.spark.read.parquet(f"{self.folder}/files").collect()
            case "delta":
                return self.spark.read.format("delta").load(f"{self.folder}/delta").collect()
            case "iceberg":
                return self.spark.read.format("iceberg").load(f"{self.folder}/db/i").collect()
            case "paimon":
                return paimon.read(self.spark, task).collect()
            case "jdbc":
                return self.postgres.rows(f'select id, name, amount from "{self.mode}"')


@pytest.mark.parametrize(
    ("kind", "sinks"),
    [
        ("Kafka", ["files", "delta", "iceberg", "paimon", "jdbc"]),
        ("LocalFile", ["files", "iceberg"]),
        pytest.param("Delta", ["files", "paimon"], marks=pytest.mark.soak),
        ("Iceberg", ["files", "jdbc"]),
        pytest.param("Paimon", ["files", "delta"], marks=pytest.mark.soak),
    ],
)
def test_a_job_file_yields_the_same_rows_in_both_modes(spark, tmp_path, kafka, postgres, kind, sinks):
    postgres.clear()
    arriving = Arriving(spark, tmp_path, kafka, kind)
    streamed, batch = (Written(spark, tmp_path, postgres, mode, sinks) for mode in ("stream", "batch"))

    def job(env, written):
        transform = f'transform {{ Sql {{ plugin_input = s, plugin_output = q, query = "{QUERY}" }} }}'
        source = f"source {{ {arriving.block}, plugin_output = s }} }}"
        return f"env {{ {env} }}\n{source}\n{transform}\nsink {{ {written.sinks} }}"

    arriving.add(1, 2, 3)
    run(spark, tmp_path, job(NOW, streamed))
    arriving.add(4, 5)
    run(spark, tmp_path, job(NOW, streamed))
    run(spark, tmp_path, job("job.mode = BATCH", batch))
    found = streamed.rows()
    assert [row[:2] for row in found["files"]] == [(1, "N1"), (3, "N3"), (4, "N4"), (5, "N5")]
    assert found == batch.rows() == dict.fromkeys(found, found["files"])
