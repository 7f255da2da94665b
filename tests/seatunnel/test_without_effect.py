"""Options of SeaTunnel that change nothing here: an error with the reason, under `--compat seatunnel` a warning."""

import re

import pytest

import connectors
from engine.job.compat.unsupported_options import ENV
from engine.job.options.env import OPTIONS
from tests.seatunnel.test_tolerated import validated

FILES = "path = in, file_format_type = csv, schema { fields { id = int } }"


@pytest.mark.parametrize(
    ("parts", "named", "why"),
    [
        *(({"env": f"{name} = 5000"}, name, known.reason) for name, known in ENV.items() if name != "flink"),
        ({"env": "flink.execution.checkpointing.mode = EXACTLY_ONCE"}, "flink", "Spark runs the job"),
        ({"source": f"LocalFile {{ {FILES}, file_split_size = 1024 }}"}, "file_split_size", "maxPartitionBytes"),
        ({"source": f"HdfsFile {{ {FILES}, remote_user = a }}"}, "remote_user", "HADOOP_USER_NAME"),
        ({"sink": "Console { log.print.delay.ms = 10 }"}, "log.print.delay.ms", "once the run is committed"),
        ({"sink": "LocalFile { path = out, tmp_path = /tmp/x }"}, "tmp_path", "are staged in a hidden folder"),
    ],
)
def test_an_option_without_effect_is_an_error_and_under_the_flag_a_warning(tmp_path, capsys, parts, named, why):
    code, text = validated(tmp_path, capsys, **parts)
    assert code == 2
    assert re.search(rf"error\[PEN2003\]: \S+ does not support `{re.escape(named)}`", text)
    assert why in text
    code, text = validated(tmp_path, capsys, "--compat", "seatunnel", **parts)
    assert (code, "warning[PEN2003]" in text) == (0, True)


def test_the_value_that_means_nothing_is_no_warning_under_the_flag(tmp_path, capsys):
    sink = "Console { log.print.delay.ms = 0 }"
    assert "PEN2003" not in validated(tmp_path, capsys, "--compat", "seatunnel", sink=sink)[1]


def test_no_option_is_accepted_without_effect():
    known = [*OPTIONS]
    for name in connectors.names():
        known += getattr(connectors.source(name), "source_options", ())
        known += getattr(connectors.sink(name), "sink_options", ())
    assert len(known) > 300
    assert [option.name for option in known if re.search("no effect|without effect|^Accepted[;:,]", option.doc)] == []
