"""A job over data that is in no job file: its source is described, and its rows go nowhere."""

from dataclasses import replace

from catalog.diagnostics.diagnostic import Diagnostics, run_error
from catalog.diagnostics.source import SourceFile
from engine.compile import Compiled, compile_text
from engine.describe.describe_data import as_hocon, describe, needs, table_name
from engine.describe.guess import guess
from engine.describe.unreadable import unreadable
from engine.job.model.settings import Settings

_SINK = "sink {\n  Console {\n  }\n}\n"


def data_job(
    path: str, settings: Settings, master: str | None = None, *, table: str | None = None, user: str | None = None
) -> Compiled:
    """The job that reads the data, whose source is named after its path; starts Spark to read names and types.

    Raises a `JobError` where the path does not show how it is read, a `RunError` where it cannot be.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    from engine.spark.session import open_session, pipeline_session

    found = guess(path, table=table, user=user)
    given = {"spark.master": master} if master else {}
    spark = pipeline_session(open_session("penstock show", given, *needs(found)), {})
    try:
        described = describe(found, spark)
    except (PySparkException, Py4JError) as error:
        raise unreadable(error, found, path) from error
    if not described.columns:
        raise run_error("PEN5004", f"`{path}` has no columns", None, "check that it holds a header or rows with values")
    name = table_name((table or path).rpartition(".")[2] if table else path)
    diagnostics = Diagnostics()
    text = as_hocon(described, name) + _SINK
    compiled = compile_text(SourceFile(path, text), replace(settings, allows_outside=True), diagnostics)
    diagnostics.raise_errors()
    assert compiled is not None, "a job without errors has a plan"
    return compiled
