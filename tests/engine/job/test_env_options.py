"""Every option of `env` does something: each has a test that sees its effect."""

import ast
from pathlib import Path

import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from engine.compile import Settings, compile_job
from engine.job.options.env import OPTIONS
from engine.plan.building.stream_trigger import trigger_of

TESTS = Path(__file__).parents[2]
HERE = "engine/job/test_env_options.py"
RUN, SLOTS, EXECUTORS = (
    "engine/runtime/test_run.py",
    "engine/runtime/test_slots.py",
    "engine/job/test_executor_options.py",
)
CONF, INTERVALS = "engine/project/test_penstock_conf.py", "engine/runtime/test_intervals.py"
DO_WHAT_IS_MISSING = (INTERVALS, "test_runs_do_what_is_missing_and_a_restatement_what_is_named")
EFFECTS = {
    "job.name": (HERE, "test_the_name_is_that_of_the_job"),
    "job.mode": (
        "engine/runtime/streaming/test_checks.py",
        "test_explain_says_what_is_a_stream_and_when_micro_batches_run",
    ),
    "parallelism": (HERE, "test_the_parallelism_is_the_number_of_slots"),
    "max_concurrent_pipelines": (HERE, "test_the_parallelism_is_the_number_of_slots"),
    "slot_timeout_seconds": (SLOTS, "test_a_pipeline_whose_request_times_out_fails_and_tells_why"),
    **dict.fromkeys(
        ("slots.mode", "slots.min", "slots.max", "slots.idle_timeout"),
        ("engine/runtime/test_submit.py", "test_executors_come_with_the_work_and_go_when_they_are_idle"),
    ),
    "listeners": ("engine/events/test_events.py", "test_a_run_reports_every_state_of_the_job_and_its_pipeline"),
    **dict.fromkeys(
        ("job.retry.times", "job.retry.interval.seconds"),
        ("connectors/jdbc/test_server_messages.py", "test_a_connection_that_is_lost_in_copy_is_retried"),
    ),
    "failure_policy": (RUN, "test_the_others_commit_where_the_policy_is_to_continue"),
    "tags": (CONF, "test_folders_give_their_jobs_tags_and_an_owner"),
    "owner": (CONF, "test_folders_give_their_jobs_tags_and_an_owner"),
    "description": (HERE, "test_the_description_is_what_the_job_is_for"),
    "depends_on": ("engine/project/test_job_graph.py", "test_depends_on_adds_an_edge"),
    **dict.fromkeys(
        (option.name for option in OPTIONS if option.name.startswith("interval.")), DO_WHAT_IS_MISSING
    ),
    "state_dir": ("engine/state/test_state_dir.py", "test_a_relative_directory_of_the_job_is_relative_to_its_root"),
    "state.keep_runs": (
        "engine/state/test_ledger.py",
        "test_old_runs_are_pruned_but_for_open_ones_and_those_begun_again",
    ),
    "stream.trigger": ("engine/runtime/streaming/test_checks.py", "test_triggers"),
    "stream.watermark_policy": (
        "engine/runtime/streaming/test_stream_state.py",
        "test_the_fastest_of_two_sources_decides_where_the_job_says_so",
    ),
    "stream.checkpoint": ("engine/runtime/streaming/test_changed_jobs.py", "test_a_checkpoint_is_where_the_job_says"),
    "metrics_file": (
        "engine/runtime/test_costs.py",
        "test_a_run_records_what_its_pipelines_cost_and_writes_its_metrics",
    ),
    "checkpoint.interval": (HERE, "test_micro_batches_run_at_the_interval_of_checkpoints"),
    **dict.fromkeys(
        ("read_limit.rows_per_second", "read_limit.bytes_per_second"),
        ("engine/runtime/test_read_limit.py", "test_a_limited_source_gives_all_its_rows_and_takes_its_time"),
    ),
    "jars": (HERE, "test_jars_are_more_of_sparks_own"),
    "tuning.hadoop": (
        "engine/spark/starting/test_hadoop.py",
        "test_parts_of_hadoop_are_replaced_only_where_the_job_asks_for_it",
    ),
    "tuning.late_compiler": ("engine/job/test_tuning.py", "test_each_part_is_turned_on_by_its_name"),
    "accelerator": (
        "engine/spark/starting/test_accelerator.py",
        "test_a_local_session_has_the_jar_on_the_class_path_of_java",
    ),
    "reuse_batch_plans": (
        "engine/runtime/streaming/test_batch_cost.py",
        "test_reuse_can_be_turned_off_and_the_rows_are_the_same",
    ),
    "chaining": ("engine/optimizer/test_chaining.py", "test_each_edge_that_is_not_chained_has_its_reason"),
    "shade.identifier": ("engine/job/test_shade.py", "test_a_run_reads_the_encrypted_value"),
    "shade.options": ("engine/job/test_shade.py", "test_further_options_are_encrypted"),
    "sql.dialect": ("seatunnel/test_third_line.py", "test_a_job_may_choose_the_sql_alone"),
}  # fmt: skip


def compiled(folder, env):
    job = folder / "job.conf"
    fake = "FakeSource { schema { fields { id = int } } }"
    job.write_text(f"# from the comment\nenv {{ {env} }}\nsource {{ {fake} }}\nsink {{ Console {{}} }}")
    diagnostics = Diagnostics()
    found = compile_job(job, Settings(), diagnostics)
    assert found is not None, diagnostics.items
    return found


def test_each_option_names_a_test_that_sees_its_effect():
    assert {option.name for option in OPTIONS} == set(EFFECTS)
    for file, test in set(EFFECTS.values()):
        tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
        assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, (file, test)


def test_the_name_is_that_of_the_job(tmp_path):
    assert compiled(tmp_path, "job.name = orders").plan.env.name == "orders"
    assert compiled(tmp_path, "").plan.env.name == "job"


def test_the_parallelism_is_the_number_of_slots(tmp_path):
    from engine.plan.pipelines import slots

    assert slots(compiled(tmp_path, "parallelism = 7").plan) == 7
    assert slots(compiled(tmp_path, "parallelism = 2, max_concurrent_pipelines = 5").plan) == 5


def test_the_description_is_what_the_job_is_for(tmp_path):
    from engine.graph.descriptions import description_of_job

    assert description_of_job(compiled(tmp_path, 'description = "the orders"').job) == "the orders"
    assert description_of_job(compiled(tmp_path, "").job) == "from the comment"


@pytest.mark.parametrize("name", ["checkpoint.interval", "execution.checkpoint.interval"])
def test_micro_batches_run_at_the_interval_of_checkpoints(tmp_path, name):
    assert trigger_of(compiled(tmp_path, f"{name} = 2500").plan.env) == "2500 milliseconds"


def test_jars_are_more_of_sparks_own(tmp_path):
    env = compiled(tmp_path, 'spark.jars = "a.jar", jars = "file:///b.jar; c.jar"').plan.env
    assert env.spark["spark.jars"] == "a.jar,file:///b.jar,c.jar"
