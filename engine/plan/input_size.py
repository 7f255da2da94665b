"""Which jobs are small: their rows are read and written in seconds, so that starting costs more than they do."""

from collections.abc import Iterable
from typing import Final

from catalog.exhaustive import assert_never
from catalog.tables.savemode import WriteMode
from connectors.interface.source_abilities import SupportsSizeEstimate
from engine.plan.nodes import AnyNode, Expect, Native, Plan, Query, Rejects, Scan, Shuffle, Union, Watermark, Write

_OF_JOB: Final = 16 << 20
_OF_TABLE: Final = 256 << 10
"""Bytes of input up to which a job is small, and how many more for each table that it writes."""

_READ_TARGET: Final = (WriteMode.UPSERT, WriteMode.CHANGELOG)


def are_small(plans: Iterable[Plan]) -> bool:
    """Whether the jobs of one application are small together.

    That is known of jobs over files on this machine and generated rows alone, without a step that may make many rows
    of a few (joins, generators, code), and without a merge, which reads its target.
    """
    left = _OF_JOB
    for plan in plans:
        if plan.env.mode == "STREAMING" or not all(map(_keeps_size, plan.nodes())):
            return False
        left += _OF_TABLE * len(plan.writes)
        for node in plan.nodes():
            if isinstance(node, Scan):
                size = _input_bytes(node)
                if size is None or size > left:
                    return False
                left -= size
    return True


def _input_bytes(scan: Scan) -> int | None:
    source = scan.connector
    return source.input_bytes(scan.options, scan.table) if isinstance(source, SupportsSizeEstimate) else None


def _keeps_size(node: AnyNode) -> bool:
    match node:
        case Query():
            return not node.analysis.may_multiply
        case Write():
            return node.write_mode not in _READ_TARGET
        case Native():
            return False
        case Scan() | Union() | Expect() | Rejects() | Watermark() | Shuffle():
            return True
        case _:
            assert_never(node)
