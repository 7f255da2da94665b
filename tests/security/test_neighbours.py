"""What other users of the machine, and of the network, find of Penstock: no file, argument or jar is theirs to use."""

import os
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from catalog.diagnostics.diagnostic import Severity
from connectors.storage.local_files import LocalFiles
from engine.cli import main
from engine.state.layout import layout_at
from engine.state.state_dir import check_writable

ROOT = Path(__file__).parents[2]
JOB = "source { FakeSource { schema { fields { a = int } } } }\nsink { Console { } }\n"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_is_written_to_a_state_directory_is_its_owners(tmp_path):
    layout = layout_at(None, str(tmp_path / "a" / "b" / ".penstock"))
    layout.mark()
    layout.files.write(layout.run("r1").record, "{}")
    layout.files.write_new(f"{layout.run('r1').journal()}/begin.json", "{}")
    made = list((tmp_path / "a" / "b" / ".penstock").rglob("*"))
    assert {mode(path) for path in made if path.is_file()} == {0o600}
    assert {mode(path) for path in (*made, tmp_path / "a" / "b" / ".penstock") if path.is_dir()} == {0o700}
    assert mode(tmp_path / "a" / "b") == mode(tmp_path / "a") == 0o777 & ~umask()


def umask() -> int:
    value = os.umask(0o022)
    os.umask(value)
    return value


def test_a_state_directory_that_others_can_read_is_tightened(tmp_path):
    state = tmp_path / ".penstock"
    (state / "runs").mkdir(parents=True)
    state.chmod(0o755)
    layout_at(None, str(state)).mark()
    assert mode(state) == 0o700


def test_a_folder_with_other_things_keeps_its_mode(tmp_path):
    (tmp_path / "runs").mkdir(mode=0o755)
    (tmp_path / "mine.txt").write_text("")
    tmp_path.chmod(0o755)
    layout_at(None, str(tmp_path)).mark()
    assert mode(tmp_path) == 0o755
    assert mode(tmp_path / "runs") == 0o700
    assert mode(tmp_path / "layout.json") == 0o600


def test_a_state_directory_with_the_setgid_bit_is_shared_by_its_group(tmp_path):
    state = tmp_path / "state"
    state.mkdir()
    state.chmod(0o2775)
    layout = layout_at(None, str(state))
    layout.mark()
    assert mode(state) == 0o2770
    assert mode(state / "layout.json") == 0o660 & ~umask()


def test_a_state_directory_of_another_user_is_reported(tmp_path, monkeypatch):
    state = tmp_path / "state"
    state.mkdir()
    state.chmod(0o755)

    def refused(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("engine.state.private_folder.os.chmod", refused)  # as for a user who does not own it
    (warning,) = check_writable(str(state))
    assert warning.code == "PEN1603"
    assert "of mode 755" in warning.message
    assert warning.severity is Severity.WARNING


def test_targets_have_the_mode_that_the_user_chose(tmp_path):
    LocalFiles().write(f"{tmp_path}/out/part", "x")
    assert mode(tmp_path / "out" / "part") == 0o666 & ~umask()


@pytest.mark.parametrize(
    "setting",
    [
        'spark.jars.repositories = "http://repo.example/maven"',
        'spark.jars.repositories = "https://a.example/x, HTTP://repo.example/maven"',
        'spark.jars = "http://repo.example/a.jar"', 'spark.files = "ftp://repo.example/a"',
        'spark.submit.pyFiles = "http://repo.example/a.py"', 'spark { jars { repositories = "http://127.0.0.1/x" } }',
        'spark.sql.hive.metastore.jars = "http://repo.example/a.jar"', 'spark.archives = "http://repo.example/a.zip"',
    ],
)  # fmt: skip
def test_code_by_plain_http_is_refused(tmp_path, monkeypatch, capsys, setting):
    (tmp_path / "job.conf").write_text(f"env {{ {setting} }}\n{JOB}")
    monkeypatch.chdir(tmp_path)
    assert main(["validate", "job.conf"]) == 2
    written = capsys.readouterr()
    shown = written.out + written.err
    assert "PEN1604" in shown or "PEN2014" in shown
    if "PEN1604" in shown:
        monkeypatch.setenv("PENSTOCK_ALLOW_HTTP", "1")
        assert main(["validate", "job.conf"]) == 0


def test_addresses_that_are_no_code_may_be_plain(tmp_path, monkeypatch, capsys):
    settings = 'spark.hadoop.fs.s3a.endpoint = "http://minio:9000", spark.jars.repositories = "https://a.example/x"'
    (tmp_path / "job.conf").write_text(f"env {{ {settings} }}\n{JOB}")
    monkeypatch.chdir(tmp_path)
    assert main(["validate", "job.conf"]) == 0


def test_a_package_has_the_files_that_its_job_names_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    jobs = tmp_path / "project" / "jobs"
    (jobs / "stores").mkdir(parents=True)
    (tmp_path / "outside.conf").write_text("token = planted-4f1c\n")
    for name in ("other.conf", "secret.conf", ".env", "keys.json", "stores/_a.conf", "stores/_b.conf", "part.conf"):
        (jobs / name).write_text("x = 1\n")
    (jobs / "deep.conf").write_text('include "part.conf"\n')
    (jobs / "link.conf").symlink_to(tmp_path / "outside.conf")
    text = 'include "stores/_${store:a}.conf"\ninclude required("deep.conf")\ninclude "link.conf"\n'
    (jobs / "job.conf").write_text(f'{text}include "../../outside.conf"\ninclude "nowhere.conf"\n{JOB}')
    assert main(["package", "project/jobs/job.conf", "-o", "app.zip"]) == 0
    with zipfile.ZipFile("app.zip") as archive:
        found = {name for name in archive.namelist() if name.startswith("jobs/")}
        assert b"planted-4f1c" not in b"".join(archive.read(name) for name in found)
    names = ("job.conf", "deep.conf", "part.conf", "stores/_a.conf", "stores/_b.conf")
    assert found == {f"jobs/0/{name}" for name in names}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems do not let a process do so")
@pytest.mark.parametrize(
    "words",
    [
        ["run", "-i", "password=planted-4f1c"], ["run", "-ipassword=planted-4f1c"], ["encrypt", "planted-4f1c"],
        ["describe", "jdbc:postgresql://me:planted-4f1c@h/d"], ["decrypt", "planted-4f1c", "--x"],
    ],
)  # fmt: skip
def test_arguments_that_are_secrets_are_overwritten(words):
    code = (
        "import sys; from engine.terminal.hidden_arguments import hide_words; hide_words(sys.argv[1:]);"
        "print(open('/proc/self/cmdline').read().replace(chr(0), ' ')); print(sys.argv[1:])"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], cwd=ROOT, capture_output=True, text=True, check=True)
    seen, own = done.stdout.splitlines()
    assert "planted" not in seen
    assert "****" in seen
    assert words[0] in seen
    assert own == str(words)


def test_no_module_writes_to_a_name_that_others_can_guess():
    """Nothing is made in a temporary folder but what `tempfile` makes, which nobody else can have made before."""
    texts = {
        path: path.read_text(encoding="utf-8")
        for folder in ("engine", "catalog", "sql", "connectors")
        for path in (ROOT / folder).rglob("*.py")
    }
    for path, text in texts.items():
        for guessable in (
            "tempfile.mktemp(",
            "from tempfile import mktemp",
            "join(tempfile.gettempdir",
            '"/tmp',
            "'/tmp",
            "/var/tmp",
        ):
            assert guessable not in text, (path, guessable)
