"""A service that a streaming job asks again and again, each time for all its rows."""

import json

import pytest

from catalog.compat import Compat
from catalog.diagnostics.diagnostic import Diagnostics
from engine.compile import Settings, compile_job
from tests.connectors.http_.service import service

JOB = """
env {{ job.mode = STREAMING, stream.trigger = once, job.name = polled, job.retry.times = 0 }}
source {{ Http {{ url = "{url}", {options} schema {{ fields {{ id = int }} }} }} }}
sink {{ LocalFile {{ path = "{folder}/out", file_format_type = json }} }}
"""


def compiled(folder, url="http://h/", options="poll_interval_millis = 10,"):
    path, diagnostics = folder / "job.conf", Diagnostics()
    path.write_text(JOB.format(url=url, folder=folder, options=options))
    settings = Settings(compat=Compat.SEATUNNEL_2, reads_secrets=True, state_dir=str(folder / "state"))
    return compile_job(path, settings, diagnostics), diagnostics


@pytest.mark.parametrize("options", ["", "stream = false, poll_interval_millis = 10,"])
def test_a_service_without_an_interval_is_a_table(tmp_path, options):
    job, diagnostics = compiled(tmp_path, options=options)
    assert job is None
    assert [item.code for item in diagnostics if item.severity.value == "error"] == ["PEN2030"]


def test_a_service_with_an_interval_is_a_stream(tmp_path):
    job, diagnostics = compiled(tmp_path)
    assert job is not None, list(diagnostics)


@pytest.mark.spark
def test_the_rows_of_each_answer_are_written_once(spark, tmp_path):
    from engine.runtime.run_request import RunRequest, new_run_id
    from engine.runtime.streaming.run_stream import run_stream

    def written():
        files = (tmp_path / "out").glob("*.json")
        return sorted(json.loads(line)["id"] for file in files for line in file.read_text().splitlines())

    with service(lambda request: [{"id": len(there.requests)}, {"id": 10 * len(there.requests)}]) as there:
        for number in (1, 2):
            job, diagnostics = compiled(tmp_path, there.url)
            assert job is not None, list(diagnostics)
            result = run_stream(spark, job, RunRequest(new_run_id()))
            assert result.errors == ()
            assert len(there.requests) == number
    assert written() == [1, 2, 10, 20]


@pytest.mark.spark
def test_seatunnels_parameters_of_a_post_are_a_form_and_in_the_url(spark, tmp_path):
    from engine.runtime.execute import run_job
    from engine.runtime.run_request import RunRequest, new_run_id

    with service(lambda request: [{"id": 1}]) as there:
        job = tmp_path / "job.conf"
        for more in ("", "keep_params_as_form = false"):
            job.write_text(f"""
            source {{ Http {{ url = "{there.url}", method = POST, params = {{ a = "x y" }}, {more}
              schema {{ fields {{ id = int }} }} }} }}
            sink {{ Console {{}} }}
            """)
            settings = Settings(compat=Compat.SEATUNNEL_2, reads_secrets=True, state_dir=str(tmp_path / "state"))
            found = compile_job(job, settings, Diagnostics())
            assert run_job(spark, found, RunRequest(new_run_id())).errors == ()
    assert [(request.params, request.body) for request in there.requests] == [
        ({"a": "x y"}, "a=x+y"), ({"a": "x y"}, ""),
    ]  # fmt: skip
