"""The file by which Java gets the settings of a session."""

import os
import shlex
import stat
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("pyspark")
from engine.spark.starting.private_settings import handed_over, properties

JAVA = "spark.driver.extraJavaOptions"


def handed(settings, tmp_path, monkeypatch, arguments=None):
    """The arguments of spark-submit, and the texts of the files that its folder has."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    if arguments is not None:
        monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", arguments)
    before = os.environ.get("PYSPARK_SUBMIT_ARGS")
    with handed_over(settings):
        words = shlex.split(os.environ["PYSPARK_SUBMIT_ARGS"])
        (folder,) = tmp_path.glob("penstock-*")
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        texts = {path.name: path.read_text() for path in folder.iterdir()}
        assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    assert os.environ.get("PYSPARK_SUBMIT_ARGS") == before
    assert list(tmp_path.glob("penstock-*")) == []
    return words, texts


def test_settings_are_in_a_file_that_its_owner_reads(tmp_path, monkeypatch):
    monkeypatch.delenv("PYSPARK_SUBMIT_ARGS", raising=False)
    words, texts = handed({"spark.a": "planted"}, tmp_path, monkeypatch)
    assert words[0] == "--properties-file"
    assert words[2:] == ["--load-spark-defaults", "pyspark-shell"]
    assert texts == {"spark.properties": properties({"spark.a": "planted"}) + "\n"}


def test_a_file_of_the_user_is_below_the_settings(tmp_path, monkeypatch):
    own = tmp_path / "own.conf"
    own.write_text("spark.a 1\nspark.b 2")
    for arguments in (f"--properties-file {own} --conf spark.c=3 pyspark-shell", f"--properties-file={own} --conf x=1"):
        words, texts = handed({"spark.a": "7"}, tmp_path, monkeypatch, arguments)
        assert words.count("--properties-file") == 1
        assert "--load-spark-defaults" not in words
        assert words[2] == "--conf"
        assert texts["spark.properties"].splitlines()[:2] == ["spark.a 1", "spark.b 2"]


def test_a_secret_of_javas_options_is_in_a_file_of_its_own(tmp_path, monkeypatch):
    options = '-Xss16m "-Djavax.net.ssl.trustStorePassword=a b\\"c" -Dname=x'
    _, texts = handed({JAVA: options}, tmp_path, monkeypatch)
    assert texts["java.options"] == '"-Djavax.net.ssl.trustStorePassword=a b\\"c"'
    assert "trustStore" not in texts["spark.properties"].replace("\\u002e", ".")


VALUES = (
    "",
    " x ",
    "a=b:c#d!e",
    "back\\slash",
    "line\nbreak\tand\rmore",
    "é表🙂",
    "\"quotes'",
    "${x}",
    "a\\u0041",
    "#",
    "=",
)


@pytest.mark.spark
def test_java_reads_the_values_as_they_are(tmp_path):
    source = tmp_path / "Read.java"
    source.write_text(
        "import java.io.*; import java.util.*; import java.nio.charset.StandardCharsets;"
        "public class Read { public static void main(String[] a) throws Exception { Properties p = new Properties();"
        "p.load(new InputStreamReader(new FileInputStream(a[0]), StandardCharsets.UTF_8));"
        "PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);"
        "for (int i = 0; i < p.size(); i++) out.print(p.getProperty(\"k =:\" + i) + (char) 0); } }"
    )  # fmt: skip
    file = tmp_path / "p"
    file.write_text(properties({f"k =:{index}": value for index, value in enumerate(VALUES)}), encoding="utf-8")
    done = subprocess.run(["java", str(source), str(file)], capture_output=True, check=False)
    if b"compiler" in done.stderr:  # a Java without one: its file format is in the other tests
        assert Path(file).read_text().isascii()
        return
    assert tuple(done.stdout.decode().split("\0")[:-1]) == VALUES
