"""The suites that ship with Penstock, for its own connectors."""

import pytest

import connectors
from connectors.interface.testing import SourceSuite
from tests.connectors.delta import test_delta
from tests.connectors.files import test_local_file
from tests.connectors.suite import ShippedSuite
from tests.sampling import sampled

pytestmark = pytest.mark.spark

COLUMNS = {"fields": {"id": "bigint", "name": "string"}}


class TestFakeSource(SourceSuite):
    source = connectors.source("FakeSource")
    expected = ((1, "a"), (2, None))

    def given(self, tmp_path):
        return {"schema": COLUMNS, "rows": [{"fields": [1, "a"]}, {"fields": [2, None]}]}


class TestLocalFileSource(SourceSuite):
    source = connectors.source("LocalFile")
    expected = ((1, "a"), (2, None))
    column = "id"

    def given(self, tmp_path):
        (tmp_path / "in.csv").write_text("1,a\n2,\n")
        return {"path": str(tmp_path / "in.csv"), "file_format_type": "csv", "schema": COLUMNS}


class TestLocalFileSink(ShippedSuite):
    described = test_local_file.TestParquet


@pytest.mark.delta
@sampled(
    ShippedSuite,
    "test_options_are_documented_and_named_once",
    "test_importing_it_imports_no_spark",
    "test_the_modes_that_it_declares_are_offered",
    "test_rows_that_it_can_write_are_valid",
    "test_what_is_there_is_found",
    "test_another_process_commits_from_the_journal",
    "test_another_process_aborts_from_the_journal",
    "test_a_repeated_attempt_replaces_what_the_first_one_staged",
    "test_rows_that_fail_change_nothing",
)
class TestDeltaSink(ShippedSuite):
    described = test_delta.TestDelta
