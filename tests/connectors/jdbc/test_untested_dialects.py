"""Databases that no server of the tests speaks for: marked, compared with their grammar, and refused where a failed
commit could not be undone."""

import pytest
import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.tables.savemode import Action
from catalog.tables.table import CatalogTable, Column
from catalog.types.typenames import parse_type
from connectors.jdbc.connector import connector
from connectors.jdbc.known_dialects import DIALECTS, MARIADB, ORACLE, POSTGRESQL
from connectors.jdbc.writing import statements
from connectors.jdbc.writing.commit import verb_of
from connectors.jdbc.writing.commit_statements import commit_statements
from connectors.jdbc.writing.sink_options import plan_of
from connectors.jdbc.writing.statements import TargetChange
from engine.cli import main
from tests.connectors.given_options import options_of

UNTESTED = [dialect for dialect in DIALECTS if not dialect.is_tested]
GRAMMARS = {"MySQL": "mysql", "SQL Server": "tsql", "Oracle": "oracle", "DuckDB": "duckdb", "Db2": "postgres"}
"""sqlglot's dialects; Db2 has none, and is written as the standard, which PostgreSQL is near to."""
COLUMNS = [Column("id", parse_type("bigint"), nullable=False), Column("name", parse_type("string")),
           Column("amount", parse_type("decimal(10,2)")), Column("at", parse_type("timestamp"))]  # fmt: skip
ONLY_IN_MYSQL = ("rename table", "if exists", "if not exists", "limit ", "`")
ACTIONS = [(Action.ADD_ROWS,), (Action.REPLACE_ROWS,), (Action.UPSERT_ROWS,), (Action.APPLY_CHANGES,),
           (Action.CREATE, Action.ADD_ROWS), (Action.DROP_AND_CREATE, Action.ADD_ROWS)]  # fmt: skip


def written(dialect, actions):
    """The statements of a commit of these actions."""
    quoted = tuple(f"s.{dialect.quote(column.name)}" for column in COLUMNS)
    names = tuple(column.name for column in COLUMNS)
    change = TargetChange(dialect, ("shop", "t"), ("shop", "stg"), names, quoted, ("id",), sequence="at")
    options = options_of(connector.sink_options, url=dialect.example, table="shop.t", primary_keys=["id"])
    table = CatalogTable.of("rows", COLUMNS)
    plan = plan_of(options, table, ("id",), True)
    return [statement for part in commit_statements(plan, actions, change, table) for statement in part]


def possible(dialect):
    changes_tables = {Action.CREATE, Action.DROP_AND_CREATE}
    return [actions for actions in ACTIONS if dialect.undoes_created_tables or not changes_tables & set(actions)]


@pytest.mark.parametrize("dialect", UNTESTED, ids=lambda dialect: dialect.name)
def test_statements_are_of_the_databases_own_grammar(dialect):
    """sqlglot parses each of them as that database's, and none has words of MySQL alone."""
    found = [statement for actions in possible(dialect) for statement in written(dialect, actions)]
    found += statements.create_table(dialect, ("penstock_commits",), CatalogTable.of("t", COLUMNS), ("id",))
    found.append(statements.add_column(dialect, ("t",), COLUMNS[1]))
    assert len(found) > 6
    for statement in found:
        assert dialect.name == "MySQL" or not any(word in statement.lower() for word in ONLY_IN_MYSQL), statement
        assert dialect.name not in ("Oracle", "SQL Server") or " as t " not in statement
        if statement.startswith("rename table"):
            continue  # sqlglot does not know it; MariaDB runs it in the tests
        [tree] = sqlglot.parse(statement, read=GRAMMARS[dialect.name], error_level=ErrorLevel.RAISE)
        assert tree is not None
        assert not isinstance(tree, exp.Command), statement
        assert not tree.find(exp.Limit)


def test_the_condition_of_an_update_in_a_merge_follows_it_in_oracle():
    update, insert = written(ORACLE, (Action.UPSERT_ROWS,))
    assert " when matched then update set" in update
    assert update.endswith(' where (t."at" is null or s."at" >= t."at")')
    assert " where " not in insert


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_each_statement_of_a_merge_inserts_updates_or_deletes_so_that_its_rows_are_counted(dialect):
    upsert, changes = (written(dialect, (action,)) for action in (Action.UPSERT_ROWS, Action.APPLY_CHANGES))
    assert [verb_of(statement) for statement in upsert] == ["update", "insert"]
    assert [verb_of(statement) for statement in changes] == ["delete", "update", "insert"]


@pytest.mark.parametrize(
    ("given", "codes"),
    [
        ({}, []),
        ({"data_save_mode": "DROP_DATA"}, []),
        ({"schema_save_mode": "RECREATE_SCHEMA"}, ["PEN4004"]),
        ({"schema_evolution": "add_columns"}, ["PEN2011"]),
    ],
)
def test_what_oracle_cannot_undo_is_refused(given, codes):
    diagnostics = Diagnostics()
    options = options_of(connector.sink_options, url=ORACLE.example, table="t", **given)
    connector.validate(options, CatalogTable.of("rows", COLUMNS), diagnostics)
    assert [item.code for item in diagnostics if item.severity.value == "error"] == codes
    assert [item.code for item in diagnostics if item.severity.value == "warning"] == ["PEN4400"]


JOB = """
source {{ FakeSource {{ schema {{ fields {{ id = bigint }} }} }} }}
sink {{ Jdbc {{ url = "{url}", table = "t" }} }}
"""


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_an_untested_database_is_experimental_in_connectors_explain_and_validate(tmp_path, capsys, dialect):
    (tmp_path / "job.conf").write_text(JOB.format(url=dialect.example))
    marks = []
    for command in (["connectors"], ["explain", str(tmp_path / "job.conf")], ["validate", str(tmp_path / "job.conf")]):
        assert main(command) == 0
        printed = " ".join(capsys.readouterr().out.split())
        marks.append(
            dialect.name in printed.partition("Experimental, without tests: ")[2].partition(".")[0]
            if command == ["connectors"]
            else f"do not run against {dialect.name}" in printed or f"{dialect.name} is experimental" in printed
        )
    assert marks == [not dialect.is_tested] * 3


@pytest.mark.parametrize("dialect", [POSTGRESQL, MARIADB], ids=lambda dialect: dialect.name)
@pytest.mark.parametrize("has_index", [True, False])
def test_a_new_table_gets_its_key_unless_it_shall_have_no_index(dialect, has_index):
    options = options_of(connector.sink_options, url=dialect.example, table="t", create_index=has_index)
    table = CatalogTable.of("rows", COLUMNS)
    plan = plan_of(options, table, ("id",), True)
    change = TargetChange(dialect, ("t",), ("stg",), ("id",), (f"s.{dialect.quote('id')}",), ("id",),
                          has_index=plan.has_index)  # fmt: skip
    for actions in ((Action.CREATE, Action.UPSERT_ROWS), (Action.DROP_AND_CREATE, Action.ADD_ROWS)):
        text = "\n".join(each for part in commit_statements(plan, actions, change, table) for each in part)
        assert ("primary key" in text) is has_index
