"""The promises of the first hour with Penstock, and the tests that hold each: none may be renamed or removed unseen."""

import ast
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent

FIRST_HOUR, CSV, STOP = (
    "engine/commands/test_first_hour.py",
    "connectors/files/test_csv_types.py",
    "engine/commands/test_stop.py",
)
DESTROYED, VALIDATES = "connectors/test_nothing_destroyed.py", "connectors/test_validates_runs.py"
RUN, MACHINE, GRAPH = (
    "engine/runtime/test_run.py",
    "engine/spark/failures/test_environment_errors.py",
    "engine/graph/test_graph.py",
)

PROMISES = {
    # nothing is destroyed
    "a new column is added by `schema_evolution`, not by replacing the table": [
        ("connectors/delta/test_delta_modes.py", "test_schema_evolution"),
        ("connectors/iceberg/test_iceberg_modes.py", "test_new_columns_come_with_the_rows"),
    ],
    "a sink that replaces what the job reads is an error": [
        (DESTROYED, "test_a_sink_that_replaces_what_the_job_reads_is_an_error")
    ],
    "a sink does not replace files that Penstock did not write": [
        (DESTROYED, "test_foreign_files_at_a_target_stop_the_run"),
        (DESTROYED, "test_foreign_files_in_replaced_partitions_stop_the_run"),
        (FIRST_HOUR, "test_validate_refuses_a_target_with_foreign_files"),
    ],
    "`DROP_DATA` through `Spark` and JDBC keeps the table's definition": [
        ("connectors/test_spark.py", "test_replacing_the_rows_of_a_database_keeps_its_table"),
        ("connectors/jdbc/test_sink.py", "test_a_table_that_foreign_keys_refer_to_is_replaced"),
    ],
    "no help text advises to destroy data without saying so": [
        ("test_remedies.py", "test_no_help_text_advises_to_destroy_data_without_saying_so")
    ],
    # what validates, runs
    "a job that cannot stream does not validate as a stream": [
        (VALIDATES, "test_a_streaming_job_that_cannot_stream_does_not_validate")
    ],
    "a declared column that a Delta table lacks is an error": [
        (VALIDATES, "test_a_delta_column_that_the_log_lacks_is_an_error")
    ],
    "a CSV header unlike the schema is an error": [
        ("connectors/files/test_local_file.py", "test_declared_columns_that_the_header_does_not_name"),
        (FIRST_HOUR, "test_a_declared_column_that_the_source_lacks_is_marked_there"),
    ],
    "a CSV header that would be read as a row is a warning": [
        (FIRST_HOUR, "test_a_header_that_would_be_read_as_a_row_is_a_warning")
    ],
    "a Parquet or ORC file unlike the schema is an error": [
        (VALIDATES, "test_a_parquet_type_unlike_the_declared_one_is_an_error"),
        (VALIDATES, "test_which_types_can_be_read_as_which_is_what_spark_does"),
        ("connectors/files/test_local_file.py", "test_declared_columns_that_no_file_has_are_told"),
    ],
    "a target that no run can write, and a damaged file, are errors": [
        (VALIDATES, "test_a_target_that_no_run_can_write_is_an_error"),
        (VALIDATES, "test_a_damaged_file_is_an_error_with_a_remedy_that_helps"),
    ],
    "a missing path is a warning with the absolute path, and an error with `--strict`": [
        (VALIDATES, "test_a_missing_path_is_a_warning_and_with_strict_an_error")
    ],
    # CSV is typed, or says that it is not
    "`schema sync` types CSV files": [(CSV, "test_schema_sync_infers_the_types_of_a_csv")],
    "`infer_schema = true` types one source": [(CSV, "test_infer_schema_types_one_source_when_it_runs")],
    "what is done with an untyped column is a warning": [
        (CSV, "test_what_is_done_with_an_untyped_column_is_a_warning"),
        (CSV, "test_a_schema_or_the_lock_ends_the_warning"),
    ],
    # commands that are printed work
    "`package` prints the jars": [
        (FIRST_HOUR, "test_package_prints_the_jars_that_spark_submit_must_fetch"),
        (FIRST_HOUR, "test_package_with_jars_bundles_what_spark_submit_needs_without_a_network"),
    ],
    "the workflow and the hook call what there is": [
        ("engine/schema/test_changed.py", "test_the_hook_and_the_workflow_call_commands_that_there_are")
    ],
    "the JSON Schema accepts what `validate` accepts": [
        (FIRST_HOUR, "test_the_json_schema_accepts_every_form_that_validate_accepts"),
        ("engine/job/test_job_schema.py", "test_accepted"),
    ],
    "the pre-commit hook takes only job files": [(FIRST_HOUR, "test_the_pre_commit_hook_takes_only_job_files")],
    "required variables come from a file": [(FIRST_HOUR, "test_a_vars_file_gives_variables_and_i_wins")],
    "Parquet needs only the extra `spark`": [
        (FIRST_HOUR, "test_parquet_without_pyarrow_is_a_warning_that_names_it"),
        (FIRST_HOUR, "test_parquet_runs_without_pyarrow_and_console_counts_its_rows"),
    ],
    # honest ends
    "progress says what happens": [
        ("engine/runtime/test_application.py", "test_progress_says_that_spark_starts_and_which_jars_it_fetches"),
        (FIRST_HOUR, "test_ctrl_c_says_at_once_that_the_run_is_being_cancelled"),
    ],
    "running pipelines are shown first": [(FIRST_HOUR, "test_running_pipelines_are_shown_first")],
    "a pipeline is FINISHED after its commit": [
        (FIRST_HOUR, "test_the_project_of_init_runs_and_its_rows_and_run_are_shown")
    ],
    "Ctrl-C cancels at once, and no task writes after the clean-up": [
        (STOP, "test_ctrl_c_cancels_at_once_although_tasks_are_waiting"),
        ("engine/runtime/test_tasks.py", "test_cancelled_tasks_are_waited_for"),
        (
            "engine/runtime/test_tasks.py",
            "test_tasks_that_do_not_end_are_waited_for_only_shortly_once_the_run_is_cancelled",
        ),
        (RUN, "test_an_interrupt_cancels_and_leaves_nothing_staged"),
        ("connectors/test_endings.py", "test_what_a_cancelled_run_staged_is_removed_without_spark"),
    ],
    "`--keep-going` goes on; without it, what was not run is named": [
        (FIRST_HOUR, "test_keep_going_runs_the_jobs_after_one_that_failed"),
        (RUN, "test_an_interrupt_while_committing_stops_the_jobs_after_it"),
    ],
    "two hundred tables print a summary": [
        (FIRST_HOUR, "test_progress_names_the_job_and_prints_totals_of_many_pipelines_and_what_failed"),
        (FIRST_HOUR, "test_the_table_of_many_pipelines_is_a_summary_and_verbose_lists_all"),
    ],
    "a violated expectation shows three of the rows, without secrets": [
        (
            "engine/expectations/test_expectations.py",
            "test_an_expectation_that_fails_shows_three_failing_rows_without_secrets",
        ),
    ],
    "merges count what they change": [
        ("engine/runtime/test_merge_counts.py", "test_merges_count_inserted_updated_deleted_and_unchanged_rows")
    ],
    "csv files with and without a new column are read under one schema": [
        (
            "connectors/files/test_named_columns.py",
            "test_csv_files_with_and_without_a_new_column_are_read_under_one_schema_by_header_names",
        )
    ],
    "scd2 ends keys that a full load lacks": [
        ("connectors/lakehouse/test_versions.py", "test_keys_that_a_full_load_lacks_are_ended"),
        ("engine/plan/test_repeated_rows.py", "test_keys_are_ended_only_by_a_load_of_all_rows"),
    ],
    "columns of remote files are compared as those of local ones": [
        ("connectors/files/test_remote_drift.py", name)
        for name in (
            "test_a_renamed_column_of_remote_files_is_an_error_or_a_warning",
            "test_a_field_of_remote_json_in_another_case_is_an_error",
            "test_a_renamed_column_on_an_sftp_server_is_an_error",
        )
    ],
    "the how-to pages hold on other days": [
        ("test_how_to_days.py", name)
        for name in (
            "test_environments_with_an_empty_day_a_missing_variable_and_a_renamed_column",
            "test_postgresql_with_an_empty_day_a_missing_variable_and_a_renamed_column",
            "test_the_github_workflow_on_a_day_without_rows_or_files",
        )
    ],
    "`show` takes a condition, a query or data, and reads what the next run reads": [
        ("engine/commands/test_show.py", name)
        for name in (
            "test_show_where",
            "test_show_sql",
            "test_show_path",
            "test_show_and_run_of_an_incremental_source_agree_on_rows",
        )
    ],
    "`filtered` is a count or unknown, never a guess": [
        (FIRST_HOUR, "test_rows_that_filters_dropped_are_unknown_behind_a_join_with_a_condition"),
        ("engine/runtime/test_counts.py", "test_rows_behind_a_limit_are_not_guessed"),
    ],
    "Console counts its rows": [(FIRST_HOUR, "test_parquet_runs_without_pyarrow_and_console_counts_its_rows")],
    "a repeated run id says that it is committed": [
        (FIRST_HOUR, "test_the_project_of_init_runs_and_its_rows_and_run_are_shown"),
        (RUN, "test_the_same_run_id_again_writes_nothing_twice"),
    ],
    "a bad row names its file and line": [
        ("connectors/files/test_bad_lines.py", "test_a_bad_row_names_file_and_line"),
        ("connectors/files/test_local_file.py", "test_malformed_csv_fails_with_its_file"),
    ],
    "errors of the machine have codes and remedies": [
        (MACHINE, "test_errors_of_the_machine_have_codes_and_remedies"),
        (MACHINE, "test_errors_of_this_process_have_the_same_codes"),
        ("connectors/test_session.py", "test_a_jar_that_is_not_found"),
        ("connectors/files/test_local_file.py", "test_a_target_that_cannot_be_written"),
    ],
    "permanent errors are not retried": [
        ("engine/runtime/test_schedule.py", "test_a_permanent_error_is_never_retried"),
        ("engine/runtime/test_transient.py", "test_is_permanent"),
    ],
    "a run that cannot be ended can be dismissed": [
        (FIRST_HOUR, "test_runs_forget_dismisses_a_run_that_cannot_be_ended"),
        (FIRST_HOUR, "test_runs_forget_of_an_incremental_run_says_that_the_watermark_has_not_moved"),
    ],
    "`--resume` says what it does": [("engine/runtime/test_incremental.py", "test_a_kill_loses_and_repeats_nothing")],
    # messages
    "a missing comma is reported where it is missing": [
        (FIRST_HOUR, "test_a_missing_comma_between_options_is_reported_at_the_option_after_it")
    ],
    "a table joined with itself": [
        (FIRST_HOUR, "test_a_table_joined_with_itself_is_reported_with_the_aliases_to_write")
    ],
    "duplicate keys": [(FIRST_HOUR, "test_duplicate_keys_in_a_block_are_a_warning_but_overrides_are_not")],
    "a version that a table lacks": [
        (FIRST_HOUR, "test_a_version_that_a_delta_table_lacks_is_marked_and_the_known_ones_are_named")
    ],
    "an unknown setting of Spark": [
        (FIRST_HOUR, "test_an_unknown_setting_of_spark_is_a_warning_with_the_one_that_is_meant")
    ],
    "upsert is offered only where it exists": [(FIRST_HOUR, "test_upsert_is_offered_only_where_a_sink_can_do_it")],
    "carets mark the token": [(FIRST_HOUR, "test_carets_mark_the_operand_of_a_long_expression")],
    "help adds something": [
        (FIRST_HOUR, "test_a_mistake_of_habit_is_answered_by_what_to_write"),
        (FIRST_HOUR, "test_a_format_or_a_database_as_connector_is_answered_by_the_connector_that_has_it"),
        ("engine/commands/test_commands.py", "test_a_mistyped_command_and_a_missing_one_say_what_there_is"),
        ("seatunnel/test_documented.py", "test_an_unknown_plugin_is_answered_with_what_to_use"),
    ],
    "no log line of Spark's on stderr": [
        ("engine/terminal/test_quiet_libraries.py", "test_no_log_line_of_spark_reaches_stderr")
    ],
    "bytes that are not UTF-8 are never replaced silently": [
        ("connectors/files/test_bad_lines.py", "test_a_bad_row_names_file_and_line"),
        ("connectors/files/test_bad_lines.py", "test_bytes_that_are_not_utf8_are_replaced_where_the_job_says_so"),
    ],
    # the way in
    "`init` makes a project that runs": [
        (FIRST_HOUR, "test_init_makes_a_project_that_validates"),
        (FIRST_HOUR, "test_the_project_of_init_runs_and_its_rows_and_run_are_shown"),
    ],
    "`describe` of a file": [
        (CSV, "test_describe_types_a_file_and_its_block_runs"),
        (CSV, "test_describe_types_the_flights_as_a_person_would_and_its_block_runs"),
    ],
    "`describe` of a table": [
        ("engine/describe/test_describe.py", "test_describe_of_a_catalog_table_prints_a_table_source_that_runs"),
        (FIRST_HOUR, "test_describe_prints_a_block_for_the_table_of_a_database"),
    ],
    "`describe` of a web address": [
        (
            "engine/describe/test_describe.py",
            "test_describe_of_a_csv_or_parquet_address_prints_its_block_and_how_to_fetch_it",
        ),
        ("engine/describe/test_describe.py", "test_describe_of_a_json_address_prints_an_http_source_that_runs"),
        ("engine/describe/test_describe.py", "test_a_web_address_that_cannot_be_described_has_a_remedy"),
    ],
    "`show` and `runs ID`": [(FIRST_HOUR, "test_the_project_of_init_runs_and_its_rows_and_run_are_shown")],
    "`fmt` keeps comments and meaning": [
        ("engine/job/formatting/test_format.py", "test_every_job_file_means_the_same_afterwards"),
        ("engine/job/formatting/test_format.py", "test_fmt_formats_and_check_only_looks"),
    ],
    # graph, docs, README
    "the graph page is readable at sixty nodes": [(GRAPH, "test_a_page_of_many_nodes_is_read_searched_and_moved")],
    "a click shows lineage and SQL": [(GRAPH, "test_a_click_lights_the_lineage_in_a_browser")],
    "a page for a folder follows columns across jobs": [
        (GRAPH, "test_the_page_of_a_folder_follows_a_column_across_jobs")
    ],
    "the site builds strictly, and links lead somewhere": [
        ("test_docs.py", "test_the_site_builds_strictly"),
        ("test_docs.py", "test_links_lead_to_files"),
    ],
    "every command and job of the docs is run": [
        ("test_pages.py", "test_jobs_are_valid"),
        ("test_pages.py", "test_commands_run"),
        ("test_docs.py", "test_outputs_are_what_the_commands_print"),
    ],
    "the tutorial ends well in an empty folder": [("test_tutorial.py", "test_the_tutorial_ends_well")],
    "the README is short, with a picture, two commands and a first job": [
        ("test_docs.py", "test_the_readme_is_short_and_shows_a_picture"),
        ("test_docs.py", "test_the_quick_start_is_two_commands_that_the_makefile_has"),
        ("test_docs.py", "test_the_first_job_runs_by_the_commands_of_the_readme"),
    ],
    "a fresh environment with the extra `spark` runs CSV and Parquet jobs": [
        ("test_wheel.py", "test_a_fresh_environment_with_the_extra_spark_runs_csv_and_parquet_jobs"),
        ("test_wheel.py", "test_it_runs_a_job_from_outside_the_checkout"),
    ],
    "a machine without Java gets one clear sentence": [
        (FIRST_HOUR, "test_a_machine_without_java_gets_one_clear_sentence")
    ],
}


@cache
def names_in(file: str) -> frozenset[str]:
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize("promise", PROMISES)
def test_each_promise_has_its_tests(promise):
    assert [f"{file}::{name}" for file, name in PROMISES[promise] if name not in names_in(file)] == []
