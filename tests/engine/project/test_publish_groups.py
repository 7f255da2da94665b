"""Groups of `penstock.conf` whose jobs are published together are checked by `validate`."""

from pathlib import Path

import pytest

from engine.cli import main

CSV = """source { LocalFile { plugin_output = "read", path = "in", file_format_type = "csv"
  schema { fields { id = int } } } }
"""


def job(reads: str | None, writes: str, more: str = "", env: str = "") -> str:
    source = CSV if reads is None else f'source {{ Delta {{ plugin_output = "read", path = "lake/{reads}" }} }}\n'
    return f'{env}{source}sink {{ Delta {{ plugin_input = "read", path = "lake/{writes}" {more} }} }}\n'


DAILY = 'env { interval { column = id, start = "2024-01-01" } }\n'
CHAIN = {"a": job(None, "a"), "b": job("a", "b"), "c": job("b", "c"), "d": job("c", "d")}


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs").mkdir()

    def write(groups: str, jobs: dict[str, str] = CHAIN) -> Path:
        (tmp_path / "penstock.conf").write_text(f'name = "shop"\ngroups {{ {groups} }}\n')
        for name, text in jobs.items():
            (tmp_path / "jobs" / f"{name}.conf").write_text(text)
        return tmp_path

    return write


def test_a_group_that_can_be_published_together_is_accepted(project, capsys):
    project('marts { select = "b c", publish = together }')
    assert main(["validate"]) == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    ("groups", "jobs", "code", "message"),
    [
        ('g { select = "b d", publish = together }', {}, "PEN1665", "outside of the group `g`, `c` must run between"),
        ('g { select = "a b", publish = together }\nh { select = "b c", publish = together }', {}, "PEN1664",
         "the job `b` is in the groups `g` and `h`"),
        ('b { select = "a b", publish = together }', {}, "PEN1664", "has the name of a job"),
        ('g { select = "state:new", publish = together }', {}, "PEN2702", "nothing to compare with"),
        ('g { select = "a b" }', {}, "PEN2005", "publish"),
        ('g { select = "a b", publish = togehter }', {}, "PEN2004", "together"),
        ('g { select = "a b", publish = together }',
         {"a": job(None, "a", ", write_mode = upsert, primary_keys = [id]")},
         "PEN1661", "after upsert, which rows the target has is only known once they are committed"),
        ('g { select = "a b", publish = together }', {"a": job(None, "a", ', schema_evolution = "add_columns"')},
         "PEN1661", "`schema_evolution` may change the columns"),
        ('g { select = "a b", publish = together }', {"a": job(None, "a", env="env { job.mode = STREAMING }\n")},
         "PEN1660", "it is a streaming job"),
        ('g { select = "a b", publish = together }',
         {"a": job(None, "a", ", write_mode = replace_where", DAILY).replace("id = int", "id = date")},
         "PEN1660", "its intervals are committed one by one"),
    ],
)  # fmt: skip
def test_what_keeps_a_group_from_being_published_together_is_reported(project, capsys, groups, jobs, code, message):
    project(groups, {**CHAIN, **jobs})
    assert main(["validate"]) == 2
    shown = "".join(capsys.readouterr())
    assert f"error[{code}]" in shown
    assert message in shown


def test_two_groups_that_need_each_other_are_reported(project, capsys):
    project(
        'g { select = "a d", publish = together }\nh { select = "b c", publish = together }',
        {"a": job(None, "a"), "b": job("a", "b"), "c": job(None, "c"), "d": job("c", "d")},
    )
    assert main(["validate"]) == 2
    assert "outside of the group `g`, `h` must run between its jobs" in capsys.readouterr().out


def test_explain_together_shows_what_readers_read(project, capsys):
    project("")
    assert main(["explain", "b", "a", "--together"]) == 0, capsys.readouterr().err
    shown = capsys.readouterr().out
    assert "the target of `a`, without what it adds" in shown
    assert shown.count("write ") == 2
