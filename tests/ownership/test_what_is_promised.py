"""What the pages promise of runs that meet, and of what a run remembers: each promise, and the tests that show it."""

import ast
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]

PROMISES = {
    "a lease instead of a guess": (
        "ownership/test_processes.py::test_a_process_of_another_namespace_counts_as_running_while_it_renews_its_lease",
        "ownership/test_processes.py::test_a_process_of_this_machine_that_has_ended_is_taken_over_at_once",
        "ownership/test_processes.py::test_a_stopped_process_loses_its_claim_when_its_lease_has_expired",
        "ownership/test_schedules.py::test_a_paused_driver_that_was_taken_over_commits_nothing",
        "connectors/jdbc/test_paused_commit.py::test_a_paused_commit_that_was_taken_over_changes_nothing",
    ),
    "one claim for every ending": (
        "ownership/test_explorer.py::test_two_processes_that_end_one_killed_run",
        "ownership/test_processes.py::test_seeded_schedules_of_processes",
        "ownership/test_schedules.py::test_seeded_schedules_of_drivers",
        "connectors/test_endings.py::test_a_damaged_step_of_a_journal_is_named_and_blocks_no_other_run",
    ),
    "what each store does in one step": (
        "ownership/test_stores.py::test_a_store_behaves_as_its_primitives_say",
        "ownership/test_stores.py::test_explain_names_a_store_of_the_state_directory_that_lacks_a_primitive",
        "ownership/test_explorer.py::test_a_store_whose_rename_copies",
    ),
    "checks inside the transaction": (
        "connectors/delta/test_delta_changed.py::test_a_column_that_another_program_adds_during_the_commit_stays",
        "connectors/delta/test_delta_changed.py::test_files_that_a_clean_up_removed_are_noticed_also_among_many",
        "connectors/delta/test_delta_changed.py::test_replaced_rows_leave_no_unreferenced_files_after_a_conflict",
        "connectors/delta/test_table_features.py::"
        "test_rows_for_an_identity_column_are_refused_where_none_commits_its_numbers",
        "ownership/test_paimon_once.py::test_a_write_that_two_processes_commit_is_there_once",
        "ownership/test_paimon_once.py::test_a_write_whose_snapshots_have_expired_is_not_added_again",
        "connectors/jdbc/test_runs.py::test_a_constraint_that_is_checked_at_the_commit_is_checked_before_the_decision",
        "connectors/jdbc/test_runs.py::test_run_ids_that_differ_by_case_are_two_runs",
        "connectors/jdbc/test_sink.py::test_a_table_that_foreign_keys_refer_to_is_replaced",
        "connectors/storage/test_s3.py::TestParquet::test_killed_before_a_step_of_the_commit",
    ),
    "streams do not grow without bound": (
        "engine/runtime/streaming/test_many_batches.py::test_nothing_grows_with_the_number_of_micro_batches",
        "engine/state/test_ledger.py::test_listing_the_latest_of_many_runs_reads_those_alone",
        "engine/state/test_ledger.py::test_old_runs_are_pruned_but_for_open_ones_and_those_begun_again",
    ),
    "what is remembered belongs to what was written": (
        "engine/runtime/test_remembered.py::test_each_row_of_the_page_has_a_test",
        "engine/runtime/test_remembered.py::test_a_full_refresh_adds_no_rows_twice",
        "engine/runtime/test_remembered.py::test_a_watermark_of_an_earlier_version_is_taken_over",
        "engine/state/test_state_dir.py::test_the_default_state_directory_does_not_follow_the_current_folder",
    ),
    "a run id names one piece of work": (
        "engine/runtime/test_work_of_run_ids.py::test_another_plan_under_a_committed_run_id_is_refused",
        "engine/runtime/test_work_of_run_ids.py::test_the_jobs_of_one_run_id_are_told_apart",
        "engine/state/test_run_ids.py::test_an_inserted_job_changes_no_other_id",
    ),
    "jobs of one command are planned one after the other": (
        "engine/orchestration/test_run_listed.py::test_a_job_is_planned_after_the_jobs_before_it",
        "engine/orchestration/test_run_listed.py::test_explain_shows_what_the_jobs_before_will_leave",
        "engine/orchestration/test_run_listed.py::test_a_run_stops_where_the_jobs_before_left_something_else",
    ),
    "no row is repeated or dropped in silence": (
        "engine/plan/test_repeated_rows.py::test_a_lag_with_a_sink_that_only_adds_rows_is_refused",
        "connectors/files/test_arrivals.py::test_a_late_file_with_an_old_modification_time_is_read_once",
        "connectors/lakehouse/test_versions.py::test_several_versions_of_a_key_in_one_run_become_several_versions",
        "connectors/lakehouse/test_versions.py::test_a_corrected_row_with_the_same_sequence_value_corrects_its_version",
        "connectors/lakehouse/test_versions.py::test_a_slow_clock_drops_no_change",
        "engine/runtime/test_merge_counts.py::test_merges_count_inserted_updated_deleted_and_unchanged_rows",
    ),
    "lost or old state is noticed": (
        "engine/state/test_lost_state.py::test_lost_old_and_foreign_state_is_noticed",
        "engine/state/test_lost_state.py::test_the_whole_table_of_lost_state",
        "engine/state/test_lost_state.py::test_a_state_directory_that_is_removed_before_the_decision",
        "engine/runtime/streaming/test_streams.py::test_a_topic_that_was_deleted_and_made_anew_is_refused",
        "engine/runtime/test_run.py::test_rows_that_were_not_committed_are_not_counted_as_written",
    ),
    "files from the future": (
        "connectors/files/test_arrivals.py::test_a_file_from_the_future_hides_no_later_file",
        "connectors/files/test_arrivals.py::test_a_watermark_from_the_future_is_taken_back",
    ),
    "work that is done is kept": (
        "engine/runtime/test_continue.py::test_after_a_sigkill_only_the_tables_that_were_not_staged_are_read",
        "engine/runtime/test_continue.py::test_an_edited_query_and_a_changed_source_refuse_the_reuse",
        "engine/runtime/test_continue.py::test_a_killed_pod_is_continued_on_another_host",
        "engine/runtime/test_continue.py::test_a_driver_that_was_paused_removes_nothing_that_another_process_keeps",
    ),
    "settings of the user win": (
        "engine/runtime/test_submit.py::test_a_packaged_job_runs_on_two_workers_and_settings_of_spark_submit_are_kept",
        "engine/spark/starting/test_defaults.py::test_settings_of_the_user_win_over_defaults",
        "engine/spark/starting/test_defaults.py::test_persist_leaves_a_setting_of_the_user",
        "engine/runtime/test_run.py::test_a_pipeline_whose_tasks_still_write_is_not_aborted_under_them",
    ),
}


@cache
def names_in(file: str) -> frozenset[str]:
    tree = ast.parse((TESTS / file).read_text())
    classes = (node for node in tree.body if isinstance(node, ast.ClassDef))
    methods = (f"{each.name}::{node.name}" for each in classes for node in each.body if hasattr(node, "name"))
    return frozenset((*(node.name for node in tree.body if isinstance(node, ast.FunctionDef)), *methods))


@pytest.mark.parametrize("promise", PROMISES)
def test_a_promise_has_its_tests(promise):
    for test in PROMISES[promise]:
        file, _, name = test.partition("::")
        assert name in names_in(file), test
