"""Files of an SFTP and an FTP server: copied by tasks, staged on the server, and committed by renames there."""

import shutil
from itertools import count
from typing import ClassVar

import pytest

import connectors
from catalog.diagnostics.diagnostic import Diagnostics, RunError
from connectors.interface.source import ScanTask
from connectors.storage.filesystem import files_at
from connectors.storage.servers.server_files import ServerFiles
from engine.cli import main
from tests.connectors.given_options import options_of
from tests.connectors.killed_files import killed_before, killed_before_each
from tests.connectors.remote_path import RemotePath
from tests.connectors.suite import ShippedSuite, SinkSuite
from tests.sampling import sampled
from tests.services.file_servers import PASSWORD

pytestmark = pytest.mark.spark

FOLDERS = count(1)


CHANGES = ((ServerFiles, "rename"), (ServerFiles, "delete"), (ServerFiles, "write_new"))
"""The changes before which a commit is killed."""


class OnServer(SinkSuite):
    """The shared suite, at paths of a server, which also holds the journals."""

    @pytest.fixture
    def tmp_path(self, request, spark, monkeypatch):
        served = request.getfixturevalue(self.scheme)
        monkeypatch.setattr(type(self), "given", {**self.given, **served.options})
        name = f"t{next(FOLDERS)}"
        (served.folder / name).mkdir()
        options = options_of(self.sink.sink_options, path="/", file_format_type="json", **served.options)
        self.sink.store_settings(options).apply(spark)
        return RemotePath.of(f"{self.sink.server(options).root}/{name}", served.folder / name)

    def read(self, spark, path):
        return spark.read.parquet(str(self.here(path)))

    def here(self, path):
        return path.here if isinstance(path, RemotePath) else self.folder / path.split("/", 3)[3]

    @pytest.fixture(autouse=True)
    def _folder(self, request):
        self.folder = request.getfixturevalue(self.scheme).folder

    def leftovers(self, tmp_path):
        return [name for name in tmp_path.children() if name not in ("target", "state", "other")]

    @pytest.mark.parametrize(("mode", "step"), [("DROP_DATA", 3), ("APPEND_DATA", 2), ("PARTITIONS", 3)])
    def test_killed_before_a_step_of_the_commit(self, spark, tmp_path, monkeypatch, mode, step):
        assert killed_before(self, step, mode, spark, tmp_path, monkeypatch, CHANGES)
        assert [name for name in tmp_path.children() if name.startswith(".")] == []

    @pytest.mark.soak
    @pytest.mark.parametrize("mode", ["DROP_DATA", "APPEND_DATA", "PARTITIONS"])
    def test_killed_before_each_step_of_the_commit(self, spark, tmp_path, monkeypatch, mode):
        """Killed before the first, the second, … of its changes on the server, each time ended by `--resume` or by the
        next run."""
        assert killed_before_each(self, mode, spark, tmp_path, monkeypatch, CHANGES) >= 3
        assert [name for name in tmp_path.children() if name.startswith(".")] == []

    def test_the_operations_are_those_of_the_local_disk(self, spark, tmp_path):
        files, root = files_at(spark, str(tmp_path))
        assert isinstance(files, ServerFiles)
        assert files.children(f"{root}/none") == files.files(f"{root}/none") == []
        files.write(f"{root}/a/one.txt", "first")
        files.write(f"{root}/a/one.txt", "second ü")
        assert files.read(f"{root}/a/one.txt") == "second ü"
        assert not files.write_new(f"{root}/a/one.txt", "third")
        assert files.write_new(f"{root}/a/b c/.two", "")
        assert files.children(f"{root}/a") == ["b c", "one.txt"]
        assert files.files(f"{root}/a") == ["b c/.two", "one.txt"]
        assert files.is_file(f"{root}/a/one.txt")
        assert not files.is_file(f"{root}/a")
        changed = int((tmp_path.here / "a/one.txt").stat().st_mtime) * 1000
        assert files.modification_times(f"{root}/a")["one.txt"] == changed
        with pytest.raises(FileExistsError):
            files.rename(f"{root}/a/one.txt", f"{root}/a/b c")
        with pytest.raises(OSError, match="none"):
            files.rename(f"{root}/none", f"{root}/c/d")
        files.rename(f"{root}/a", f"{root}/c/d")
        files.delete_empty(f"{root}/c")
        assert files.files(root) == ["c/d/b c/.two", "c/d/one.txt"]
        files.delete(f"{root}/c")
        files.delete(f"{root}/c")
        assert not files.exists(f"{root}/c")
        files.make_folder(f"{root}/e")
        files.delete_empty(f"{root}/e")
        assert tmp_path.children() == []

    def test_a_lost_connection_is_opened_again(self, spark, tmp_path):
        files, root = files_at(spark, str(tmp_path))
        files.write(f"{root}/a", "text")
        files._connection.client.close()
        assert files.read(f"{root}/a") == "text"


SAMPLE = (
    "test_same_run_id_twice",
    "test_overwrite_partitions",
    "test_second_run_on_a_held_target_is_refused",
)


@sampled(SinkSuite, *SAMPLE)
class TestSftp(OnServer):
    name = "SftpFile"
    scheme = "sftp"
    given: ClassVar = {"file_format_type": "parquet"}


@sampled(SinkSuite, *SAMPLE)
class TestFtp(OnServer):
    name = "FtpFile"
    scheme = "ftp"
    given: ClassVar = {"file_format_type": "parquet", "connection_mode": "passive_local"}


class ShippedOnServer(ShippedSuite):
    """The suite that ships with Penstock, with targets on a server."""

    def begin_at(self, request):
        served, name = request.getfixturevalue(self.described.scheme), f"t{next(FOLDERS)}"
        self.suite.folder = served.folder
        self.suite.given = {**self.described.given, **served.options}
        (served.folder / name).mkdir()
        options = options_of(self.sink.sink_options, path="/", **self.suite.given)
        self.sink.store_settings(options).apply(request.getfixturevalue("spark"))
        self.place = RemotePath.of(f"{self.sink.server(options).root}/{name}", served.folder / name)


@sampled(ShippedSuite, "test_another_process_commits_from_the_journal", "test_another_process_aborts_from_the_journal")
class TestShippedOnSftp(ShippedOnServer):
    described = TestSftp


@sampled(ShippedSuite, "test_another_process_commits_from_the_journal")
class TestShippedOnFtp(ShippedOnServer):
    described = TestFtp


JOB = """
env {{ job.mode = BATCH }}
source {{ FakeSource {{
  plugin_output = rows
  schema {{ fields {{ id = bigint, name = string, amount = "decimal(10,2)", day = date }} }}
  rows = [
    {{ kind = INSERT, fields = [1, "ä b", 1.50, "2026-01-01"] }}
    {{ kind = INSERT, fields = [2, "c", 2.50, "2026-01-02"] }}
  ]
}} }}
sink {{ {name} {{ {server}, path = "{path}", file_format_type = {kind}, {more} }} }}
"""
READ = """
source {{ {name} {{
  {server}, path = "{path}", file_format_type = {kind}, {more}
  schema {{ fields {{ id = bigint, name = string, amount = "decimal(10,2)", day = date }} }}
}} }}
sink {{ LocalFile {{ path = "{out}", file_format_type = json }} }}
"""
KINDS = {
    "csv": "enable_header_write = true",
    "json": "",
    "parquet": "",
    "orc": "",
    "avro": "",
    "xml": "xml_row_tag = r",
    "text": "field_delimiter = ;",
    "excel": "",
}


FEW = ("csv", "parquet", "excel")  # by lines, by Spark's tasks, by a file as a whole


@pytest.mark.parametrize(
    ("name", "scheme", "kinds"),
    [
        ("SftpFile", "sftp", tuple(KINDS)),
        ("FtpFile", "ftp", FEW),
        pytest.param("FtpFile", "ftp", tuple(KINDS), marks=pytest.mark.soak),
    ],
    ids=["SftpFile-sftp", "FtpFile-ftp", "FtpFile-ftp-all"],
)
def test_all_formats_are_written_and_read_and_no_secret_is_shown(
    spark, request, tmp_path, monkeypatch, capsys, name, scheme, kinds
):
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    served = request.getfixturevalue(scheme)
    server = f'host = "127.0.0.1", port = {served.port}, user = etl, password = "{PASSWORD}"'
    read, written = tmp_path / "read", tmp_path / "write"
    read.mkdir(), written.mkdir()
    for kind in kinds:
        more = KINDS[kind]
        parts = "" if kind == "excel" else ", have_partition = true, partition_by = [day]"
        given = {"name": name, "server": server, "path": f"formats/{kind}", "kind": kind}
        (written / f"{kind}.conf").write_text(JOB.format(**given, more=more + parts))
        skipped = {"excel": "skip_header_row_number = 1", "csv": "csv_use_header_line = true"}.get(kind, more)
        (read / f"{kind}.conf").write_text(READ.format(**given, more=skipped, out=tmp_path / "out" / kind))
    for folder in (written, read):
        for job in sorted(folder.iterdir()):
            assert main(["run", str(job)]) == 0, capsys.readouterr().err
    expected = [(1, "ä b", "1.50", "2026-01-01"), (2, "c", "2.50", "2026-01-02")]
    for kind in kinds:
        df = spark.read.json(str(tmp_path / "out" / kind), schema="id long, name string, amount string, day string")
        assert sorted(map(tuple, df.collect())) == expected, kind
        assert (served.folder / "formats" / kind / "day=2026-01-01").exists() == (kind != "excel")
    shown = capsys.readouterr()
    files = [file.read_text(errors="replace") for file in (tmp_path / "state").rglob("*") if file.is_file()]
    assert PASSWORD not in "".join([shown.out, shown.err, *files])


@pytest.mark.parametrize(("name", "scheme"), [("SftpFile", "sftp"), ("FtpFile", "ftp")])
def test_patterns_filters_and_large_files(spark, request, tmp_path, monkeypatch, name, scheme):
    """Large files are copied by tasks."""
    served = request.getfixturevalue(scheme)
    source = connectors.source(name)
    monkeypatch.setattr("connectors.storage.servers.transfers._SMALL_BYTES", 0)
    for number in range(6):
        folder = served.folder / "many" / f"day={number % 2}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"f{number}.json").write_text(f'{{"id": {number}}}\n')
    (served.folder / "many/day=0/_hidden.json").write_text("{no")

    def ids(path, **given):
        options = options_of(
            source.source_options, path=path, file_format_type="json", **{**served.options, **given},
            schema={"fields": {"id": "int"}},
        )  # fmt: skip
        (table,) = source.tables(options, Diagnostics())
        return sorted(row.id for row in source.read(spark.newSession(), ScanTask(options, table)).collect())

    assert ids("/many") == [0, 1, 2, 3, 4, 5]
    assert ids("many/day=1") == [1, 3, 5]
    assert ids("/many/day=*/f[0-2].json") == [0, 1, 2]
    assert ids("/many/{day=0,none}/f4.json") == [4]
    assert ids("/many", file_filter_pattern="f[45].json") == [4, 5]
    with pytest.raises(RunError, match="none"):
        ids("/none")
    with pytest.raises(RunError, match="refused the login"):
        ids("/many", password="wrong")


def test_rows_are_appended_at_the_root_of_a_server_and_never_replaced(spark, ftp, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    for left in ftp.folder.iterdir():  # by other tests
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    server = f'host = "127.0.0.1", port = {ftp.port}, user = etl, password = "{PASSWORD}"'
    job = JOB.format(name="FtpFile", server=server, path="/", kind="excel", more="data_save_mode = APPEND_DATA")
    for mode, code in (("APPEND_DATA", 0), ("APPEND_DATA", 0), ("DROP_DATA", 1)):
        (tmp_path / "job.conf").write_text(job.replace("APPEND_DATA", mode))
        assert main(["run", str(tmp_path / "job.conf")]) == code
    assert "PEN5005" in capsys.readouterr().err
    assert len(list(ftp.folder.glob("*.xlsx"))) == 2
    assert not list(ftp.folder.glob(".*"))
