"""Results of tests as JUnit XML, which CI systems show."""

from collections.abc import Sequence
from pathlib import Path
from xml.etree.ElementTree import Element, ElementTree, SubElement, indent

from engine.testing.run_tests import Result


def write_junit(path: Path, results: Sequence[Result]) -> None:
    """One suite per test file."""
    root = Element("testsuites")
    for file in dict.fromkeys(result.test.file for result in results):
        own = [result for result in results if result.test.file == file]
        failed = sum(bool(result.diagnostics) for result in own)
        seconds = f"{sum(result.seconds for result in own):.3f}"
        suite = SubElement(
            root, "testsuite", name=str(file), tests=str(len(own)), failures=str(failed), errors="0", time=seconds
        )
        for result in own:
            case = SubElement(
                suite, "testcase", classname=str(file), name=result.test.name, time=f"{result.seconds:.3f}"
            )
            for diagnostic in result.diagnostics:
                failure = SubElement(case, "failure", message=f"[{diagnostic.code}] {diagnostic.message}")
                failure.text = "\n".join(
                    filter(None, [str(diagnostic.span or ""), *diagnostic.notes, diagnostic.help or ""])
                )
    indent(root)
    ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
