"""`penstock run`: runs jobs on Spark, one after the other in one application."""

import re
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engine.terminal.arguments import (
    add_accelerator_argument,
    add_defer_argument,
    add_format_argument,
    add_job_arguments,
    add_selection_arguments,
    add_table_arguments,
    positive,
    settings_of,
)

if TYPE_CHECKING:
    from engine.compile import Compiled

_RUN_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+:=@~-]{0,127}")

_MEANING: Final = {
    "finished": "its commit had begun, and all its sinks have their rows now",
    "rolled back": "its commit had not begun: no target has changed, and what it staged is removed",
}
"""What `--resume` did, by the outcome of the run."""

SUMMARY = "run jobs on Spark; several in one application, in their order"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "jobs", nargs="*", type=Path, metavar="JOB", help="job files; in a project also names (default: all its jobs)"
    )
    parser.add_argument(
        "--check", action="store_true", help="check the job files as `penstock validate` does, and run nothing"
    )
    parser.add_argument("--dry-run", action="store_true", help="show what each sink would do, and change nothing")
    parser.add_argument("--run-id", metavar="ID", help="name the run; a finished run of the same name is not repeated")
    parser.add_argument(
        "--resume",
        metavar="ID",
        help="end a run that was killed: finish its commit where that had begun, else remove what it staged; "
        "it computes nothing again",
    )
    parser.add_argument(
        "--continue",
        dest="continues",
        action="store_true",
        help="with --resume ID and the job: keep what the killed run has staged, stage the rest, and commit all",
    )
    parser.add_argument(
        "--restore",
        metavar="ID",
        help="go on from the checkpoint that this streaming run has left; without it, a streaming job goes on where "
        "there is one and starts anew where there is none",
    )
    parser.add_argument(
        "--full-refresh",
        action="store_true",
        help="read incremental sources from the start, whatever is recorded; refused where rows would only be added",
    )
    parser.add_argument(
        "--master", metavar="URL", help="Spark's master (default: the one of spark-submit, or local[*])"
    )
    parser.add_argument(
        "--async", action="store_true", dest="is_async",
        help="run the job in a process of its own, and return once it has begun: `penstock wait` waits for its end",
    )  # fmt: skip
    parser.add_argument("--keep-going", action="store_true", help="run the other jobs, too, after one has failed")
    parser.add_argument(
        "--together",
        action="store_true",
        help="commit the jobs of the project as one: if one fails, no target of any of them has changed",
    )
    parser.add_argument("--quiet", action="store_true", help="print only errors and warnings")
    parser.add_argument(
        "--state-dir",
        metavar="DIR",
        help="where runs are recorded, whatever the job sets",
    )
    parser.add_argument(
        "--threads", type=positive, default=4, metavar="N", help="jobs of a project at once (default: 4)"
    )
    add_selection_arguments(parser)
    add_defer_argument(parser)
    add_format_argument(parser)
    add_accelerator_argument(parser)
    add_job_arguments(parser)
    add_table_arguments(parser)


def run(arguments: Namespace) -> int:
    from catalog.diagnostics.diagnostic import job_error
    from engine.needs_spark import require_spark
    from engine.project.compiled_jobs import listed_jobs
    from engine.terminal.hidden_arguments import hide_arguments
    from engine.terminal.rare_collections import usual_collections
    from engine.terminal.report import report

    _check_async(arguments)
    if arguments.together:
        return _together(arguments)
    if arguments.defer is not None and (arguments.check or arguments.dry_run or arguments.resume or arguments.restore):
        raise job_error("PEN2011", "`--defer` runs jobs", None, "penstock explain JOB --defer ENV shows what they read")
    if arguments.defer is not None or (arguments.project is not None and _is_of_project(arguments)):
        from engine.orchestration.run_selected import run_selected

        _check_run_id(arguments)
        return run_selected(arguments, settings_of(arguments, reads_secrets=True), command="run")
    if not arguments.jobs and not arguments.resume:
        raise job_error("PEN2010", "no job to run", None, "penstock run JOB…, or penstock run --resume ID")
    _check_run_id(arguments)
    jobs = listed_jobs(arguments, arguments.jobs, settings_of(arguments, reads_secrets=True))
    if warnings := [warning for job in jobs for warning in job.warnings]:
        report(warnings, arguments.masks, arguments.format)
    if arguments.check:
        print(f"checked {len(jobs)} job{'s' * (len(jobs) != 1)}: no error found")
        return 0
    _check_restore(arguments, jobs)
    _check_continue(arguments, jobs)
    require_spark("running a job")
    hide_arguments(arguments.masks.text)
    usual_collections()
    if arguments.resume and not arguments.continues:
        return _resume(arguments, jobs)
    return _dry_run(arguments, jobs) if arguments.dry_run else _run(arguments, jobs)


def _together(arguments: Namespace) -> int:
    from catalog.diagnostics.diagnostic import job_error
    from engine.orchestration.run_selected import run_selected

    for name in ("resume", "restore", "dry_run", "full_refresh", "keep_going"):
        if getattr(arguments, name):
            option = f"--{name.replace('_', '-')}"
            raise job_error("PEN2011", f"`--together` and `{option}` exclude each other", None, "leave one of them out")
    _check_run_id(arguments)
    return run_selected(arguments, settings_of(arguments, reads_secrets=not arguments.check), command="run")


def _is_of_project(arguments: Namespace) -> bool:
    """Whether several jobs of the project are run by its graph: not one alone, a dry run, or what ends another run,
    nor with a file that is no job of the project: those run in the order given."""
    is_special = arguments.resume or arguments.restore or arguments.dry_run or arguments.check
    is_selected = arguments.select or arguments.exclude or arguments.selector
    folders = [Path(folder).resolve() for folder in arguments.project.job_folders]
    has_others = not all(any(Path(job).resolve().is_relative_to(each) for each in folders) for job in arguments.jobs)
    return not is_special and not has_others and (is_selected or len(arguments.jobs) != 1)


def _run(arguments: Namespace, jobs: "tuple[Compiled, ...]") -> int:
    from engine.orchestration.run_listed import run_listed
    from engine.project.compiled_jobs import recompiler
    from engine.runtime.run_request import RunRequest, new_run_id
    from engine.terminal.run_terminal import RunTerminal

    given: str | None = arguments.run_id
    if arguments.is_async:
        return _in_background(arguments, jobs, given or new_run_id())
    run_id, is_fresh = given or arguments.resume or new_run_id(), not (given or arguments.resume)
    request = RunRequest(run_id, is_fresh, arguments.full_refresh, arguments.restore, continues=arguments.continues)
    terminal = RunTerminal.of(arguments)
    return run_listed(
        jobs, request, terminal, compile_again=recompiler(arguments), master=arguments.master,
        keeps_going=arguments.keep_going,
    )  # fmt: skip


def _in_background(arguments: Namespace, jobs: "tuple[Compiled, ...]", run_id: str) -> int:
    from engine.orchestration.run_in_background import run_in_background

    words = [word for word in arguments.words if not (word.startswith("--as") and "--async".startswith(word))]
    return run_in_background(jobs[0], run_id, [*words, *(() if arguments.run_id else ("--run-id", run_id))])


def _dry_run(arguments: Namespace, jobs: "tuple[Compiled, ...]") -> int:
    from engine.intervals.next_runs import next_runs
    from engine.intervals.shown_intervals import due_text
    from engine.plan.rendering.explain_text import explain
    from engine.project.compiled_jobs import recompiler
    from engine.runtime.application import application, dry_run, starts_of

    compile_again = recompiler(arguments)
    with application(jobs, arguments.master) as spark:
        for listed in jobs:
            following = next_runs(listed, compile_again)
            job = following.compiled
            starts = starts_of(spark, job, is_full=arguments.full_refresh)
            shown = explain(job.plan, previews=dry_run(spark, job), starts=starts)
            shown += "" if following.ledgers is None else "\n" + due_text(following.ledgers, following.due)
            print(arguments.masks.known(shown), end="")
    return 0


def _resume(arguments: Namespace, jobs: "tuple[Compiled, ...]") -> int:
    """The state directory is `--state-dir`, else that of a job named with `--resume`, else the default."""
    from engine.runtime.application import resume
    from engine.state.state_dir import state_dir

    state = jobs[0].state_dir if jobs else state_dir(arguments.state_dir)
    known = {key: secrets for job in jobs for key, secrets in job.settings.credentials.items()}
    outcome = resume(state, arguments.resume, arguments.master, known)
    print(f"run {arguments.resume}: {outcome.value}; {_MEANING[outcome.value]}")
    return 0


def _check_run_id(arguments: Namespace) -> None:
    from catalog.diagnostics.diagnostic import job_error

    if arguments.resume and (arguments.dry_run or arguments.run_id):
        raise job_error("PEN2011", "`--resume` ends another run: it takes neither `--dry-run` nor `--run-id`")
    for run_id in (arguments.run_id, arguments.resume):
        if run_id is not None and not _RUN_ID.fullmatch(run_id):
            help = "letters, digits and `.`, `_`, `-`, `+`, `:`, `=`, `@`, `~`, at most 128, a letter or digit first"
            raise job_error("PEN2004", f"`{run_id}` cannot name a run: it names a directory", None, help)


def _check_continue(arguments: Namespace, jobs: "tuple[Compiled, ...]") -> None:
    from catalog.diagnostics.diagnostic import job_error

    is_batch = len(jobs) == 1 and jobs[0].plan.env.mode != "STREAMING" and jobs[0].plan.env.interval is None
    if arguments.continues and not (arguments.resume and is_batch and not arguments.full_refresh):
        help = "penstock run JOB --resume ID --continue"
        raise job_error("PEN2011", "`--continue` goes on with one killed run of a batch job", None, help)


def _check_async(arguments: Namespace) -> None:
    from catalog.diagnostics.diagnostic import job_error

    is_special = arguments.resume or arguments.dry_run or arguments.check or arguments.together
    is_selected = arguments.select or arguments.exclude or arguments.selector
    if arguments.is_async and (is_special or is_selected or len(arguments.jobs) != 1):
        help = "name one job; several of a project run in the background of the shell"
        raise job_error("PEN2011", "`--async` runs one job", None, help)


def _check_restore(arguments: Namespace, jobs: "tuple[Compiled, ...]") -> None:
    from catalog.diagnostics.diagnostic import job_error

    if arguments.restore and not (len(jobs) == 1 and jobs[0].plan.env.mode == "STREAMING"):
        raise job_error("PEN2011", "`--restore` goes on with one streaming job", None, "env { job.mode = STREAMING }")
