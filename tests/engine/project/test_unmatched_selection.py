"""What a selection names in vain is a warning with what may have been meant; it selects nothing."""

import pytest

from engine.cli import main

JOB = """
env { tags = [nightly] }
source { FakeSource { plugin_output = f, row.num = 1, schema { fields { id = int } } } }
sink { Console { plugin_input = f } }
"""


@pytest.mark.parametrize(
    ("selection", "warnings"),
    [
        (["orders"], []),
        (["tag:nightly", "orders"], []),
        (["ordrs"], ["`ordrs` matches no job", "did you mean `orders`?"]),
        (["tag:nightli"], ["`tag:nightli` matches no job", "did you mean `nightly`?"]),
        (["ord*"], ["`ord*` matches no job", "`*.ord*` matches jobs in folders, too"]),
        (["config.job.mode:STREAMING"], ["`config.job.mode:STREAMING` matches no job"]),
        (["orders", "--exclude", "tag:daily"], ["`tag:daily` matches no job"]),
        (["+orders,nothing+"], ["`nothing` matches no job"]),
    ],
)
def test_a_criterion_that_matches_nothing_is_reported(tmp_path, monkeypatch, capsys, selection, warnings):
    (tmp_path / "jobs" / "raw").mkdir(parents=True)
    (tmp_path / "penstock.conf").write_text('name = "shop"\njobs = ["jobs"]\n')
    (tmp_path / "jobs" / "raw" / "orders.conf").write_text(JOB)
    monkeypatch.chdir(tmp_path)
    assert main(["ls", "--select", *selection]) == 0
    shown = capsys.readouterr()
    assert all(warning in shown.err for warning in warnings)
    assert shown.err.count("warning[PEN5425]") == bool(warnings)
    assert shown.out == ("orders\n" if "orders" in selection else "")
