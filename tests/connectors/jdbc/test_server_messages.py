"""What users read of an error of a database: its ERROR, DETAIL and HINT, not its context, and no values of rows."""

import pytest

from connectors.jdbc.server_messages import server_message, without_values
from engine.cli import main
from tests.services.proxies import proxy

MESSAGES = [
    (
        "ERROR: null value in column \"a\" of relation \"t\" violates not-null constraint\n"
        "  Detail: Failing row contains (1, null, secret).",
        'null value in column "a" of relation "t" violates not-null constraint', None,
    ),
    (
        'ERROR: duplicate key value violates unique constraint "t_pkey"\n  Detail: Key (id)=(secret) already exists.',
        'duplicate key value violates unique constraint "t_pkey" (Key (id) already exists)', None,
    ),
    (
        "adbc_driver_manager.DataError: INVALID_DATA: [libpq] Failed to execute COPY: PGRES_FATAL_ERROR ERROR:  "
        'invalid byte sequence for encoding "UTF8": 0x00\nDETAIL:  a detail\nHINT:  a hint\nCONTEXT:  COPY t, line 1\n'
        ". SQLSTATE: 22021",
        'invalid byte sequence for encoding "UTF8": 0x00 (a detail)', "a hint",
    ),
    (
        "Batch entry 0 INSERT INTO t VALUES (('secret')) was aborted: ERROR: value too long for type character "
        "varying(3)  Call getNextException to see other errors in the batch.",
        "value too long for type character varying(3)", None,
    ),
    ('ERROR: column "b" does not exist\n  Hint: Perhaps you meant "a".\n  Position: 8', 'column "b" does not exist',
     'Perhaps you meant "a".'),
]  # fmt: skip


@pytest.mark.parametrize(("message", "text", "hint"), MESSAGES, ids=range(len(MESSAGES)))
def test_the_error_the_detail_and_the_hint_are_shown(message, text, hint):
    said = server_message(message)
    assert (said.text, said.hint) == (text, hint)
    assert "secret" not in said.text


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("(conn=3) Duplicate entry 'secret' for key 'PRIMARY'", "(conn=3) Duplicate entry for key 'PRIMARY'"),
        ("Cannot insert duplicate key in object 'dbo.t'. The duplicate key value is (secret).",
         "Cannot insert duplicate key in object 'dbo.t'."),
    ],
)  # fmt: skip
def test_messages_of_other_servers_have_no_values(message, expected):
    assert server_message(message) is None
    assert without_values(message) == expected


JOB = """
env {{ job.name = names, job.retry.times = {tries}, job.retry.interval.seconds = 0 }}
source {{ FakeSource {{ row.num = {rows}, schema {{ fields {{ id = int, name = string }} }} {source} }} }}
sink {{ Jdbc {{ url = "{url}", user = "{user}", password = "{password}", {sink} }} }}
"""


def job_of(tmp_path, database, *, sink, source="", rows=3, tries=0, url=None):
    path = tmp_path / "job.conf"
    text = JOB.format(
        tries=tries, rows=rows, source=source, sink=sink, url=url or database.url, user=database.user,
        password=database.password,
    )  # fmt: skip
    path.write_text(text)
    return str(path)


@pytest.mark.spark
def test_a_database_and_a_table_with_its_schema_name_one_table(spark, postgres, tmp_path, capsys):
    """SeaTunnel's `database = "postgres"`, `table = "public.t"`: three names, of which the second is the schema."""
    postgres.clear()
    postgres.run("drop schema if exists other cascade", "create schema other")
    for name, expected in (("public.t", "public"), ("other.t", "other"), ("t", "public")):
        postgres.run("drop table if exists public.t", "drop table if exists other.t")
        for run in range(2):  # a new table, and one that is there
            job = job_of(tmp_path, postgres, sink=f'database = "postgres", table = "{name}"')
            assert main(["run", job, "--quiet"]) == 0, capsys.readouterr().err
            assert postgres.rows(f"select count(*) from {expected}.t") == [(3 * run + 3,)]
    postgres.run("drop schema other cascade")


@pytest.mark.spark
def test_a_row_that_copy_refuses_shows_the_servers_error(spark, postgres, tmp_path, capsys):
    postgres.clear()
    source = ', rows = [{ kind = INSERT, fields = [1, "a\\u0000b"] }]'
    job = job_of(tmp_path, postgres, sink='table = "t"', source=source, rows=1)
    assert main(["run", job, "--quiet"]) == 1
    err = capsys.readouterr().err
    assert 'error[PEN5013]: the database refused rows: invalid byte sequence for encoding "UTF8": 0x00' in err
    assert "CONTEXT" not in err
    assert "SQLSTATE" not in err
    assert postgres.tables() == ["penstock_commits", "penstock_staging"]


@pytest.mark.spark
def test_a_connection_that_is_lost_in_copy_is_retried(spark, postgres, tmp_path, capsys):
    """Once the load is repeated; if it is lost again and again, the message says so."""
    for cuts, code in ((1, 0), (100, 1)):
        postgres.clear()
        with proxy(postgres.port, most=150_000, cuts=cuts) as between:
            url = postgres.url.replace(str(postgres.port), str(between.port))
            assert main(["run", job_of(tmp_path, postgres, sink='table = "t"', rows=40_000, tries=1, url=url)]) == code
            assert between.cut == min(cuts, 2)
        out, err = capsys.readouterr()
        if code:
            assert "error[PEN5012]: the connection to the database was lost: server closed the connection" in err
            assert "check that the server is running, and run the job again" in err
            assert "t" not in postgres.tables()
        else:
            assert "2 tries" in out
            assert postgres.rows("select count(*), count(distinct id) > 1 from t") == [(40_000, True)]
