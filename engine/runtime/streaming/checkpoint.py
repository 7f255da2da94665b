"""What a stream leaves between two runs: Spark's checkpoint, and beside it whose it is.

<folder>/<source's uid or name>/stream.json    the stream's id, and the source that it reads
<folder>/<source's uid or name>/checkpoint     Spark's: offsets and commits by micro-batch
"""

import json
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from catalog.diagnostics import run_error
from connectors.support.files.filesystem import Files, as_uri, files_at
from engine.plan.nodes import Plan, Scan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class StreamRecord:
    """The stream that a checkpoint belongs to. `stream` is the id of the run that began it."""

    stream: str
    job: str
    connector: str
    identity: str


@dataclass(frozen=True, eq=False, slots=True)
class Checkpoint:
    """One pipeline's checkpoint in `folder`; `is_new`: no run has begun it."""

    files: Files
    folder: str
    record: StreamRecord
    is_new: bool

    @property
    def spark_location(self) -> str:
        return as_uri(f"{self.folder}/checkpoint")

    def begin(self) -> None:
        """Record whose checkpoint it is, before Spark writes to it."""
        if self.is_new:
            self.files.write(f"{self.folder}/stream.json", json.dumps(asdict(self.record)))

    def offsets(self, batch: int) -> str | None:
        """The offsets at which a micro-batch ends, as Spark has them; None where there is no such batch."""
        path = f"{self.folder}/checkpoint/offsets/{batch}"
        if not self.files.exists(path):
            return None
        lines = self.files.read(path).splitlines()
        return lines[2] if len(lines) > 2 else None

    @property
    def has_batches(self) -> bool:
        return bool(self.files.children(f"{self.folder}/checkpoint/offsets"))


def open_checkpoint(spark: "SparkSession", state: str, plan: Plan, scan: Scan, run_id: str) -> Checkpoint:
    """The checkpoint of a pipeline, new or to go on from.

    Raises PEN5060 where the source is another one than the checkpoint's: its offsets mean nothing there.
    """
    chosen = plan.env.options.get("stream.checkpoint") if plan.env.options else None
    files, root = files_at(spark, str(chosen) if chosen else f"{state.rstrip('/')}/streams/{_named(plan.env.name)}")
    folder = f"{root}/{_named(scan.uid or scan.name)}"
    own = StreamRecord(run_id, plan.env.name, scan.connector.name, scan.connector.stream_identity(scan.options))
    if not files.exists(f"{folder}/stream.json"):
        return Checkpoint(files, folder, own, True)
    found = StreamRecord(**json.loads(files.read(f"{folder}/stream.json")))
    if (found.connector, found.identity) != (own.connector, own.identity):
        message = (
            f"`{scan.name}` reads {own.connector} `{own.identity}`, but its checkpoint `{folder}` is of "
            f"{found.connector} `{found.identity}`"
        )
        help = "name another checkpoint to start anew: `env { stream.checkpoint = … }`, or give the source a `uid`"
        raise run_error("PEN5060", message, scan.span, help)
    return Checkpoint(files, folder, found, False)


def _named(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "_", text) or "_"
