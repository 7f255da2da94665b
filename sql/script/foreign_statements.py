"""What to write for statements of Spark, Delta, Databricks and dbt that a job file does not have."""

from collections.abc import Mapping
from typing import Final

_MAINTENANCE: Final = "`after_commit` of a Delta sink runs OPTIMIZE and VACUUM behind its commit"
_QUERY: Final = "CREATE VIEW name AS … names a query, and INSERT INTO table … writes its rows"
_REPLACE: Final = "an option of the sink: 'write_mode' = 'replace_where', 'replace_where' = '…'"

INSTEAD: Final[Mapping[str, str]] = {
    "MERGE": "a sink with 'write_mode' = 'upsert' and a primary key updates the rows of equal key and inserts others",
    "UPDATE": "a sink with 'write_mode' = 'upsert' updates the rows of equal key",
    "DELETE": "a sink with 'write_mode' = 'changelog' deletes rows by their kind; a query with WHERE leaves rows out",
    "DROP": "a job writes tables and drops none",
    "TRUNCATE": "INSERT OVERWRITE replaces the rows, in the commit of the run",
    "ALTER": "`schema_evolution` of a sink adds columns and widens types",
    **dict.fromkeys(("CACHE", "UNCACHE"), "a run persists what several sinks share"),
    **dict.fromkeys(
        ("BEGIN", "START", "COMMIT", "ROLLBACK", "END"),
        "a run commits all its sinks together: write the statements without it",
    ),
    **dict.fromkeys(("EXPLAIN", "DESCRIBE", "SHOW"), "a command, not a statement: penstock explain, describe, show"),
    "USE": "name the database with each table: 'shop.orders'",
    **dict.fromkeys(("OPTIMIZE", "VACUUM", "ANALYZE", "MSCK", "MSCK REPAIR", "REPAIR"), _MAINTENANCE),
    "CALL": "a job calls no procedure: run it in Spark, behind the job",
    "COPY": "read the files by CREATE TABLE … WITH ('connector' = 'LocalFile', 'path' = '…') and INSERT INTO",
    "LOAD": "read the files by CREATE TABLE … WITH ('connector' = 'LocalFile', 'path' = '…') and INSERT INTO",
    "REFRESH": "each run reads its sources anew: nothing needs a refresh",
    "EXECUTE": "a job's text is fixed: write the query, with `${variable}` where it varies",
    **dict.fromkeys(("GRANT", "REVOKE", "DENY"), "permissions are set where the table is, not by a job"),
    "RESET": "leave the SET of that key out",
    "APPLY": "a sink with 'write_mode' = 'changelog' or 'upsert' applies changes by key",
}
"""By the first word of a statement."""

CREATE_INSTEAD: Final[Mapping[str, str]] = {
    **dict.fromkeys(("SOURCE", "SINK", "EXTERNAL"), "sources and sinks are CREATE TABLE name WITH ('connector' = '…')"),
    **dict.fromkeys(("MATERIALIZED", "LIVE", "DYNAMIC", "GLOBAL", "TEMPORARY", "TEMP"), _QUERY),
    "STREAMING": f"{_QUERY}; `SET 'job.mode' = 'STREAMING'` makes the job a stream",
    "REFRESH": f"{_QUERY}; `SET 'job.mode' = 'STREAMING'` makes the job a stream",
    **dict.fromkeys(("FUNCTION", "AGGREGATE"), "the transform Python calls a function of a file"),
    **dict.fromkeys(("SCHEMA", "DATABASE", "CATALOG"), "where a table is, is an option of its connector"),
}
"""By the word behind CREATE."""

INSERT_INSTEAD: Final[Mapping[str, str]] = {
    "REPLACE": _REPLACE,
    "DIRECTORY": "a folder of files is a table: CREATE TABLE name WITH ('connector' = 'LocalFile', 'path' = '…')",
    "LOCAL": "a folder of files is a table: CREATE TABLE name WITH ('connector' = 'LocalFile', 'path' = '…')",
}
"""By a word of an INSERT."""
