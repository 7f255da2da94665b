"""The page of a plan: nothing overlaps, it needs nobody else, and a click lights a column's lineage in a browser."""

import json
import os
import re
import shutil
import subprocess
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.cli import main
from engine.graph.layout import layout

JOB = Path(__file__).with_name("twenty_nodes.sql")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
EDGES = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)).filter(lambda pair: pair[0] < pair[1]), unique=True)
SIZES = st.lists(st.tuples(st.integers(80, 300), st.integers(40, 400)), min_size=12, max_size=12)


@given(SIZES, EDGES)
def test_no_boxes_overlap_and_edges_lead_to_the_right(sizes, edges):
    drawing = layout({i: (float(w), float(h)) for i, (w, h) in enumerate(sizes)}, edges)
    for a, b in combinations(drawing.boxes.values(), 2):
        apart = a.x + a.width <= b.x or b.x + b.width <= a.x or a.y + a.height <= b.y or b.y + b.height <= a.y
        assert apart, (a, b)
    for box in drawing.boxes.values():
        assert 0 <= box.x <= drawing.width - box.width
        assert 0 <= box.y <= drawing.height - box.height
    for (start, end), points in drawing.edges.items():
        assert drawing.boxes[start].x < drawing.boxes[end].x
        assert [x for x, _ in points] == sorted(x for x, _ in points)
        for left, right in zip(points[1:-1:2], points[2:-1:2], strict=False):  # where it passes a layer of boxes
            for box in drawing.boxes.values():
                passes = box.x < right[0] and left[0] < box.x + box.width
                assert not passes or not box.y < left[1] < box.y + box.height


@pytest.fixture
def page(tmp_path):
    assert main(["graph", str(JOB), "-o", str(tmp_path / "page.html")]) == 0
    return tmp_path / "page.html"


def test_the_page_needs_nobody_else(page):
    text = page.read_text()
    assert set(re.findall(r"https?://[^\"'\s<]+", text)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<(link|img|iframe)|src=|@import|url\(", text)
    data = json.loads(re.search(r'<script id="data"[^>]*>(.*?)</script>', text, re.DOTALL)[1])
    before, after = data["plans"].values()
    assert len(before["nodes"]) >= 20
    assert len(after["nodes"]) <= len(before["nodes"])


def test_a_script_in_a_name_stays_a_text(tmp_path):
    job = JOB.read_text().replace("twenty nodes", "</script><script>alert(1)</script>")
    (tmp_path / "job.sql").write_text(job)
    assert main(["graph", str(tmp_path / "job.sql"), "-o", str(tmp_path / "page.html")]) == 0
    assert (tmp_path / "page.html").read_text().count("</script>") == 2


PROBE = """<script>
const all = selector => [...document.querySelectorAll(selector)];
const box = element => element.getBoundingClientRect();
function click(key) {
  const place = box(document.querySelector(`[data-column="${key}"]`));
  const hit = document.elementFromPoint(place.x + 30, place.y + place.height / 2);
  hit.dispatchEvent(new MouseEvent("click", { bubbles: true }));
}
const names = data.plans["before the rules"].nodes.map(node => node.name);
const called = key => names[key.split(".")[0]] + "." + key.split(".")[1];
const lit = kind => all(".column." + kind).map(each => called(each.dataset.column)).sort();
const wide = all("text").filter(text => box(text).right > box(text.closest(".node")).right + 0.5);
const types = all(".column").filter(each => box(each.children[1]).right > box(each.children[2]).left);
click(names.indexOf("totals") + ".value");
const result = { wide: wide.length, clashing: types.length, direct: lit("direct"), indirect: lit("indirect"),
                 edges: all(".edge.lit").length };
document.querySelector("main").click();
svg.dispatchEvent(new MouseEvent("click"));
result.after = all(".direct, .indirect, .lit").length;
all("#plans button")[1].click();
result.nodes = all(".node").length;
const totals = plan.nodes.findIndex(node => node.name === "totals");
all(".head")[totals].dispatchEvent(new MouseEvent("click", { bubbles: true }));
result.details = document.getElementById("details").textContent;
document.body.innerHTML = "<output>" + JSON.stringify(result) + "</output>";
</script></body>"""


@pytest.mark.skipif(
    CHROMIUM is None and "CI" not in os.environ,  # CI installs it (.ci/browser), so there its absence is a fault
    reason="needs Chromium, and .ci/browser could not install it (Debian: apt-get install chromium)",
)
def test_a_click_lights_the_lineage_in_a_browser(page, tmp_path):
    page.write_text(page.read_text().replace("</body>", PROBE))
    flags = (
        "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
        "--disable-component-update --disable-sync --window-size=2600,1500"
    )
    command = [str(CHROMIUM), *flags.split(), f"--user-data-dir={tmp_path}/profile", "--dump-dom", page.as_uri()]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    result = json.loads(re.search(r"<output>(.*)</output>", shown)[1])
    assert (result["wide"], result["clashing"]) == (0, 0)
    assert {"lines.quantity", "products.price", "priced.value", "kept.value", "totals.value"} <= set(result["direct"])
    assert {"facts.value", "by_region.value", "by_month.value", "out_month.value"} <= set(result["direct"])
    assert "orders.amount" not in result["direct"]
    assert result["edges"] >= 8
    assert result["after"] == 0
    assert result["nodes"] > 10
    assert result["details"].startswith("SELECT order_id, sum(value) AS value")
