"""The watermarks of incremental sources, in the state directory.

    <state dir>/incremental/<source>/<target and dataset>.json

One belongs to what was read, what was written, and the name of the source in the job: neither the job's file nor the
text of a query is part of it. It moves only when the sinks have committed: the decision in the run's journal holds the
new one, so that whoever finishes the run moves it.
"""

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any, TypeAlias

from catalog.diagnostics.diagnostic import run_error
from connectors.interface.incremental import ReadProgress
from connectors.storage.paths import local_path
from engine.state.layout import StateLayout


@dataclass(frozen=True, slots=True, order=True)
class WatermarkKey:
    """`source`: the `uid` of the source, else its name in the job; `read`, `written`: the datasets as text."""

    source: str
    read: str
    written: str

    @property
    def digest(self) -> str:
        """Of the target, then of what is read: the watermarks of one target are next to each other."""
        return "-".join(sha256(text.encode()).hexdigest()[:16] for text in (self.written, self.read))

    def path(self, layout: StateLayout) -> str:
        return layout.watermark(self.source, self.digest)

    def path_in_state(self, layout: StateLayout) -> str:
        """The same, from the state directory."""
        return self.path(layout).removeprefix(f"{layout.root}/")


@dataclass(frozen=True, slots=True)
class HighWatermark:
    """How far runs have read a source for a target.

    `job`, `file`: the name of the job that moved it last, and its file from the root. `previous`: where the run that
    moved it last had begun, None for the start; `replaced`: the watermark before, which `previous` is not where that
    run read everything again. `at` is UTC, ISO 8601. `incarnation` is the target's, where it has one. `earlier`: the
    file that this one replaces: of an earlier version of Penstock, or of the project where it was before. `root`: where
    the project was, links resolved.
    """

    key: WatermarkKey
    job: str
    file: str
    column: str
    value: ReadProgress
    previous: ReadProgress | None
    replaced: ReadProgress | None
    run_id: str
    at: str
    incarnation: str | None = None
    earlier: str | None = None
    root: str | None = None

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "HighWatermark":
        own = {name: _progress(record[name]) for name in ("value", "previous", "replaced")}
        return cls(**{**record, **own, "key": WatermarkKey(**record["key"])})

    def path(self, layout: StateLayout) -> str:
        return self.key.path(layout)

    @property
    def source(self) -> str:
        return self.key.source


@dataclass(frozen=True, slots=True)
class EarlierWatermark:
    """One of an earlier version of Penstock, which belongs to the name of a job and of a source in it; `location` is
    what the source read, as far as that was known."""

    job: str
    node: str
    column: str
    location: str | None
    value: ReadProgress
    previous: ReadProgress | None
    run_id: str
    at: str

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "EarlierWatermark":
        return cls(**{**record, **{name: _progress(record[name]) for name in ("value", "previous")}})

    def path(self, layout: StateLayout) -> str:
        return layout.earlier_watermark(earlier_name(self.job), earlier_name(self.node))

    @property
    def source(self) -> str:
        return self.node


AnyWatermark: TypeAlias = HighWatermark | EarlierWatermark


def watermark_from_json(record: Mapping[str, Any]) -> AnyWatermark:
    """The watermark that a journal holds."""
    return HighWatermark.from_json(record) if "key" in record else EarlierWatermark.from_json(record)


def read_watermark(layout: StateLayout, key: WatermarkKey) -> HighWatermark | None:
    """Raises PEN5011 for a file that is none."""
    found: HighWatermark | None = _read(layout, key.path(layout), key.source, HighWatermark)
    return found


def read_earlier(layout: StateLayout, job: str, node: str) -> EarlierWatermark | None:
    """Raises PEN5011 for a file that is none."""
    path = layout.earlier_watermark(earlier_name(job), earlier_name(node))
    found: EarlierWatermark | None = _read(layout, path, node, EarlierWatermark)
    return found


def read_watermark_at(layout: StateLayout, path: str) -> HighWatermark | None:
    """The same, by the path in the state directory."""
    found: HighWatermark | None = _read(layout, f"{layout.root}/{path}", "SOURCE", HighWatermark)
    return found


def watermark_before_move(layout: StateLayout, key: WatermarkKey, file: str, root: str) -> HighWatermark | None:
    """That of the same job in a project that has been moved since, with its state directory, what it reads and what it
    writes; None where the state directory is outside of the project: another copy may use it."""
    state = local_path(layout.root)
    if state is None or not os.path.realpath(state).startswith(f"{root}{os.sep}"):
        return None
    for watermark in watermarks_of(layout, key.source):
        then = watermark.root
        if then not in (None, root) and watermark.file == file and _moved(watermark.key, str(then), root) == key:
            return watermark
    return None


def _moved(key: WatermarkKey, then: str, now: str) -> WatermarkKey:
    """The key, once what is in the one folder is in the other."""
    read, written = (
        f"{now}{text.removeprefix(then)}" if text.startswith(f"{then}{os.sep}") else text
        for text in (key.read, key.written)
    )
    return WatermarkKey(key.source, read, written)


def watermarks_of(layout: StateLayout, source: str) -> tuple[HighWatermark, ...]:
    """All that are recorded for sources of that name, of whatever job."""
    found = (_read(layout, path, source, HighWatermark) for path in layout.watermarks(source))
    return tuple(watermark for watermark in found if watermark is not None)


def watermarks_beside(layout: StateLayout, key: WatermarkKey) -> tuple[HighWatermark, ...]:
    """All that are recorded for the same target and dataset, of sources of any name."""
    found = (_read(layout, path, key.source, HighWatermark) for path in layout.watermarks_of_key(key.digest))
    return tuple(watermark for watermark in found if watermark is not None)


def has_fed(layout: StateLayout, key: WatermarkKey) -> bool:
    """Whether runs of this state directory have read other datasets for the same target."""
    return layout.has_watermarks_beside(key.digest)


def write_watermark(layout: StateLayout, watermark: AnyWatermark) -> None:
    layout.files.write(watermark.path(layout), json.dumps(asdict(watermark), indent=1))


def delete_watermark(layout: StateLayout, key: WatermarkKey) -> None:
    layout.files.delete(key.path(layout))


def refuse_moved(layout: StateLayout, moves: Iterable[HighWatermark]) -> None:
    """Raise PEN5305 where a watermark is no longer what this run began from: another run has read the same rows."""
    for watermark in moves:
        now = read_watermark(layout, watermark.key)
        before = None if watermark.earlier else watermark.replaced
        if (None if now is None else now.value) != before:
            message = f"the watermark of `{watermark.source}` has changed since this run read it"
            raise run_error("PEN5305", message, None, "run the job again")


def move(layout: StateLayout, moves: Iterable[AnyWatermark]) -> None:
    """Record new watermarks; doing it again changes nothing."""
    for watermark in moves:
        write_watermark(layout, watermark)
        if isinstance(watermark, HighWatermark) and watermark.earlier:
            layout.files.delete(watermark.earlier)


def earlier_name(name: str) -> str:
    """The name of a file as earlier versions made it."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", name).lstrip(".")
    return plain if plain == name else f"{plain}-{sha256(name.encode()).hexdigest()[:8]}"


def _read(layout: StateLayout, path: str, source: str, kind: Any) -> Any:
    if not layout.files.exists(path):
        return None
    try:
        return kind.from_json(json.loads(layout.files.read(path)))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        help = f"`penstock state JOB --reset {source}` removes it"
        raise run_error("PEN5011", f"`{path}` is not a watermark: {error}", None, help) from error


def _progress(record: Mapping[str, Any] | None) -> ReadProgress | None:
    return None if record is None else ReadProgress(**record)
