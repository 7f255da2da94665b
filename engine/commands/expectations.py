"""`penstock expectations`: shows the results of a run's expectations."""

import json
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

SUMMARY = "show the results of the expectations of a run; as a page with --html"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN_ID", help="a run, as `penstock runs` lists it")
    parser.add_argument(
        "--html", type=Path, metavar="FILE", help="write great-expectations' data docs, one page for offline use"
    )
    parser.add_argument("--json", action="store_true", help="print the validation results as JSON")
    parser.add_argument("--state-dir", metavar="DIR", help="where runs are recorded (default: .penstock)")


def run(arguments: Namespace) -> int:
    from catalog.diagnostics.diagnostic import run_error
    from engine.state.layout import layout_at
    from engine.state.state_dir import local_state_dir
    from engine.terminal.output_file import write_output

    layout = layout_at(None, local_state_dir(arguments.state_dir))
    paths, files = layout.run(arguments.run), layout.files
    names = filter(paths.is_expectations, files.children(paths.folder))
    results = [json.loads(files.read(f"{paths.folder}/{name}")) for name in names]
    if not results:
        raise run_error("PEN5308", f"the run `{arguments.run}` has no expectations", None, f"looked in {paths.folder}")
    if arguments.json:
        print(json.dumps(results, indent=2, ensure_ascii=False))
    if arguments.html:
        write_output(arguments.html, _page(results))
        print(arguments.html)
    if not arguments.json and not arguments.html:
        for expectation in (one for result in results for one in result["results"]):
            meta, found = expectation["expectation_config"]["meta"], expectation["result"]
            result = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in found.items())
            print(f"{'holds' if expectation['success'] else 'BROKEN'} {meta['node']}.{meta['name']}: {result}")
    return 0 if all(result["success"] for result in results) else 1


def _page(results: list[dict[str, Any]]) -> str:
    import warnings
    from importlib.metadata import version

    from catalog.diagnostics.diagnostic import run_error
    from catalog.distribution import pip_install
    from engine.expectations.offline import offline
    from engine.supervised import release

    release()  # importing great-expectations takes its time
    with warnings.catch_warnings():  # its dependencies warn about each other
        warnings.simplefilter("ignore")
        try:
            from great_expectations.core import ExpectationSuiteValidationResult
            from great_expectations.core.expectation_validation_result import ExpectationValidationResult
            from great_expectations.expectations.expectation_configuration import ExpectationConfiguration
            from great_expectations.render.renderer.page_renderer import ValidationResultsPageRenderer
            from great_expectations.render.view.view import DefaultJinjaPageView
        except ImportError as cause:
            raise run_error("PEN9003", "the page needs great-expectations", None, pip_install("quality")) from cause
        judged = [outcome for result in results for outcome in result["results"]]
        found = [
            ExpectationValidationResult(
                success=outcome["success"], result=outcome["result"], exception_info=outcome["exception_info"],
                meta=outcome["meta"],
                expectation_config=ExpectationConfiguration(
                    type=outcome["expectation_config"]["type"], kwargs=outcome["expectation_config"]["kwargs"],
                    meta=outcome["expectation_config"]["meta"],
                ),
            )
            for outcome in judged
        ]  # fmt: skip
        good = sum(outcome["success"] for outcome in judged)
        suite = ExpectationSuiteValidationResult(
            success=good == len(judged), results=found, suite_name=results[0]["suite_name"], suite_parameters={},
            statistics={
                "evaluated_expectations": len(judged), "successful_expectations": good,
                "unsuccessful_expectations": len(judged) - good, "success_percent": 100 * good / len(judged),
            },
            meta={**results[0]["meta"], "great_expectations_version": version("great_expectations")},
        )  # fmt: skip
        view: Any = DefaultJinjaPageView()
        page = str(view.render(ValidationResultsPageRenderer(run_info_at_end=True).render(suite)))
        return offline(page, f"Expectations of {results[0]['suite_name']}")
