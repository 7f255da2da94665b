"""The page of a graph shows names that are scripts, in a browser, as the texts that they are."""

import html
import json
import os
import re
import shutil
import subprocess

import pytest

from catalog.tables.table import Column
from catalog.types.datatypes import STRING
from engine.graph.page import drawn, drawn_columns, rendered
from tests.security.hostile_names import NAMES

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DEED = "document.documentElement.dataset.done='yes'"
SCRIPTS = (
    f"</script><script>{DEED}</script>", f"<img src=x onerror={DEED}>", f"<svg onload={DEED}>", "<!--<script>",
    f"]]><script>{DEED}</script>", f"\"><script>{DEED}</script>", f"'-({DEED})-'", f"*/{DEED}/*", "-->", "<!--",
    f"</title><script>{DEED}</script>", f"</style><script>{DEED}</script>", "</pre>", "<base href=//x>",
    f"<iframe srcdoc='<script>{DEED}</script>'>", f"<a href=javascript:{DEED}>x</a>", "<template>", "<plaintext>",
    "/*DATA*/", "/*TITLE*/", "/*SCRIPT*/", "/*STYLE*/", "/*POLICY*/", "<meta http-equiv=refresh content=0;url=//x>",
    *NAMES,
)  # fmt: skip
"""Each of them writes into the document what the test looks for, if it runs."""


def page_of(title: str, names: tuple[str, ...]) -> str:
    nodes = [
        {
            "name": name, "plugin": name, "kind": "scan", "details": name, "comment": name,
            "columns": drawn_columns([Column(name, STRING, comment=name)]),
        }
        for name in names
    ]  # fmt: skip
    edges = [(index, index + 1) for index in range(len(names) - 1)]
    lineage = [[end, names[end].lower(), start, names[start].lower(), "identity"] for start, end in edges]
    return rendered(title, {title: drawn(nodes, edges, lineage)})


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_data_of_a_page_is_what_was_put_in(name):
    text = page_of(name, (name,))
    (data,) = re.findall(r'<script id="data" type="application/json">(.*?)</script>', text, re.DOTALL)
    assert json.loads(data)["job"] == name
    assert text.lower().count("<script") == text.lower().count("</script>") == 2
    assert text.count("<!--") == 0
    assert "default-src 'none'" in text


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None and "CI" not in os.environ, reason="needs Chromium (.ci/browser)")
@pytest.mark.parametrize("title", SCRIPTS[:8])
def test_a_browser_draws_every_name_and_runs_none(title, tmp_path):
    names = tuple(name for name in SCRIPTS if not any("\ud800" <= char <= "\udfff" for char in name))
    (tmp_path / "page.html").write_text(page_of(title, names), encoding="utf-8")
    done = subprocess.run(
        [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}",
         "--virtual-time-budget=2000", "--dump-dom", (tmp_path / "page.html").as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert 'data-done="yes"' not in done.stdout
    assert done.stdout.count('class="node') >= len(names)
    shown = html.unescape(done.stdout)
    for name in SCRIPTS[:24]:
        assert name in shown
