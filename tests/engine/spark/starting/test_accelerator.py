"""Which settings start Spark with Comet: the user's win, and what cannot work is refused in one sentence."""

from pathlib import Path

import pytest

pytest.importorskip("pyspark")
from catalog.diagnostics.diagnostic import RunError
from engine.spark.starting.accelerator import PLUGIN, accelerated, jar_of_version, refuse_session_without
from engine.spark.starting.accelerator_machine import refuse_machine
from engine.spark.starting.off_heap import bytes_of, off_heap

JAR = Path("/jars/comet-spark-spark4.1_2.13-1.2.0.jar")
V3 = "flags\t: avx2 bmi1 bmi2 f16c fma movbe abm sse"


@pytest.fixture(autouse=True)
def _any_machine(monkeypatch):
    monkeypatch.setattr("engine.spark.starting.accelerator.refuse_machine", lambda: None)
    monkeypatch.setattr("engine.spark.starting.accelerator.local_jar", lambda *_: JAR)


def settings(own=None, given=None, **options):
    def fetch(coordinates: str) -> Path:
        raise AssertionError(f"{coordinates} is on this machine")

    return accelerated({"spark.master": "local[2]", **(own or {})}, given or {}, fetch, **options)


def test_a_local_session_has_the_jar_on_the_class_path_of_java():
    found = settings()
    assert found["spark.driver.extraClassPath"] == str(JAR)
    assert found["spark.plugins"] == PLUGIN
    assert found["spark.memory.offHeap.enabled"] == "true"
    assert "spark.jars" not in found
    assert "spark.executor.extraClassPath" not in found


def test_executors_of_yarn_find_it_in_their_folder_and_others_at_its_path():
    yarn, standalone = settings({"spark.master": "yarn"}), settings({"spark.master": "spark://a:7077"})
    assert (yarn["spark.jars"], yarn["spark.executor.extraClassPath"]) == (str(JAR), JAR.name)
    assert standalone["spark.executor.extraClassPath"] == str(JAR)
    assert "spark.jars" not in standalone


def test_the_users_settings_win_and_lists_are_added_to():
    given = {
        "spark.shuffle.manager": "sort", "spark.memory.offHeap.size": "9g", "spark.plugins": "a.B",
        "spark.driver.extraClassPath": "/x.jar",
    }  # fmt: skip
    found = settings({"spark.comet.exec.strictFloatingPoint": "false"}, given)
    assert not found.keys() & {
        "spark.shuffle.manager",
        "spark.memory.offHeap.size",
        "spark.comet.exec.strictFloatingPoint",
    }
    assert found["spark.plugins"] == f"a.B,{PLUGIN}"
    assert found["spark.driver.extraClassPath"] == f"{JAR}:/x.jar"


def test_a_jar_that_the_user_names_is_taken_whatever_the_machine(monkeypatch):
    def refuse() -> None:
        raise AssertionError("asked for the machine")

    monkeypatch.setattr("engine.spark.starting.accelerator.refuse_machine", refuse)
    own = "/mine/comet-spark-spark4.1_2.13-1.3.0-SNAPSHOT.jar"
    assert settings({"spark.jars": f"/a.jar,file://{own}"})["spark.driver.extraClassPath"] == own
    assert "spark.driver.extraClassPath" not in settings({"spark.driver.extraClassPath": own})


@pytest.mark.parametrize("name", ["spark.comet.enabled", "spark.memory.offHeap.enabled"])
def test_a_setting_that_turns_it_off_is_an_error(name):
    with pytest.raises(RunError, match=f"`{name} = false` turns the accelerator `comet` off") as error:
        settings({name: "false"})
    assert error.value.diagnostics[0].code == "PEN5442"


def test_a_session_without_it_is_refused():
    refuse_session_without(f"a.B,{PLUGIN}")
    with pytest.raises(RunError, match="the Spark session runs already, without the accelerator") as error:
        refuse_session_without("a.B")
    assert error.value.diagnostics[0].code == "PEN5441"
    with pytest.raises(RunError, match="spark-submit has started Java without the accelerator"):
        settings(has_class=lambda: False)
    assert "spark.driver.extraClassPath" not in settings(has_class=lambda: True)


def test_there_is_no_jar_for_another_version_of_spark():
    assert jar_of_version("4.1.4").startswith("org.apache.datafusion:comet-spark-spark4.1_2.13:")
    with pytest.raises(RunError, match=r"the accelerator `comet` has no jar for Spark 3.5.1") as error:
        jar_of_version("3.5.1")
    assert error.value.diagnostics[0].code == "PEN5440"


@pytest.mark.parametrize(
    ("machine", "cpu", "reason"),
    [
        (("Darwin", "arm64", ("", "")), "", "its jar is for Linux, this is Darwin"),
        (("Windows", "AMD64", ("", "")), "", "its jar is for Linux, this is Windows"),
        (("Linux", "ppc64le", ("glibc", "2.36")), "", "64-bit Arm, this is ppc64le"),
        (("Linux", "x86_64", ("", "")), V3, "it needs glibc 2.30, this system has another C library"),
        (("Linux", "x86_64", ("glibc", "2.28")), V3, "it needs glibc 2.30, this system has glibc 2.28"),
        (("Linux", "x86_64", ("glibc", "2.36")), V3.replace("avx2 ", ""), "the processor lacks avx2"),
        (("Linux", "aarch64", ("glibc", "2.36")), "Features : fp asimd", "the processor lacks atomics, asimddp"),
    ],
)
def test_a_machine_that_it_does_not_run_on_is_named(tmp_path, machine, cpu, reason):
    (tmp_path / "cpuinfo").write_text(f"processor : 0\n{cpu}\n")
    with pytest.raises(RunError, match="the accelerator `comet` does not run here") as error:
        refuse_machine(*machine, cpu=tmp_path / "cpuinfo")
    assert reason in error.value.diagnostics[0].message
    assert error.value.diagnostics[0].code == "PEN5440"


def test_a_machine_with_all_that_it_needs_is_accepted(tmp_path):
    (tmp_path / "cpuinfo").write_text(V3)
    refuse_machine("Linux", "x86_64", ("glibc", "2.36"), cpu=tmp_path / "cpuinfo")
    refuse_machine("Linux", "x86_64", ("glibc", "2.36"), cpu=tmp_path / "missing")


@pytest.mark.parametrize(
    ("total", "free", "heap", "size"),
    [(8, 5, None, "2048m"), (8, 3, None, "1024m"), (64, 60, "4g", "16384m"), (4, 1, "1g", "512m")],
    ids=["a laptop", "a laptop with half of it in use", "a server", "hardly any"],
)
def test_memory_is_a_quarter_of_the_machine_and_half_of_what_is_free(monkeypatch, total, free, heap, size):
    monkeypatch.setattr("engine.spark.starting.off_heap._memory", lambda: (total << 30, free << 30))
    assert off_heap({"spark.master": "local[*]", **({"spark.driver.memory": heap} if heap else {})}) == size


def test_a_container_has_what_its_group_may_use(monkeypatch, tmp_path):
    for name, text in (("max", str(2 << 30)), ("current", str(1 << 28))):
        (tmp_path / name).write_text(text)
    monkeypatch.setattr("engine.spark.starting.off_heap._CGROUPS", ((tmp_path / "max", tmp_path / "current"),))
    monkeypatch.setattr("engine.spark.starting.off_heap._machine", lambda: (64 << 30, 60 << 30))
    assert off_heap({"spark.master": "local[2]", "spark.driver.memory": "512m"}) == "512m"


def test_executors_have_as_much_as_their_heap():
    assert off_heap({"spark.master": "yarn"}) == "1024m"
    assert off_heap({"spark.master": "k8s://a", "spark.executor.memory": "6g"}) == "6144m"
    assert [bytes_of(text) for text in ("512", "1g", "2GiB", "3mb", "x")] == [
        512 << 20,
        1 << 30,
        2 << 30,
        3 << 20,
        None,
    ]
