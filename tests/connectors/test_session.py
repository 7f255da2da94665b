"""What is missing on the machine is said in a diagnostic that tells what to install."""

import signal
import subprocess
import sys

import pytest

from catalog.diagnostics.diagnostic import RunError
from tests.conftest import SIGINT_AT_START

pytestmark = pytest.mark.spark


def check_java():
    from engine.spark.session import find_java

    with pytest.raises(RunError) as caught:
        find_java()
    (found,) = caught.value.diagnostics
    assert found.code == "PEN5002"
    assert "install Java 17" in found.help
    return found.message


def test_no_java(monkeypatch, tmp_path):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert check_java() == "Spark needs Java: `java` is not on the PATH"
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert str(tmp_path) in check_java()


@pytest.mark.parametrize(("text", "major"), [('JAVA_VERSION="1.8.0_402"', 8), ('JAVA_VERSION="25.0.1"', 25)])
def test_wrong_java(monkeypatch, tmp_path, text, major):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").write_text("")
    (tmp_path / "release").write_text(text + "\n")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert check_java() == f"Spark needs Java 17 or 21; {tmp_path}/bin/java is Java {major}"


@pytest.mark.slow
def test_a_jar_that_is_not_found():
    code = (
        "from engine.spark.session import open_session\n"
        "from catalog.diagnostics.diagnostic import RunError\n"
        "try:\n"
        "    open_session('x', {'spark.master': 'local[1]'}, ('org.example.nowhere:nothing:1.0',))\n"
        "except RunError as error:\n"
        "    print([(each.code, each.message) for each in error.diagnostics])\n"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "[('PEN5003', 'not found: `org.example.nowhere:nothing:1.0`')]\n"
    assert shown.stderr == ""


def test_ctrl_c_is_left_as_it_was(spark):
    """Also where it is ignored, as in a process that a script starts in the background."""
    assert signal.getsignal(signal.SIGINT) is SIGINT_AT_START


def test_why_spark_did_not_start_is_one_sentence_without_the_stack_trace(tmp_path):
    from engine.spark.session import _launch_error

    log = tmp_path / "spark.log"
    log.write_text(
        "WARNING: Using incubator modules: jdk.incubator.vector\n"
        'Exception in thread "main" org.apache.spark.SparkException: Master must either be yarn or local\n'
        "\tat org.apache.spark.deploy.SparkSubmit.error(SparkSubmit.scala:1065)\n"
    )
    (found,) = _launch_error(log, (), RuntimeError("Java gateway process exited")).diagnostics
    assert found.message == "Spark could not be started: Master must either be yarn or local"
    assert found.help == f"the log, with Java's stack trace, is {log}"
    assert found.notes == ()


def test_bundled_jars_include_those_that_are_added_alone(spark, tmp_path):
    from engine.package.bundle import bundle_jars
    from engine.spark.starting.jars import has_jar

    committer = "org.apache.spark:spark-hadoop-cloud_2.13:4.1.2?transitive=false"
    found = [file.name for file in bundle_jars((committer,), tmp_path / "jars")]
    assert any(name.endswith("spark-hadoop-cloud_2.13-4.1.2.jar") for name in found)
    assert has_jar(spark, committer)
    assert not has_jar(spark, "org.apache.spark:spark-hadoop-cloud_2.13:9.9.9")


def test_javas_compiler_is_left_alone_and_options_of_the_user_come_last():
    from engine.spark.session import LATE_COMPILER, _conf

    name = "spark.driver.extraJavaOptions"
    own = {name: "-XX:Tier4CompileThreshold=7"}
    assert "Tier" not in (_conf("x", {}, (), {}, {}).get(name) or "")
    options = _conf("x", own, (), {}, {}, compiling=LATE_COMPILER).get(name) or ""
    assert options.startswith(f"-Xss16m {LATE_COMPILER} -XX:Tier4CompileThreshold=7")  # the last one wins


def test_java_knows_the_options_by_which_it_compiles_later():
    from engine.spark.session import LATE_COMPILER, NO_COMPILER

    for options in (LATE_COMPILER, NO_COMPILER):
        done = subprocess.run(["java", *options.split(), "-version"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_a_misspelled_java_option_of_the_user_is_not_hidden():
    from engine.spark.session import _conf

    options = _conf("x", {"spark.driver.extraJavaOptions": "-XX:MaxHeepSize=1g"}, (), {}, {}).get(
        "spark.driver.extraJavaOptions"
    )
    done = subprocess.run(["java", *(options or "").split(), "-version"], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "MaxHeepSize" in done.stderr


def test_java_of_openj9_gets_no_options_that_it_does_not_know(tmp_path, monkeypatch):
    from engine.spark.session import LATE_COMPILER, _conf

    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").touch()
    (tmp_path / "release").write_text('JAVA_VERSION="17.0.9"\nJVM_VARIANT="OpenJ9"\n')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    conf = _conf("x", {}, (), {}, {}, compiling=LATE_COMPILER)
    assert LATE_COMPILER not in (conf.get("spark.driver.extraJavaOptions") or "")


def test_spark_replaces_no_variables_in_queries(spark):
    """It would replace `${env:HOME}` by what this process has."""
    from engine.spark.session import pipeline_session

    text = "id=${order_id}; ${env:HOME}; ${spark.app.name}"
    assert pipeline_session(spark).sql(f"select '{text}' as text").first().text == text
