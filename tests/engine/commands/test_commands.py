"""The commands, their exit codes, and what reaches the user when something is wrong. No Spark here."""

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import engine.cli
from engine.cli import main
from engine.commands import command, command_names
from engine.job.find import find_jobs

ROOT = Path(__file__).parents[3]
GOOD = """
source { FakeSource { plugin_output = "t", schema { fields { id = bigint, name = string } } } }
transform { Sql { query = "select id, upper(name) as name from t where id > ${least:0}" } }
sink { Console {} }
"""
BAD = GOOD.replace("upper(name)", "upper(nam)")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.conf").write_text(GOOD)
    (tmp_path / "bad.conf").write_text(BAD)
    (tmp_path / "streaming.conf").write_text('env { job.mode = "STREAMING" }' + GOOD)
    return tmp_path


def test_every_command_says_what_it_does_and_takes_help(capsys):
    assert {"validate", "explain", "run", "runs", "connectors", "package", "encrypt", "decrypt"} <= set(command_names())
    for name in command_names():
        assert command(name).SUMMARY
        assert main([name, "--help"]) == 0
        assert f"usage: penstock {name}" in capsys.readouterr().out


def test_a_good_job_validates(folder, capsys):
    assert main(["validate", "good.conf"]) == 0
    assert "1 job: no errors found; typed 100 %" in capsys.readouterr().out


def test_a_error_is_shown_at_its_place(folder, capsys):
    assert main(["validate", "bad.conf"]) == 2
    out = capsys.readouterr().out
    assert "error[PEN3004]" in out
    column = BAD.splitlines()[2].index("nam)") + 1
    assert f"bad.conf:3:{column}" in out
    assert "^^^" in out


@pytest.mark.parametrize("name", ["deep.conf", "deep.json"])
@pytest.mark.parametrize(("opener", "closer", "column"), [("[", "]", 109), ('{"a":', "}", 505)])
def test_a_file_with_too_many_nested_brackets_leaves_the_others_checked(name, opener, closer, column, folder, capsys):
    (folder / name).write_text('{"sink": ' + opener * 5000 + closer * 5000 + "}")
    assert main(["validate", "."]) == 2
    out = capsys.readouterr().out
    assert "error[PEN1002]: more than 100 levels of brackets and dotted keys are nested" in out
    assert f"{name}:1:{column}" in out
    assert "error[PEN3004]" in out, "that of bad.conf"
    assert "4 jobs:" in out
    assert main(["fmt", "--check", name]) == 2
    assert main(["graph", name, "--output", "page.html"]) == 2
    assert capsys.readouterr().err.count("PEN1002") == 2


@pytest.mark.parametrize(
    "words",
    [
        ["run", "good.conf", "--run-id", "../up"],
        ["run", "good.conf", "--run-id", ""],
        ["run", "good.conf", "--run-id", "a[b]"],
        ["run", "--resume", "one", "--dry-run"],
        ["run", "--resume", "one", "--run-id", "two"],
        ["runs", "--limit", "0"],
        ["test", ".", "--workers", "0"],
        ["expectations", "one", "--state-dir", "hdfs://far/state"],
    ],
)
def test_arguments_that_make_no_sense_are_refused(folder, capsys, words):
    assert main(words) == 2
    assert "PEN9001" not in capsys.readouterr().err


def test_a_uid_is_a_plain_name(folder, capsys):
    Path("named.conf").write_text(GOOD.replace("Console {}", 'Console { uid = "a/b" }'))
    assert main(["validate", "named.conf"]) == 2
    assert "error[PEN2004]: `a/b` cannot be a `uid`" in capsys.readouterr().out


def test_machine_formats_are_whole_documents(folder, capsys):
    assert main(["validate", "bad.conf", "--format", "json"]) == 2
    (diagnostic,) = json.loads(capsys.readouterr().out)
    assert (diagnostic["code"], diagnostic["file"], diagnostic["line"], diagnostic["severity"]) == (
        "PEN3004",
        "bad.conf",
        3,
        "error",
    )
    assert main(["validate", "good.conf", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert main(["validate", ".", "--format", "sarif"]) == 2
    assert len(json.loads(capsys.readouterr().out)["runs"][0]["results"]) == 2
    assert main(["validate", "bad.conf", "--format", "github"]) == 2
    assert capsys.readouterr().out.startswith("::error file=bad.conf,line=3")


def test_folders_and_globs_lead_to_jobs(folder, monkeypatch):
    from catalog.diagnostics.diagnostic import Diagnostics

    (folder / "deep" / ".hidden").mkdir(parents=True)
    for name in ("deep/a.hocon", "deep/_part.conf", "deep/a.test.conf", "deep/.hidden/b.conf", "deep/notes.json"):
        (folder / name).write_text("{}")
    (folder / "deep" / "job.json").write_text('{"sink": []}')
    diagnostics = Diagnostics()
    names = [str(path) for path in find_jobs([".", "*.conf", "good.conf"], diagnostics)]
    assert names == ["bad.conf", "deep/a.hocon", "deep/job.json", "good.conf", "streaming.conf"]
    assert not diagnostics.has_errors
    (folder / "we[red]ird.conf").write_text(GOOD)
    (folder / "weeird.conf").write_text(GOOD)
    (folder / "[a]*").mkdir()
    (folder / "[a]*" / "b.conf").write_text(GOOD)
    assert [str(path) for path in find_jobs(["we[red]ird.conf", "[a]*"], diagnostics)] == [
        "we[red]ird.conf", "[a]*/b.conf",
    ]  # fmt: skip
    assert [str(path) for path in find_jobs(["we[e]ird.conf"], diagnostics)] == ["weeird.conf"]
    assert not diagnostics.has_errors
    assert find_jobs(["nothing/*.conf", "missing.conf"], diagnostics) == ()
    assert [item.code for item in diagnostics] == ["PEN1001", "PEN1001"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["validate"], 2),
        (["validate", "missing.conf"], 2),
        (["nonsense"], 2),
        ([], 2),
        (["run"], 2),
        (["run", "streaming.conf"], 2),
        (["explain", "bad.conf"], 2),
        (["explain", "good.conf", "--disable", "no_such_rule"], 2),
        (["validate", "good.conf", "-i", "novalue"], 2),
        (["connectors", "Nonsense"], 2),
        (["package", "good.conf", "-o", "app.tar"], 2),
        (["--version"], 0),
        (["--help"], 0),
    ],
)
def test_exit_codes(words, code, folder, capsys):
    assert main(words) == code


def test_a_mistyped_command_and_a_missing_one_say_what_there_is(folder, capsys):
    assert main(["vlidate", "good.conf"]) == 2
    assert "there is no command `vlidate`: did you mean `validate`?" in capsys.readouterr().err
    assert main(["good.conf"]) == 2
    assert "penstock validate good.conf, or penstock run good.conf" in capsys.readouterr().err
    assert main([]) == 2
    assert "init" in capsys.readouterr().err


def test_variables_reach_the_plan(folder, capsys):
    assert main(["explain", "good.conf", "-i", "least=7 + 1"]) == 0
    assert "id > 7 + 1" in capsys.readouterr().out


def test_explain_shows_rules_and_json(folder, capsys):
    assert main(["explain", "good.conf", "--rules", "--columns"]) == 0
    assert "rule" in capsys.readouterr().out
    assert main(["explain", "good.conf", "--format", "json"]) == 0
    nodes = json.loads(capsys.readouterr().out)["nodes"]
    assert [node["kind"] for node in nodes] == ["scan", "query", "write"]
    assert nodes[1]["columns"][1] == {"name": "name", "type": "string", "nullable": True}


def test_an_unexpected_error_is_reported_without_a_trace(folder, capsys, monkeypatch):
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("something nobody thought of")

    monkeypatch.setattr("engine.compile.optimize", broken)
    assert main(["explain", "good.conf"]) == 1
    err = capsys.readouterr().err
    assert "error[PEN9001]: RuntimeError: something nobody thought of" in err
    assert "--verbose" in err
    assert "Traceback" not in err
    assert main(["validate", "good.conf"]) == 2
    out = capsys.readouterr().out
    assert "error[PEN9001]: in `good.conf`: RuntimeError: something nobody thought of" in out
    assert "`penstock explain good.conf --verbose` shows the whole trace" in out
    assert main(["explain", "--verbose", "good.conf"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_another_distributions_package_is_noticed(tmp_path):
    (tmp_path / "sql").mkdir()
    (tmp_path / "sql" / "__init__.py").write_text("")
    program = (
        f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(ROOT)!r}]\n"
        "from engine.cli import main; sys.exit(main(['runs']))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "error[PEN9002]: the package `sql` is" in done.stderr


def test_a_connector_shows_its_options(capsys):
    assert main(["connectors"]) == 0
    assert "LocalFile" in capsys.readouterr().out
    assert main(["connectors", "localfile"]) == 0
    out = capsys.readouterr().out
    assert "as a source:" in out
    assert "file_format_type (string; required; one of csv, json, parquet, orc, text" in out


def test_secrets_go_there_and_back(capsys, monkeypatch):
    assert main(["encrypt", "--new-key"]) == 0
    monkeypatch.setenv("PENSTOCK_SHADE_KEY", capsys.readouterr().out.strip())
    assert main(["encrypt", "s3cret"]) == 0
    sealed = capsys.readouterr().out.strip()
    assert "s3cret" not in sealed
    assert main(["decrypt", sealed]) == 0
    assert capsys.readouterr().out == "s3cret\n"
    monkeypatch.delenv("PENSTOCK_SHADE_KEY")
    assert main(["decrypt", sealed]) == 2


def test_a_value_that_is_not_encrypted_is_not_decrypted(capsys):
    assert main(["decrypt", "nonsense"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "error[PEN1005]: the value is not encrypted" in shown.err
    assert "`--shade base64`" in shown.err
    assert main(["decrypt", "--shade", "base64", "bm9uc2Vuc2U="]) == 0
    assert capsys.readouterr().out == "nonsense\n"


def test_validate_starts_without_spark_and_fast(folder):
    program = (
        "import sys; from engine.cli import main; code = main(['validate', 'good.conf'])\n"
        "heavy = {'pyspark', 'py4j', 'pandas', 'numpy', 'pyarrow', 'great_expectations', 'rich', 'cryptography', "
        "'google.protobuf'}\n"
        "print(sorted(heavy & set(sys.modules))); sys.exit(code)"
    )
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/nowhere"}
    command = [sys.executable, "-c", program]
    best = float("inf")
    for _ in range(3):
        before = cpu_of_children()
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        best = min(best, cpu_of_children() - before)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[-1] == "[]", "modules that validate has no use for"
    assert best < 1.5, "CPU seconds, which a busy machine stretches too; benchmarks/ has the measurement"


def cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_output_that_nobody_reads_is_no_success(folder):
    for number in range(400):  # more errors than a pipe holds
        (folder / f"bad{number}.conf").write_text(BAD)
    shown = subprocess.Popen(
        [sys.executable, "-m", "engine.cli", "validate", "--processes", "1", "."],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={"PYTHONPATH": str(ROOT)},
    )
    shown.stdout.close()
    assert shown.wait() == 141


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("penstock ")
    assert engine.cli.shadowed_package() is None


@pytest.mark.parametrize("words", [["graph", "good.conf", "-o"], ["convert", "good.conf", "-o"]])
def test_a_file_that_cannot_be_written_is_no_internal_error(folder, capsys, words):
    assert main([*words, "good.conf/page"]) == 2
    err = capsys.readouterr().err
    assert "error[PEN1006]: `good.conf" in err
    assert "cannot be read or written: Not a directory" in err
    assert "Traceback" not in err
