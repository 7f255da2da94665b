"""No space, a missing driver or file system, an unwritable target: each has its code and remedy, and is not retried."""

import errno

import pytest

from connectors.local_file import connector
from engine.runtime.transient import is_transient

pytest.importorskip("pyspark")
from tests.connectors.jobs import rows, write

pytest.importorskip("pyspark")
from engine.spark.failures.environment_errors import environment_error, unwritable
from engine.spark.failures.errors import as_run_error

WRITE = write(connector, rows("select 1 id", "id int"), path="out", file_format_type="json")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("java.io.IOException: No space left on device", "PEN5031"),
        ('org.apache.hadoop.fs.UnsupportedFileSystemException: No FileSystem for scheme "s3a"', "PEN5032"),
        ("java.lang.RuntimeException: Class org.apache.hadoop.fs.s3a.S3AFileSystem not found", "PEN5032"),
        ("java.lang.ClassNotFoundException: org.postgresql.Driver", "PEN5033"),
        ("java.io.FileNotFoundException: /x/part-0 (Permission denied)", "PEN5034"),
    ],
)
def test_errors_of_the_machine_have_codes_and_remedies(text, code):
    error = as_run_error(RuntimeError(text), WRITE)
    [diagnostic] = error.diagnostics
    assert diagnostic.code == code
    assert diagnostic.help
    assert not is_transient(error)


def test_a_source_that_may_not_be_read_is_not_the_targets_fault():
    text = "Encountered error while reading file file:/in/a.csv. /in/a.csv (Permission denied)"
    assert environment_error(text, WRITE, in_reading=True) is None
    assert environment_error(text, WRITE).diagnostics[0].code == "PEN5034"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('No FileSystem for scheme "s3a"', "org.apache.hadoop:hadoop-aws:"),
        ("Class org.apache.hadoop.fs.s3a.S3AFileSystem not found", "org.apache.hadoop:hadoop-aws:"),
        ("Class org.apache.hadoop.fs.azurebfs.SecureAzureBlobFileSystem not found", "org.apache.hadoop:hadoop-azure:"),
        ('No FileSystem for scheme "gs"', "/gcs-connector-"),
        ('No FileSystem for scheme "s3"', "`s3a://`"),
    ],
)
def test_the_remedy_names_the_jar_of_the_scheme(text, named):
    [diagnostic] = as_run_error(RuntimeError(text), WRITE).diagnostics
    assert named in diagnostic.help


@pytest.mark.parametrize(
    "text", ["(conn=30) Socket error", "FATAL: terminating connection due to administrator command"]
)
def test_a_lost_connection_is_reported_as_such(text):
    [diagnostic] = as_run_error(RuntimeError(text), WRITE).diagnostics
    assert (diagnostic.code, diagnostic.span) == ("PEN5012", WRITE.span)
    assert diagnostic.message.startswith(f"the connection to the database was lost: {text} (in ")
    assert diagnostic.help


@pytest.mark.parametrize(
    ("number", "code"),
    [(errno.ENOSPC, "PEN5031"), (errno.EACCES, "PEN5034"), (errno.EROFS, "PEN5034"), (errno.EIO, "PEN5005")],
)
def test_errors_of_this_process_have_the_same_codes(number, code):
    import os

    [diagnostic] = unwritable(OSError(number, os.strerror(number), "/x"), WRITE).diagnostics
    assert diagnostic.code == code
