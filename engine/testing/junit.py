"""Results of tests as JUnit XML, which CI systems show."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element, ElementTree, SubElement, indent

from catalog.diagnostics.shown_names import shown_name, shown_text
from catalog.masks import Masks
from engine.testing.run_tests import Result

_NOT_IN_XML: Final = re.compile("[\ufffe\uffff]")


def write_junit(path: Path, results: Sequence[Result], masks: Masks) -> None:
    """One suite per test file; secrets are masked, and characters that XML cannot hold are escaped."""

    def shown(text: str) -> str:
        return _NOT_IN_XML.sub("\ufffd", shown_text(masks.text(text)))

    def name_of(text: object) -> str:
        return shown_name(shown(str(text)))

    root = Element("testsuites")
    for file in dict.fromkeys(result.test.file for result in results):
        own = [result for result in results if result.test.file == file]
        failed = sum(bool(result.diagnostics) for result in own)
        seconds = f"{sum(result.seconds for result in own):.3f}"
        suite = SubElement(
            root, "testsuite", name=name_of(file), tests=str(len(own)), failures=str(failed), errors="0", time=seconds
        )
        for result in own:
            case = SubElement(
                suite, "testcase", classname=name_of(file), name=name_of(result.test.name), time=f"{result.seconds:.3f}"
            )
            for diagnostic in result.diagnostics:
                failure = SubElement(case, "failure", message=shown(f"[{diagnostic.code}] {diagnostic.message}"))
                lines = filter(None, [str(diagnostic.span or ""), *diagnostic.notes, diagnostic.help or ""])
                failure.text = shown("\n".join(lines))
    indent(root)
    ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
