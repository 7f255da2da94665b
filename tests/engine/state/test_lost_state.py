"""State that is lost, old or foreign, and targets that are dropped or restored: rows are right, or a run ends with an
error before anything is written.

Each row of `CASES` is one event between two runs of a job, as a batch and as a stream, into each kind of sink. The
normal run has one of each kind; the whole table is behind `soak`.
"""

import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, replace

import pytest

pytest.importorskip("pyspark")

from catalog.diagnostics.diagnostic import PenstockError, RunError
from catalog.tables.table import CatalogTable
from connectors.interface.source import ScanTask
from connectors.paimon.connector import connector as paimon
from connectors.storage.object_store import StoreSettings
from engine.plan.streams import streams_of
from engine.runtime.execute import run_job
from engine.runtime.run_request import RunRequest
from engine.runtime.streaming.checkpoint import open_checkpoint
from engine.runtime.streaming.run_stream import run_stream
from engine.state.layout import layout_at
from engine.state.run_state import State
from tests.connectors.given_options import options_of
from tests.connectors.kafka.jobs import compiled

pytestmark = pytest.mark.spark

USUAL = ("files", "delta", "iceberg", "paimon", "postgres")
SINKS = (*USUAL, "mariadb", "s3", "kafka")
AT_LEAST_ONCE = ("kafka",)
"""A topic has no marks: unless the state directory shows it, records are sent again, as `explain` says."""
DATABASES = ("postgres", "mariadb")
AGO = 3
"""How many micro-batches the restored state directory is old."""
FIELDS = "schema { fields { id = bigint, name = string } }"


@dataclass(frozen=True)
class Case:
    """`event` happens after the run; then two more rows arrive, and the job runs again with the same run id.

    `code`: of the error; None: the run does what it should, and `ids` are in the targets.
    """

    mode: str
    event: str
    code: str | None
    ids: tuple[int, ...] = (1, 2)

    def __str__(self) -> str:
        return f"{self.mode} {self.event}"


CASES = (
    Case("batch", "nothing", None),
    Case("batch", "state deleted", None),
    Case("batch", "state restored", None),
    Case("batch", "id reused", None),
    Case("batch", "id reused by another plan", "PEN5221"),
    Case("batch", "target dropped", "PEN5222", ()),
    Case("batch", "state deleted and target dropped", None, (1, 2, 3, 4)),
    Case("batch", "target restored", "PEN5222", ()),
    Case("stream", "nothing", None, (1, 2, 3, 4)),
    Case("stream", "checkpoint deleted", "PEN5221"),
    Case("stream", "state deleted", "PEN5221"),
    Case("stream", "state deleted, nothing arrived", None),
    Case("stream", "state restored", "PEN5221", (1, 2, *range(10, 10 + AGO))),
    Case("stream", "id reused", "PEN5221"),
    Case("stream", "target dropped", "PEN5222", ()),
    Case("stream", "state deleted and target dropped", None, (1, 2, 3, 4)),
    Case("stream", "target restored", "PEN5222", (1, 2)),
)
IN_EVERY_RUN = {
    ("batch", "state deleted"): ("files", "delta", "postgres"),
    ("batch", "target dropped"): ("files", "postgres"),
    ("batch", "id reused by another plan"): ("delta",),
    ("batch", "state deleted and target dropped"): ("postgres",),
    ("stream", "checkpoint deleted"): USUAL,
    ("stream", "state restored"): ("iceberg",),
    ("stream", "target dropped"): ("delta",),
    ("stream", "target restored"): ("delta",),
}


@dataclass(frozen=True, eq=False)
class World:
    """The folder of one case, and what is in it. `servers`: what the sink needs beside it: a database, a bucket, or a
    broker and a topic."""

    spark: object
    folder: object
    servers: dict
    case: Case
    kind: str

    @property
    def state(self):
        return self.folder / "state"

    @property
    def target(self):
        return self.folder / "target"

    @property
    def database(self):
        return self.servers["database"]

    def add(self, *ids):
        (self.folder / "in").mkdir(exist_ok=True)
        text = "\n".join(json.dumps({"id": id, "name": f"n{id}"}) for id in ids)
        (self.folder / "in" / f"{ids[0]}.json").write_text(text)

    @property
    def sink(self):
        match self.kind:
            case "files":
                return f'LocalFile {{ path = "{self.target}", file_format_type = parquet'
            case "s3":
                return f'S3File {{ bucket = "{self.servers["bucket"]}", path = "/target", file_format_type = parquet'
            case "kafka":
                broker, topic = self.servers["kafka"], self.servers["topic"]
                return f'Kafka {{ bootstrap.servers = "{broker.servers}", topic = {topic}'
            case "iceberg":
                return f'Iceberg {{ warehouse = "{self.target}", table = "db.i"'
            case "delta" | "paimon":
                return f'{self.kind.title()} {{ path = "{self.target}"'
        login = ", ".join(f'{name} = "{value}"' for name, value in self.database.options.items())
        return f'Jdbc {{ {login}, table = "lost"'

    def job(self, query="select id, upper(name) as name from s"):
        is_stream = self.case.mode == "stream"
        env = "job.mode = STREAMING, stream.trigger = available_now" if is_stream else "job.mode = BATCH"
        source = f'LocalFile {{ plugin_output = s, path = "{self.folder}/in", file_format_type = json, {FIELDS} }}'
        sql = f'Sql {{ plugin_input = s, plugin_output = q, query = "{query}" }}'
        text = f"env {{ {env}, job.name = lost }}\nsource {{ {source} }}\ntransform {{ {sql} }}\n"
        return compiled(self.folder, f"{text}sink {{ {self.sink}, plugin_input = q, uid = w }} }}")

    def run(self, job=None, state=None):
        """The result; rows that it counts as written are those that it wrote."""
        run = run_stream if self.case.mode == "stream" else run_job
        job = job or self.job()
        job = replace(job, settings=replace(job.settings, state_dir=str(state or self.state)))
        result = run(self.spark, job, RunRequest("fixed"))
        if result.errors:
            raise result.errors[0]
        assert result.state is State.FINISHED
        return sum(count.rows or 0 for count in result.writes)

    def ids(self):
        task = ScanTask(options_of(paimon.source_options, path=str(self.target)), CatalogTable.unknown("p"))
        match self.kind:
            case "postgres" | "mariadb":
                rows = self.database.rows("select id from lost") if "lost" in self.database.tables() else []
            case "kafka":
                rows = [(json.loads(value)["id"],) for value in self.servers["kafka"].values(self.servers["topic"])]
            case "s3":
                path = self.servers["bucket"] / "target"
                rows = self.spark.read.schema("id bigint").parquet(str(path)).collect() if path.exists() else []
            case _ if not self.target.exists():
                rows = []
            case "files":
                rows = self.spark.read.schema("id bigint").parquet(str(self.target)).collect()
            case "delta":
                rows = self.spark.read.format("delta").load(str(self.target)).collect()
            case "iceberg":
                rows = self.spark.read.format("iceberg").load(f"{self.target}/db/i").collect()
            case "paimon":
                rows = paimon.read(self.spark, task).collect()
        return tuple(sorted(row[0] for row in rows))

    # events

    def copy(self):
        """A copy of the target, from which `restore` makes it again."""
        match self.kind:
            case "postgres" | "mariadb":
                for table in ("lost", "penstock_commits"):
                    if table in self.database.tables():
                        self.database.run(f"create table {table}_copy as select * from {table}")
            case "s3":
                target = self.servers["bucket"] / "target"
                self.servers["copy"] = {key: target.read(key) for key in target.keys()}  # noqa: SIM118
            case _ if self.target.exists():
                shutil.copytree(self.target, self.folder / "copy")

    def drop(self):
        match self.kind:
            case "postgres" | "mariadb":
                self.database.run("drop table lost")
            case "s3":
                bucket = self.servers["bucket"]
                for key in (bucket / "target").keys():  # noqa: SIM118
                    bucket.delete(f"target/{key}")
            case "kafka":
                self.servers["kafka"].delete(self.servers["topic"])
                self.servers["kafka"].create(self.servers["topic"])
            case _:
                shutil.rmtree(self.target)
        self.spark.catalog.clearCache()

    def restore(self):
        match self.kind:
            case "delta" if self.ids() and (self.folder / "copy").exists():
                self.spark.sql(f"RESTORE TABLE delta.`{self.target}` TO VERSION AS OF 0")
            case "postgres" | "mariadb":
                for table in ("lost", "penstock_commits"):
                    self.database.run(f"delete from {table}")
                    if f"{table}_copy" in self.database.tables():
                        self.database.run(f"insert into {table} select * from {table}_copy")
            case "s3":
                self.drop()
                for key, content in self.servers.get("copy", {}).items():
                    bucket = self.servers["bucket"]
                    bucket.client.put_object(Bucket=bucket.bucket, Key=f"target/{key}", Body=content)
            case _:
                self.drop()
                if (self.folder / "copy").exists():
                    shutil.copytree(self.folder / "copy", self.target)


def happen(world: World) -> None:
    world.add(1, 2)
    event = world.case.event
    if event == "target restored" and world.case.mode == "stream":
        assert world.run() == 2
        world.copy()
        world.add(3)
        assert world.run() == 1
        world.restore()
        world.add(4)
        return
    if (world.case.mode, event) == ("batch", "state restored"):
        world.state.mkdir()
    assert world.run() == 2
    assert world.ids() == (1, 2)
    if event == "state restored" and world.case.mode == "stream":
        shutil.copytree(world.state, world.folder / "old")
        for id in range(10, 10 + AGO):
            world.add(id)
            assert world.run() == 1
        shutil.rmtree(world.state)
        shutil.copytree(world.folder / "old", world.state)
        world.add(4)
        return
    if "nothing arrived" not in event:
        world.add(3, 4)
    if "target dropped" in event:
        world.drop()
    if event == "target restored":
        world.restore()
    if event == "state restored":  # as it was before the run
        shutil.rmtree(world.state)
        world.state.mkdir()
    if event.startswith("state deleted"):
        shutil.rmtree(world.state)
    if event == "checkpoint deleted":
        (stream,) = streams_of(world.job().plan)
        shutil.rmtree(f"{open_checkpoint(None, layout_at(None, str(world.state)), stream).folder}/checkpoint")


def check(world: World) -> None:
    case = world.case
    happen(world)
    state = world.folder / "other" if "id reused" in case.event else world.state
    job = world.job("select id, lower(name) as name from s") if "another plan" in case.event else world.job()
    before = world.ids()
    if world.kind in AT_LEAST_ONCE:
        if case.event == "checkpoint deleted":  # the state directory itself shows it
            with pytest.raises(PenstockError, match="PEN5221"):
                world.run(job, state)
            assert world.ids() == before
            return
        world.run(job, state)
        assert set(world.ids()) >= set(sent(world))
        return
    if case.code is not None:
        with pytest.raises(PenstockError) as refused:
            world.run(job, state)
        codes = [said.code for said in refused.value.diagnostics]
        assert codes == [case.code], refused.value.diagnostics
        assert world.ids() == before == case.ids
    else:
        assert world.run(job, state) == len(case.ids) - len(before)
        assert world.ids() == case.ids


def sent(world: World) -> Iterable[int]:
    """The ids that must be in a topic at the end."""
    case = world.case
    if case.event == "target restored" and case.mode == "stream":
        return {4}  # a topic is not restored but made anew: it holds what is sent from then on
    if "dropped" not in case.event and (case.mode == "stream" or case.event in REPEATED):
        return (int(id) for path in (world.folder / "in").iterdir() for id in ids_in(path))
    return case.ids


REPEATED = ("state deleted", "state restored", "id reused", "id reused by another plan")
"""What makes a batch run send its records again."""


def ids_in(path):
    return [json.loads(line)["id"] for line in path.read_text().splitlines()]


def table(wanted):
    return [
        pytest.param(case, kind, id=f"{case} {kind}")
        for case in CASES
        for kind in SINKS
        if (kind in IN_EVERY_RUN.get((case.mode, case.event), ())) == wanted
    ]


@pytest.fixture
def world_of(request, spark, tmp_path):
    """The world of a case; only what its sink needs is started."""

    def world(case, kind):
        servers = {}
        if kind in DATABASES:
            servers["database"] = request.getfixturevalue(kind)
            servers["database"].clear()
        if kind == "s3":
            store = request.getfixturevalue("s3")
            servers["bucket"] = store.bucket()
            StoreSettings.of(str(servers["bucket"]), store.settings).apply(request.getfixturevalue("s3_spark"))
        if kind == "kafka":
            servers["kafka"] = request.getfixturevalue("kafka")
            servers["topic"] = servers["kafka"].topic()
        return World(spark, tmp_path, servers, case, kind)

    return world


@pytest.mark.parametrize(("case", "kind"), table(True))
def test_lost_old_and_foreign_state_is_noticed(world_of, case, kind):
    check(world_of(case, kind))


@pytest.mark.soak
@pytest.mark.parametrize(("case", "kind"), table(False))
def test_the_whole_table_of_lost_state(world_of, case, kind):
    check(world_of(case, kind))


def test_a_state_directory_that_is_removed_before_the_decision(world_of, monkeypatch):
    """The targets are as they were."""
    from engine.runtime import job_execution

    world = world_of(Case("batch", "nothing", None), "files")
    world.add(1, 2)
    commit_all = job_execution.commit_all

    def commit_without_state(*given, **more):
        shutil.rmtree(world.state)
        return commit_all(*given, **more)

    monkeypatch.setattr(job_execution, "commit_all", commit_without_state)
    with pytest.raises(RunError, match="PEN5313"):
        world.run()
    assert world.ids() == ()
