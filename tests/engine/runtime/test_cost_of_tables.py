"""What one more table costs a job: Java is asked a bounded number of questions, few of them for classes by name."""

import pytest

pytest.importorskip("pyspark")

from py4j.clientserver import JavaClient

from engine.cli import main

pytestmark = pytest.mark.spark

TABLE = '{{ schema {{ table = "d.t{number}", fields {{ id = bigint, name{number} = string }} }} }}'
JOB = """
source {{ FakeSource {{ row.num = 2, tables_configs = [{tables}] }} }}
sink {{ LocalFile {{ path = "{out}/${{table_name}}", file_format_type = parquet, data_save_mode = DROP_DATA }} }}
"""


@pytest.fixture
def questions(monkeypatch):
    """The commands that Python sends to Java, save those that release an object."""
    sent = []
    send = JavaClient.send_command

    def sending(self, command, *more, **named):
        if not command.startswith("m\nd\n"):
            sent.append(command)
        return send(self, command, *more, **named)

    monkeypatch.setattr(JavaClient, "send_command", sending)
    return sent


def test_a_table_asks_java_few_questions(spark, questions, tmp_path, monkeypatch):
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))

    def asked(tables):
        listed = ", ".join(TABLE.format(number=number) for number in range(tables))
        (tmp_path / "job.conf").write_text(JOB.format(tables=listed, out=tmp_path / "out"), encoding="utf-8")
        questions.clear()
        assert main(["run", str(tmp_path / "job.conf")]) == 0
        return len(questions), sum(question.startswith("r\nu\n") for question in questions)

    asked(1)  # what is asked once in a process
    before, after = asked(2), asked(5)
    each, for_classes = ((more - less) / 3 for more, less in zip(after, before, strict=True))
    assert each <= 180
    assert for_classes <= 12  # Java looks for a name in every jar
