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

SILENT, DRIFT, NUMBERS, GATES, SOURCES = (
    "connectors/test_stored_values.py",
    "connectors/files/test_column_drift.py",
    "connectors/files/test_number_texts.py",
    "engine/schema/test_gates.py",
    "engine/spark/test_messages_of_sources.py",
)
DISKS, JAVA, DAYS = (
    "engine/spark/failures/test_full_disks.py",
    "engine/spark/failures/test_lost_java.py",
    "test_how_to_days.py",
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
        (DAYS, name)
        for name in (
            "test_environments_with_an_empty_day_a_missing_variable_and_a_renamed_column",
            "test_postgresql_with_an_empty_day_a_missing_variable_and_a_renamed_column",
            "test_a_delta_job_with_an_empty_day_and_a_renamed_column",
            "test_a_failed_run_with_an_empty_day_and_a_renamed_column",
            "test_file_servers_with_an_empty_day_a_missing_variable_and_a_renamed_column",
            "test_object_store_with_an_empty_day_a_missing_variable_and_a_renamed_column",
            "test_secrets_with_an_empty_table_a_missing_variable_and_a_renamed_column",
            "test_web_services_with_an_empty_day_a_missing_variable_and_a_renamed_column",
            "test_the_github_workflow_on_a_day_without_rows_or_files",
        )
    ],
    # nothing silent: values and columns
    "a write into an existing table changes no value in silence": [
        (SILENT, "test_a_value_is_stored_unchanged_or_refused"),
        (SILENT, "test_many_values_are_stored_unchanged_or_refused"),
        (SILENT, "test_the_greatest_integers_are_not_stored_as_numbers_beside_them"),
        ("engine/job/script/test_declared_types.py", "test_a_value_that_does_not_fit_fails_the_run"),
        ("engine/job/script/test_declared_types.py", "test_validate_warns_of_a_target_that_exists"),
        (
            "engine/job/script/test_declared_types.py",
            "test_validate_warns_of_a_database_table_that_the_same_job_reads",
        ),
        ("engine/runtime/test_outlook.py", "test_rows_of_other_types_are_shown_as_they_are_stored"),
    ],
    "a renamed, new or misspelt column of files is reported": [
        (DRIFT, "test_a_renamed_column_is_named_with_the_one_that_it_was"),
        (DRIFT, "test_a_new_column_is_reported_where_the_first_file_gives_the_schema"),
        (DRIFT, "test_a_column_that_no_file_holds_is_an_error_unless_it_is_allowed"),
        (DRIFT, "test_fields_of_json_are_matched_by_case"),
        (DRIFT, "test_described_structs_keep_the_case_of_their_fields"),
        ("connectors/files/test_changed_sources.py", "test_many_changed_files_are_read_as_by_hand_or_reported"),
        ("connectors/http_/test_http.py", "test_a_field_that_no_row_of_a_response_has_is_an_error"),
    ],
    "a number of a text is read as it is written, or refused": [
        (NUMBERS, "test_1_10_as_a_decimal_is_not_110"),
        (NUMBERS, "test_a_decimal_is_not_rounded_to_the_digits_of_its_column"),
        (NUMBERS, "test_dropped_rows_are_counted"),
        (NUMBERS, "test_the_remedy_for_lines_of_more_values_is_not_to_drop_them"),
        (NUMBERS, "test_a_second_value_on_a_line_of_json_is_refused"),
        (NUMBERS, "test_a_decimal_of_json_that_does_not_fit_is_refused"),
        (NUMBERS, "test_a_nested_value_of_json_is_not_cut"),
        (NUMBERS, "test_a_comma_in_a_text_of_json_is_not_left_out_of_a_decimal"),
        ("connectors/kafka/test_source.py", "test_no_value_of_a_record_is_cut_to_its_type"),
        (CSV, "test_a_date_loses_no_time_and_a_time_gets_no_day"),
    ],
    "a date of an old calendar is read and stored as it is, or refused": [
        ("connectors/jdbc/test_old_times.py", "test_times_before_1582_are_not_read_as_those_of_another_calendar"),
        ("connectors/jdbc/test_old_times.py", "test_times_that_are_read_as_texts_are_those_of_the_database"),
        ("connectors/files/test_file_types.py", "test_days_that_the_calendar_of_orc_leaves_out_are_refused"),
    ],
    "rows of undeclared columns are judged as declared ones": [
        (
            "engine/runtime/test_undeclared_columns.py",
            "test_a_column_that_the_target_lacks_is_refused_and_one_that_the_rows_lack_is_said",
        ),
    ],
    "swapped columns of an INSERT and unused variables are reported": [
        ("engine/job/script/test_inserts.py", "test_columns_whose_names_say_another_order_are_a_warning"),
        (
            "engine/commands/test_given_variables.py",
            "test_a_misspelt_variable_is_an_error_though_the_job_has_a_default",
        ),
        ("engine/commands/test_given_variables.py", "test_a_repeated_variable_is_an_error"),
    ],
    "files are not added to a table of another format": [
        ("connectors/test_table_directories.py", "test_files_are_not_added_to_a_table_of_another_format"),
        ("connectors/test_table_directories.py", "test_a_run_refuses_a_table_of_another_format"),
    ],
    "a long chain of queries runs, and what Java cannot survive is named": [
        ("engine/spark/test_fatal_errors.py", "test_a_long_chain_of_queries_runs"),
        ("engine/spark/test_fatal_errors.py", "test_what_java_cannot_survive_is_named"),
    ],
    # nothing silent: gates
    "a gate that could not compare fails": [
        (GATES, "test_schema_diff_takes_an_absolute_path"),
        (GATES, "test_schema_diff_fails_where_a_variable_is_missing"),
        (GATES, "test_an_internal_error_in_one_job_hides_no_other"),
        ("engine/schema/test_changed.py", "test_an_include_that_a_variable_or_file_names_counts"),
        (FIRST_HOUR, "test_a_package_for_another_python_or_platform_says_so_at_its_start"),
    ],
    "`--strict` is types and data, and what no run could use is refused": [
        ("engine/commands/test_strict.py", "test_strict_is_types_and_data_and_each_of_them_alone"),
        ("engine/plan/test_refused_before_runs.py", "test_options_that_no_run_could_use_are_refused"),
        ("engine/plan/test_refused_before_runs.py", "test_arithmetic_with_a_text_that_is_no_number_is_refused"),
    ],
    "a day without rows replaces that day, and later runs run": [
        ("connectors/suite.py", "test_a_day_without_rows_replaces_that_day"),
        ("test_how_to.py", "test_backfill_with_an_empty_day_and_a_renamed_column"),
        (
            "connectors/files/test_local_file.py",
            "test_later_rows_have_the_directories_that_the_first_would_have_had",
        ),
        ("engine/commands/test_keep_going.py", "test_keep_going_goes_on_after_an_internal_error"),
    ],
    # databases
    "a table may be named with its schema and database, and the server's error is shown": [
        ("connectors/jdbc/test_server_messages.py", "test_a_database_and_a_table_with_its_schema_name_one_table"),
        ("connectors/jdbc/test_server_messages.py", "test_the_error_the_detail_and_the_hint_are_shown"),
    ],
    "an untested database is experimental, and gets statements of its own grammar": [
        ("connectors/jdbc/test_untested_dialects.py", "test_statements_are_of_the_databases_own_grammar"),
        ("connectors/jdbc/test_untested_dialects.py", "test_what_oracle_cannot_undo_is_refused"),
        (
            "connectors/jdbc/test_untested_dialects.py",
            "test_an_untested_database_is_experimental_in_connectors_explain_and_validate",
        ),
    ],
    # the analyzer
    "the analyzer's last tenth": [
        ("sql/test_last_tenth.py", "test_what_spark_accepts_is_no_error"),
        ("sql/test_last_tenth.py", "test_what_spark_refuses_is_an_error"),
        ("sql/test_last_tenth.py", "test_types_and_nullability_are_known"),
        ("sql/test_tpc.py", "test_every_column_is_as_spark_says"),
        ("sql/test_own_tests.py", "test_types_are_known_of_all_but_a_thousandth_of_the_columns"),
    ],
    "a statement of another engine gets its counterpart": [
        (FIRST_HOUR, "test_a_statement_of_another_engine_is_answered_by_what_does_its_work"),
        ("engine/job/script/test_refused_creates.py", "test_an_insert_behind_its_query_is_valid"),
        ("engine/job/script/test_refused_creates.py", "test_a_refused_create_is_one_error"),
    ],
    # nothing silent: messages
    "an error of a source has its place and a remedy that helps": [
        (SOURCES, name)
        for name in (
            "test_a_bad_cell_is_shown_with_line_column_value_and_a_caret",
            "test_json_that_spans_lines_names_multi_line",
            "test_utf_16_is_named",
            "test_files_without_text_are_named",
            "test_null_in_a_column_that_has_none_names_the_column",
            "test_a_file_with_a_colon_in_its_name_is_explained",
            "test_compressed_files_that_are_damaged_are_named_and_not_retried",
            "test_parquet_files_of_several_types_have_a_remedy_that_helps",
            "test_a_column_without_any_value_is_read",
        )
    ],
    "a master that is none or does not answer is named": [
        ("engine/spark/starting/test_master.py", "test_a_run_with_a_bad_master_says_so_at_once")
    ],
    "what breaks from outside is named": [
        (JAVA, "test_java_that_is_killed_while_rows_are_staged_is_named"),
        (JAVA, "test_java_that_is_killed_after_the_decision_names_resume"),
        (DISKS, "test_a_full_disk_of_the_target_is_named_and_not_retried"),
        (DISKS, "test_a_full_or_read_only_state_directory_is_not_the_targets_fault"),
        (DISKS, "test_a_state_directory_that_fills_while_rows_are_staged_is_named"),
        (DISKS, "test_a_full_scratch_directory_of_spark_is_named"),
        ("engine/spark/failures/test_long_rows.py", "test_a_row_of_many_megabytes_is_named_where_java_has_no_memory"),
        (SOURCES, "test_a_row_of_json_that_is_too_long_names_its_line_and_size"),
        ("connectors/jdbc/test_server_messages.py", "test_a_connection_that_is_lost_in_copy_is_retried"),
        ("connectors/jdbc/test_server_messages.py", "test_a_row_that_copy_refuses_shows_the_servers_error"),
        ("connectors/jdbc/test_server_messages.py", "test_messages_of_other_servers_have_no_values"),
        (
            "connectors/jdbc/test_restarted_server.py",
            "test_a_server_restarted_before_a_step_loses_no_row_and_its_message_says_what_to_do",
        ),
    ],
    "a log listener prints something": [
        ("engine/events/test_events.py", "test_the_log_is_printed_where_no_logging_is_set_up")
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
    "expectations, merges, headers, closed versions and progress say what they did": [
        (
            "engine/expectations/test_expectations.py",
            "test_an_expectation_that_fails_shows_three_failing_rows_without_secrets",
        ),
        (
            "engine/runtime/test_merge_counts.py",
            "test_merges_count_inserted_updated_deleted_and_unchanged_rows",
        ),
        (
            "connectors/files/test_named_columns.py",
            "test_csv_files_with_and_without_a_new_column_are_read_under_one_schema_by_header_names",
        ),
        ("connectors/lakehouse/test_versions.py", "test_keys_that_a_full_load_lacks_are_ended"),
        (FIRST_HOUR, "test_progress_names_the_job_and_prints_totals_of_many_pipelines_and_what_failed"),
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
