"""`lag` reads rows again: a sink that only adds rows would add them on every run."""

import pytest

from engine.cli import main

JOB = """
source {{
  Jdbc {{
    plugin_output = events, url = "jdbc:postgresql://db/shop", table_path = "public.events"
    schema {{ fields {{ id = bigint, at = timestamp }} }}
    incremental {{ column = at{lag} }}
    {expectations}
  }}
  Delta {{ plugin_output = there, path = "lake/events", schema {{ fields {{ id = bigint, at = timestamp }} }} }}
}}
sink {{ {sinks} }}
"""
LAG = ', lag = "10 minutes"'
UPSERT = 'Delta { plugin_input = events, path = "lake/upserted", write_mode = upsert, primary_keys = [id] }'
APPEND = 'Delta { plugin_input = events, path = "lake/events" }'
FILES = 'LocalFile { plugin_input = events, path = "out", file_format_type = parquet }'
REPLACED = 'LocalFile { plugin_input = events, path = "out", file_format_type = parquet, data_save_mode = DROP_DATA }'
BAD = 'LocalFile { plugin_input = bad, path = "bad", file_format_type = parquet }'
QUARANTINE = 'expectations = [{ condition = "id > 0", on_violation = QUARANTINE, quarantine = bad }]'
UNREAD = "\nConsole { plugin_input = there }"


@pytest.mark.parametrize(
    ("sinks", "lag", "expectations", "refused"),
    [
        (UPSERT + UNREAD, LAG, "", None),
        (APPEND + UNREAD, LAG, "", "`events_out` would add them again"),
        (APPEND + UNREAD, ", lag = 0", "", "`events_out` would add them again"),
        (APPEND + UNREAD, "", "", None),
        (FILES + UNREAD, LAG, "", "would add them again"),
        (REPLACED + UNREAD, LAG, "", None),
        (UPSERT + '\n' + BAD + UNREAD, LAG, QUARANTINE, "`bad` would add them again"),
        ("Console { plugin_input = events }" + UNREAD, LAG, "", None),
    ],
)  # fmt: skip
def test_a_lag_with_a_sink_that_only_adds_rows_is_refused(tmp_path, capsys, sinks, lag, expectations, refused):
    path = tmp_path / "job.conf"
    path.write_text(JOB.format(sinks=sinks, lag=lag, expectations=expectations))
    assert main(["validate", str(path)]) == (2 if refused else 0), capsys.readouterr()
    said = capsys.readouterr()
    assert ("PEN5260" in said.err + said.out) == bool(refused)
    assert (refused or "") in said.err + said.out


def test_a_query_that_leaves_out_what_its_target_has_is_not_refused(tmp_path, capsys):
    path = tmp_path / "job.conf"
    query = "select e.* from events e left anti join there t on e.id = t.id"
    fresh = f'transform {{ Sql {{ plugin_input = [events, there], plugin_output = fresh, query = "{query}" }} }}'
    text = JOB.format(sinks='Delta { plugin_input = fresh, path = "lake/events" }', lag=LAG, expectations="")
    path.write_text(text + fresh)
    assert main(["validate", str(path)]) == 0, capsys.readouterr()


def test_the_lag_of_files_that_arrive_repeats_no_rows(tmp_path, capsys):
    path = tmp_path / "job.conf"
    source = (
        'LocalFile { plugin_output = events, path = "in/*.json", file_format_type = json, '
        'schema { fields { id = bigint } }, incremental { lag = "2 days" } }'
    )
    path.write_text(f"source {{ {source} }}\nsink {{ {FILES} }}")
    assert main(["validate", str(path)]) == 0, capsys.readouterr()


MISSING = (
    'Delta {{ plugin_input = {0}, path = "lake/versions", write_mode = {1}, primary_keys = [id], missing_keys = end }}'
)


@pytest.mark.parametrize(
    ("source", "mode", "code", "said"),
    [
        ("there", "scd2", "", ""),
        ("events", "scd2", "PEN5460", "`events` is incremental, and brings only new rows"),
        ("there", "upsert", "PEN2011", "`missing_keys = end` has no meaning for write_mode upsert"),
    ],
)
def test_keys_are_ended_only_by_a_load_of_all_rows(tmp_path, capsys, source, mode, code, said):
    path = tmp_path / "job.conf"
    other = "events" if source == "there" else "there"
    sinks = MISSING.format(source, mode) + f"\nConsole {{ plugin_input = {other} }}"
    path.write_text(JOB.format(sinks=sinks, lag="", expectations=""))
    assert main(["validate", str(path)]) == (2 if code else 0), capsys.readouterr()
    shown = capsys.readouterr()
    assert code in shown.out + shown.err
    assert said in shown.out + shown.err
