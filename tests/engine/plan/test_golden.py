"""Every case's plan as built and after each rule that changed it; every rule idempotent over all of them."""

import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from engine.compile import Settings, compile_job
from engine.optimizer import RULES, optimize
from engine.plan.rendering.explain_text import explain
from tests.engine.plan.plan_cases import cases, read_case


def built(path, job):
    file = path / "job.conf"
    file.write_text(job)
    diagnostics = Diagnostics()
    compiled = compile_job(file, Settings(), diagnostics)
    assert compiled is not None, diagnostics.items
    return compiled.built


@pytest.mark.parametrize("path", cases(), ids=lambda path: path.stem)
def test_plan(path, tmp_path, request):
    case = read_case(path)
    plan = built(tmp_path, case.job)
    sections = {"plan": explain(plan)}

    def note(name, before, after):
        if before is not after:
            sections[name] = explain(after)

    optimize(plan, observer=note)
    case.check(sections, request.config.getoption("--update"))


@pytest.mark.parametrize("path", cases(), ids=lambda path: path.stem)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_idempotent(path, rule, tmp_path):
    plan = rule(built(tmp_path, read_case(path).job))
    assert rule(plan) is plan


def test_every_rule_has_a_case_of_its_name():
    names = {path.stem for path in cases()}
    assert {rule.__name__ for rule in RULES} <= names
