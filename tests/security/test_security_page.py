"""Each promise of docs/security.md names a test that exists."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_each_promise_names_its_test():
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    promised = [part.split("Not promised")[0] for part in page.split("\nPromised:\n")[1:]]
    promises = [item for part in promised for item in re.split(r"^- ", part, flags=re.MULTILINE)[1:]]
    assert len(promises) > 15
    for promise in promises:
        named = re.search(r"\(`(tests/[\w/]+\.py)::(\w+)`\)\s*(?:\n##.*)?$", promise)
        assert named, promise
        tree = ast.parse((ROOT / named[1]).read_text(encoding="utf-8"))
        assert named[2] in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, promise
