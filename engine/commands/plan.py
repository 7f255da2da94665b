"""`penstock plan`: the changes of the project against a git revision, or against what an environment last ran."""

from argparse import ArgumentParser, Namespace

from engine.terminal.arguments import add_job_arguments, settings_of

SUMMARY = "show what changed in the project, who reads it, and what must be rebuilt; needs no Spark"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--against", metavar="REV", help="a git revision (default: what the environment, `--env`, last ran)"
    )
    parser.add_argument("--state-dir", metavar="DIR", help="the state directory of the environment")
    parser.add_argument("--format", choices=("text", "json", "markdown"), default="text")
    parser.add_argument(
        "--fail-on", choices=("never", "breaking", "any"), default="breaking",
        help="for which changes the exit code is 1 (default: breaking)",
    )  # fmt: skip
    add_job_arguments(parser)


def run(arguments: Namespace) -> int:
    from engine.project.changes.plan_changes import plan_of_changes
    from engine.project.changes.show_changes import changes_json, to_markdown, to_text
    from engine.project.compile_project import compile_remembered
    from engine.project.enter import needs_project
    from engine.project.recorded_state import RecordedState, read_state
    from engine.project.revision import state_at
    from engine.state.layout import layout_at
    from engine.terminal.report import report

    project, settings = needs_project(arguments), settings_of(arguments)
    compiled = compile_remembered(project, settings, fingerprints=True)
    if errors := [item for item in compiled.all_diagnostics() if item.severity.value == "error"]:
        report(errors, arguments.masks)
    if arguments.against:
        before, against = state_at(project, arguments.against, settings), arguments.against
    else:
        directory = arguments.state_dir or project.state_dir
        before = read_state(layout_at(None, directory)) or RecordedState()
        against = f"the last run in {project.environment or directory}"
    plan = plan_of_changes(before, compiled.graph)
    shapes = {"text": to_text, "json": changes_json, "markdown": to_markdown}
    print(arguments.masks.known(shapes[arguments.format](plan, against)), end="")
    if errors:
        return 2
    return int({"never": False, "breaking": plan.is_breaking, "any": bool(plan.jobs)}[arguments.fail_on])
