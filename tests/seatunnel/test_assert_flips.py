"""Each passing Assert job fails when any one of its rules is flipped, and the error is at that rule."""

from itertools import groupby
from pathlib import Path

import pytest

from catalog.compat import Compat
from catalog.diagnostics.diagnostic import Diagnostics, PenstockError
from catalog.diagnostics.source import Span
from engine.compile import Settings, compile_job
from engine.plan.nodes import Write
from tests.seatunnel.assert_flips import AssertBlock, flipped_job, rules_of, sinks, tree_of

JOBS = Path(__file__).parent / "jobs"


def holds_assert(path: Path) -> bool:
    text = path.read_text(encoding="utf-8")
    return text.startswith("# passes") and "Assert {" in text


PASSING = sorted(path for path in JOBS.rglob("*.conf") if holds_assert(path))
SAMPLE = ("assert/values", "assert/several_tables", "assert/table_rules", "transforms/validator_routes")
"""The jobs whose values are flipped in CI; `make soak` flips those of all."""


def name_of(path: Path) -> str:
    return str(path.relative_to(JOBS).with_suffix(""))


def settings(tmp_path: Path) -> Settings:
    return Settings({"work": str(tmp_path), "data": str(Path(__file__).parent / "data")}, compat=Compat.SEATUNNEL_2)


def assert_blocks(path: Path, tmp_path: Path) -> list[AssertBlock]:
    diagnostics = Diagnostics()
    compiled = compile_job(path, settings(tmp_path), diagnostics)
    assert compiled is not None, diagnostics.items
    written = [block.options.span() for block in compiled.job.blocks if block.kind.value == "sink"]
    writes = [node for node in compiled.built.nodes() if isinstance(node, Write)]
    return [
        AssertBlock(number, rules, tuple(write.table for write in writes if write.span == written[number]))
        for number, sink in enumerate(sinks(tree_of(path)[0]))
        if (rules := rules_of(sink)) is not None
    ]


def is_at(error_span: Span | None, rule: Span) -> bool:
    if error_span is None:
        return False
    start, end = (error_span.line, error_span.column), (error_span.end_line, error_span.end_column)
    return (rule.line, rule.column) <= start and end <= (rule.end_line, rule.end_column)


def place_of(job: Path, number: int, rule: str, tmp_path: Path) -> Span:
    """The place of a rule in a job that may be invalid."""
    from engine.job.load import load_file

    loaded = load_file(job, Diagnostics(), settings(tmp_path))
    block = [block for block in loaded.blocks if block.kind.value == "sink"][number]
    return block.options.places[rule]


@pytest.mark.parametrize("path", PASSING, ids=name_of)
def test_flipped_rules_on_types_and_tables_are_errors_before_the_run(path, tmp_path):
    for block in assert_blocks(path, tmp_path):
        for flip in block.flips():
            if flip.is_static:
                job = flipped_job(path, block, [flip], tmp_path / "flipped.conf")
                diagnostics = Diagnostics()
                assert compile_job(job, settings(tmp_path), diagnostics) is None, flip
                at = place_of(job, block.number, flip.rule, tmp_path)
                assert any(is_at(each.span, at) for each in diagnostics), (flip, diagnostics.items)


@pytest.mark.spark
@pytest.mark.parametrize("name", SAMPLE)
def test_flipped_rules_on_rows_and_values_are_broken(spark, name, tmp_path, monkeypatch):
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    assert flip_values(spark, JOBS / f"{name}.conf", tmp_path) > 0


@pytest.mark.spark
@pytest.mark.soak
@pytest.mark.parametrize("path", PASSING, ids=name_of)
def test_all_flipped_rules_on_rows_and_values_are_broken(spark, path, tmp_path, monkeypatch):
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    if "_2_read" in path.name:
        assert errors_of_run(spark, path.with_name(path.name.replace("_2_read", "_1_write")), tmp_path) == ()
    flip_values(spark, path, tmp_path)


def flip_values(spark, path: Path, tmp_path: Path) -> int:
    """How many rules on rows and values were flipped; each must be reported at its place."""
    count = 0
    for block in assert_blocks(path, tmp_path):
        flips = [flip for flip in block.flips() if not flip.is_static]
        for _, of_table in groupby(flips, key=lambda flip: flip.table):
            broken = list(of_table)
            job = flipped_job(path, block, broken, tmp_path / f"flipped_{count}.conf")
            errors = errors_of_run(spark, job, tmp_path)
            for flip in broken:
                at = place_of(job, block.number, flip.rule, tmp_path)
                assert any(is_at(error.span, at) for error in errors), (flip, errors)
            count += len(broken)
    return count


def errors_of_run(spark, job: Path, tmp_path: Path):
    from engine.runtime.execute import run_job
    from engine.runtime.job_execution import diagnostics_of
    from engine.runtime.run_request import RunRequest

    diagnostics = Diagnostics()
    compiled = compile_job(job, settings(tmp_path), diagnostics)
    assert compiled is not None, diagnostics.items
    try:
        return run_job(spark, compiled, RunRequest(f"run-{len(list(tmp_path.iterdir()))}-{job.stem}")).diagnostics
    except PenstockError as error:
        return diagnostics_of(error)
