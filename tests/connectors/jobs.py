"""Plans without a job file: one source of known rows, and the three steps of writing them."""

from collections.abc import Sequence
from uuid import uuid4

from catalog.options import Value
from catalog.tables.savemode import DataSaveMode, SchemaSaveMode, WriteMode
from catalog.tables.table import CatalogTable, Column
from catalog.types.typenames import parse_type
from connectors.interface.source import ScanTask, Source, SourceCapabilities
from connectors.shared.running_tasks import tagged_jobs, wait_for_tasks
from connectors.shared.staged import Credentials
from engine.job.model.job import Env
from engine.plan.credentials import credentials_of
from engine.plan.nodes import Node, Plan, Scan, Write
from engine.spark.lower import lower
from engine.spark.session import pipeline_session
from engine.spark.writing.abort import abort_all
from engine.spark.writing.commit import commit_all
from engine.spark.writing.open_run import OpenRun, begin
from engine.spark.writing.recover import recover
from engine.spark.writing.sink_checks import check
from engine.spark.writing.stage import stage
from engine.state.layout import layout_at
from tests.connectors.given_options import PLACE, options_of


class Rows(Source):
    """Rows of a SQL query, typed by it: `columns` as `name type` texts."""

    name = "Rows"
    doc = ""
    source_options = ()
    source_capabilities = SourceCapabilities()

    def __init__(self, query: str) -> None:
        self.query = query

    def tables(self, options, found):
        raise NotImplementedError

    def read(self, spark, task: ScanTask):
        return spark.sql(self.query)


def rows(query: str, *columns: str) -> Scan:
    parts = [column.split(" ", 1) for column in columns]
    table = CatalogTable.of("rows", [Column(name, parse_type(type)) for name, type in parts])
    return Scan("rows", Rows(query), options_of(()), table, id="rows", span=PLACE)


def write(sink, node: Node, id: str = "w", **given: Value) -> Write:
    options = options_of(sink.sink_options, **given)
    return Write(
        id,
        sink,
        options,
        node,
        SchemaSaveMode(given.get("schema_save_mode", "CREATE_SCHEMA_WHEN_NOT_EXIST")),
        DataSaveMode(given.get("data_save_mode", "APPEND_DATA")),
        WriteMode(given.get("write_mode", "append")),
        id=id,
        span=options.span(),
    )


def secrets_of(*writes: Write) -> Credentials:
    """What a session with such a job lends to the ending of killed runs."""
    return credentials_of(Plan(Env("tests"), writes))


def stage_writes(spark, writes: Sequence[Write], state: str, run_id: str) -> OpenRun | None:
    recover(spark, layout_at(spark, state), secrets_of(*writes))
    run = begin(spark, check(spark, writes, run_id), run_id, layout_at(spark, state))
    if run is not None:
        tag = f"writes {uuid4().hex}"
        try:
            with tagged_jobs(spark, tag):
                lowered = lower(pipeline_session(spark), writes)
                for each in writes:
                    stage(spark, run, each, lowered.dataframes[each.input], [each.input])
        except BaseException:
            assert wait_for_tasks(spark, tag)
            abort_all(spark, run)
            run.release()
            raise
    return run


def run_writes(spark, writes: Sequence[Write], state: str, run_id: str) -> None:
    run = stage_writes(spark, writes, state, run_id)
    if run is not None:
        try:
            commit_all(spark, run)
        finally:
            run.release()
