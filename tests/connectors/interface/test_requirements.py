"""Python packages that connectors need are checked before a run starts."""

from importlib.metadata import version

import pytest

from catalog.diagnostics.diagnostic import RunError
from connectors.in_memory import InMemory
from connectors.interface.requirements import unmet_requirements
from engine.cli import main
from engine.plan.required_packages import pip_line, refuse_missing_packages
from tests.connectors.jobs import rows, write

SQLGLOT = version("sqlglot")


@pytest.mark.parametrize(
    ("requirement", "is_met"),
    [
        ("sqlglot", True),
        ("sqlglot>=1", True),
        ("sqlglot >= 1, < 1000", True),
        (f"sqlglot=={SQLGLOT}", True),
        (f"sqlglot=={SQLGLOT.split('.')[0]}.*", True),
        (f"sqlglot~={'.'.join(SQLGLOT.split('.')[:2])}", True),
        (f"sqlglot!={SQLGLOT}", False),
        ("sqlglot<1", False),
        ("sqlglot[rs]>1000", False),
        ("sqlglot~=1.0", False),
    ],
)
def test_versions_are_compared_as_pip_does(requirement, is_met):
    assert list(unmet_requirements([requirement])) == ([] if is_met else [(requirement, SQLGLOT)])


def test_a_package_that_is_not_there_has_no_version():
    assert list(unmet_requirements(["no-such-package-at-all>=1"])) == [("no-such-package-at-all>=1", None)]


@pytest.mark.parametrize("text", ["", ">=1", "sqlglot>=1; python_version < '3.12'", "sqlglot 30", "sqlglot=>1"])
def test_a_text_that_is_not_a_requirement_is_refused(text):
    with pytest.raises(ValueError, match=r"is not a (requirement|condition) such as"):
        list(unmet_requirements([text]))


class Needy(InMemory):
    name = "Needy"
    requirements = ("sqlglot<1", "no-such-package-at-all>=2,<3", "pytest")


def test_a_run_is_refused_with_the_command_that_installs_what_is_missing():
    job = [write(Needy(), rows("select 1 id", "id int"), name) for name in ("a", "b")]
    with pytest.raises(RunError) as caught:
        refuse_missing_packages(job)
    first, second = caught.value.diagnostics
    assert (first.code, second.code) == ("PEN9003", "PEN9003")
    assert first.message == (
        f"the connector `Needy` needs the Python package `sqlglot<1`: version {SQLGLOT} is installed"
    )
    assert second.message.endswith("`no-such-package-at-all>=2,<3`: it is not installed")
    assert first.help == "pip install 'sqlglot<1' 'no-such-package-at-all>=2,<3' pytest"
    assert first.span == job[0].span


def test_penstock_connectors_prints_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr(InMemory, "requirements", Needy.requirements)
    assert main(["connectors", "InMemory"]) == 0
    assert f"needs `{pip_line(Needy())}`" in capsys.readouterr().out
