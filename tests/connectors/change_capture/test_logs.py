"""The logs of real servers, read without Spark: which transactions they yield, and what is refused."""

import time

import pytest

from catalog.diagnostics.diagnostic import RunError
from connectors.change_capture.log_reader import LogReader
from connectors.change_capture.log_tail import LogTail
from connectors.change_capture.stored_snapshot import SourceFolder
from connectors.mysql_cdc.server import MysqlServer, keeps_columns
from connectors.postgres_cdc.server import PostgresServer
from connectors.postgres_cdc.text_values import array_items
from connectors.storage.local_files import LocalFiles
from tests.connectors.change_capture.capture_jobs import purge_log


def read(log, seconds=1.0):
    """The rows before and after each change that the log has in the next moment."""
    found, until = [], time.monotonic() + seconds
    while time.monotonic() < until:
        transaction = log.next(0.1)
        for changes in transaction.changes.values() if transaction else ():
            found += [(change.before and change.before[0], change.after and change.after[0]) for change in changes]
            until = time.monotonic() + 0.3
    return found


@pytest.fixture
def binlog(mariadb):
    mariadb.clear()
    mariadb.run("create table t (id int primary key, name varchar(9), twice int as (id * 2) stored)")
    settings = {"host": "127.0.0.1", "port": mariadb.port, "user": mariadb.user, "password": mariadb.password}
    server = MysqlServer(settings, 77)
    log = server.open(server.now(), ["test.t"])
    yield mariadb, server, log
    log.close()


def test_a_binary_log_has_what_was_committed(binlog):
    mariadb, _, log = binlog
    insert = "insert into t (id) values ({})".format
    mariadb.run("begin", insert(1), "savepoint a", insert(2), "rollback to savepoint a", insert(3), "commit")
    mariadb.run("begin", insert(4), "rollback", "update t set id = 5 where id = 3", "delete from t where id = 1")
    mariadb.run("create table other like t", "insert into other (id) values (1)", "alter table t add index (name)")
    mariadb.run("truncate table t", insert(6))
    assert read(log) == [(None, 1), (None, 3), (3, 5), (1, None), (None, None), (None, 6)]


@pytest.mark.parametrize(
    ("statements", "code", "said"),
    [
        (["alter table t add column z int"], "PEN5492", "alter table t add column z int"),
        (["create table n like t", "rename table t to old, n to t"], "PEN5492", "rename table t to old, n to t"),
        (["create or replace table t (id int primary key)"], "PEN5492", "create or replace table t"),
        (["xa start 'x'", "insert into t (id) values (1)", "xa end 'x'", "xa prepare 'x'", "xa commit 'x'"],
         "PEN5490", "a transaction in two phases (XA)"),
        (["set session binlog_row_image = MINIMAL", "insert into t (id) values (1)", "delete from t"],
         "PEN5490", "the log has only some columns of `test.t`"),
        (["set session binlog_format = STATEMENT", "insert into t (id) values (1)"],
         "PEN5490", "the log has a statement on `test.t`, not its rows"),
    ],
    ids=["add column", "rename table", "replace table", "xa", "row image", "statement"],
)  # fmt: skip
def test_what_a_binary_log_cannot_tell_is_refused(binlog, statements, code, said):
    mariadb, _, log = binlog
    mariadb.run(*statements, "insert into t (id) values (9)")
    with pytest.raises(RunError) as caught:
        read(log, 3)
    assert caught.value.diagnostics[0].code == code
    assert said in caught.value.diagnostics[0].message


@pytest.mark.parametrize(
    ("statement", "keeps"),
    [
        ("ALTER TABLE t ADD INDEX a (b, c), DROP KEY d", True),
        ("alter table `t` comment = 'x'", True),
        ("/* tool */ create unique index i on t (a)", True),
        ("alter table t add index (a), add column b int", False),
        ("alter table t add b int", False),
        ("alter table t rename to u", False),
        ("drop table t", False),
        ("alter table t modify a bigint", False),
    ],
)
def test_statements_that_leave_the_columns_as_they_are(statement, keeps):
    assert keeps_columns(statement) is keeps


def test_a_position_is_before_what_follows_a_snapshot(binlog):
    mariadb, server, _ = binlog
    mariadb.run("insert into t (id) values (1), (2)")
    with server.snapshot("test.t") as snapshot:
        mariadb.run("insert into t (id) values (3)", "delete from t where id = 1")
        rows = [row["id"] for part in snapshot.parts for row in part.to_pylist()]
    log = server.open(snapshot.at, ["test.t"])
    assert (rows, read(log)) == ([1, 2], [(None, 3), (1, None)])
    log.close()


def test_a_slot_begins_where_its_snapshot_ends(captured):
    captured.run("create table t (id int primary key, name text)", "insert into t values (1, ''), (2, null)")
    settings = {"host": "127.0.0.1", "port": str(captured.port), "dbname": "postgres", "user": captured.user,
                "password": captured.password}  # fmt: skip
    server = PostgresServer(settings, "tested", "tested")
    server.prepare(["public.t"], is_begun=False)
    with captured.connect() as open_transaction:
        cursor = open_transaction.cursor()
        cursor.execute("select 1")  # without changes: it does not hold the snapshot up
        with server.snapshot("public.t") as snapshot:
            captured.run(
                "insert into t values (3, 'x')", "delete from t where id = 1", "update t set id = 4 where id = 2"
            )
            rows = [tuple(row.values()) for part in snapshot.parts for row in part.to_pylist()]
    log = server.open(snapshot.at, ["public.t"])
    assert rows == [(1, ""), (2, None)]
    assert read(log) == [(None, "3"), ("1", None), ("2", "4")]
    log.close()
    log = server.open(snapshot.at, ["public.t"])  # the same again, until it is confirmed
    assert len(read(log)) == 3
    log.confirm(server.now())
    log.close()
    log = server.open(snapshot.at, ["public.t"])
    assert read(log) == []
    log.close()


def lost(server, table, start):
    with pytest.raises(RunError) as caught:
        server.refuse_lost(table, start, start)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "PEN5494"
    return diagnostic.message


def test_a_log_that_is_lost(captured, binlog):
    captured.run("create table t (id int primary key)")
    settings = {"host": "127.0.0.1", "port": str(captured.port), "dbname": "postgres", "user": captured.user,
                "password": captured.password}  # fmt: skip
    server = PostgresServer(settings, "tested", "tested")
    server.prepare(["public.t"], is_begun=False)
    start = server.now()
    server.refuse_lost("public.t", start, start)
    captured.run("insert into t values (1)")
    captured.run("select pg_replication_slot_advance('tested', pg_current_wal_lsn())")
    assert "was moved to" in lost(server, "public.t", start)
    captured.run("select pg_drop_replication_slot('tested')")
    assert "has no replication slot `tested`" in lost(server, "public.t", start)
    mariadb, mysql, log = binlog
    start = mysql.now()
    mysql.refuse_lost("test.t", start, start)
    log.close()
    purge_log(mariadb)
    assert "has purged its log up to" in lost(mysql, "test.t", start)


@pytest.mark.parametrize("kind", ["postgres", "mariadb"])
def test_a_table_that_is_added_while_a_transaction_is_read_loses_none(captured, binlog, tmp_path, kind, monkeypatch):
    """The log that is open then has not looked for the changes of that table."""
    if kind == "postgres":
        captured.run("create table t (id int primary key)", "create table other (id int primary key)")
        settings = {"host": "127.0.0.1", "port": str(captured.port), "dbname": "postgres", "user": captured.user,
                    "password": captured.password}  # fmt: skip
        database, server, names = captured, PostgresServer(settings, "tested", "tested"), ("public.t", "public.other")
        server.prepare(names, is_begun=False)
    else:
        database, server, log = binlog
        log.close()
        database.run("create table other (id int primary key)")
        names = ("test.t", "test.other")
    start = server.now()
    for statement in ("insert into t (id) values (1)", "insert into other values (1)", "insert into t (id) values (2)"):
        database.run(statement)
    tails, taken = [], []
    for name in names:
        folder = tmp_path / name
        folder.mkdir()
        at = {"first": start, "reached": start, "committed": start, "seen": start, "confirmed": start}
        tails.append(LogTail(name, name, SourceFolder(LocalFiles(), str(folder)), str(folder / "offer"), **at))
    reader, opened = LogReader(server, names, most_ahead=1000), server.open

    def open_log(at, tables):
        log = opened(at, tables)
        next_one = log.next

        def next(seconds):
            found = next_one(seconds)
            taken.extend(found.changes if found is not None else ())
            if len(taken) == 2 and len(reader.tails) == 1:  # the change of `other` is passed over
                reader.add(tails[1])
            return found

        log.next = next
        return log

    monkeypatch.setattr(server, "open", open_log)
    reader.add(tails[0])
    try:
        end = server.now()
        reader.wait_until(tails[0], end)
        reader.wait_until(tails[1], end)
        found = [len(reader.changes(tail, start, end)) for tail in tails]
    finally:
        reader.close()
    assert found == [2, 1]


def test_columns_in_another_order_than_when_a_stream_began(binlog):
    mariadb, server, log = binlog
    log.close()
    mariadb.run("create table pair (x int primary key, y int)")
    (shape,) = server.shapes(["test.pair"]).values()
    server.remember("test.pair", [(column.name, column.native) for column in shape.columns])
    log = server.open(server.now(), ["test.pair"])
    mariadb.run("insert into pair values (1, 2)")
    assert read(log) == [(None, 1)]
    log.close()
    start = server.now()
    mariadb.run("insert into pair (x, y) values (3, 4)", "alter table pair modify column x int after y")
    log = server.open(start, ["test.pair"])
    with pytest.raises(RunError, match="PEN5492"):
        read(log, 3)
    log.close()


def test_items_of_arrays():
    assert array_items('{1,NULL,"NULL","a\\"b,c",""}') == ["1", None, "NULL", 'a"b,c', ""]
    for text in ("{{1},{2}}", "[2:3]={1,2}"):
        with pytest.raises(ValueError, match="the array"):
            array_items(text)
