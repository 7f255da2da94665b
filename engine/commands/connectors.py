"""`penstock connectors`: lists the connectors and their options."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

import connectors
from catalog.diagnostics.diagnostic import did_you_mean, job_error
from catalog.options import Option
from engine.plan.required_packages import pip_line

SUMMARY = "list the connectors, or the options of one"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="a connector")


def run(arguments: Namespace) -> int:
    if arguments.name is None:
        _print_list()
        return 0
    source, sink = connectors.source(arguments.name), connectors.sink(arguments.name)
    either = source or sink
    if either is None:
        hint = did_you_mean(arguments.name, connectors.names())
        raise job_error("PEN2002", f"no connector is named `{arguments.name}`", None, hint)
    print(f"{either.name}: {either.doc}")
    if either.tests:
        print(either.tests)
    if either.maven:
        print(f"needs the jar {', '.join(either.maven)}, which Spark fetches when a job uses the connector")
    if either.requirements:
        print(f"needs `{pip_line(either)}`")
    parts: list[tuple[str, Sequence[Option]]] = []
    if source:
        parts.append(("source", source.source_options))
    if sink:
        parts.append(("sink", sink.offered_options()))
    for kind, options in parts:
        print(f"\nas a {kind}:")
        for option in options:
            _print_option(option)
    return 0


def _print_list() -> None:
    names = connectors.names()
    width = max(len(name) for name in names)
    for name in names:
        source, sink = connectors.source(name), connectors.sink(name)
        kinds = " ".join(kind for kind, found in (("source", source), ("sink", sink)) if found)
        either = source or sink
        about = f"{either.doc} {either.tests}".rstrip() if either else ""
        print(f"{name:{width}}  {kinds:11}  {about}")


def _print_option(option: Option) -> None:
    facts = [option.type.value]
    if option.required:
        facts.append("required")
    elif option.default is not None:
        facts.append(f"default {option.default}")
    if option.supported:
        facts.append(f"one of {', '.join(option.supported)}")
    if option.alternatives:
        facts.append(f"also called {', '.join(option.alternatives)}")
    if option.sensitive:
        facts.append("sensitive")
    print(f"  {option.name} ({'; '.join(facts)})\n      {option.doc}")
