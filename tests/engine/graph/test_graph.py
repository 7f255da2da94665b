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
from engine.graph.layered_layout import layout

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
const tooWide = all("text").filter(text => box(text).right > box(text.closest(".node")).right + 0.5);
const types = all(".column").filter(each => box(each.children[1]).right > box(each.children[2]).left);
click(names.indexOf("totals") + ".value");
const result = { wide: tooWide.length, clashing: types.length, direct: lit("direct"), indirect: lit("indirect"),
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


needs_chromium = pytest.mark.skipif(
    CHROMIUM is None and "CI" not in os.environ,  # CI installs it (.ci/browser), so there its absence is an error
    reason="needs Chromium, and .ci/browser could not install it (Debian: apt-get install chromium)",
)


def _probed(page, probe, size):
    """What the probe, a script at the end of the page, finds in a browser window of that size."""
    own = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page.read_text())  # it refuses the probe
    page.write_text(own.replace("</body>", probe))
    flags = (
        "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
        f"--disable-component-update --disable-sync --window-size={size}"
    )
    command = [str(CHROMIUM), *flags.split(), f"--user-data-dir={page.parent}/profile", "--dump-dom", page.as_uri()]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    return json.loads(re.search(r"<output>(.*)</output>", shown)[1])


@needs_chromium
def test_a_click_lights_the_lineage_in_a_browser(page):
    result = _probed(page, PROBE, "2600,1500")
    assert (result["wide"], result["clashing"]) == (0, 0)
    assert {"lines.quantity", "products.price", "priced.value", "kept.value", "totals.value"} <= set(result["direct"])
    assert {"facts.value", "by_region.value", "by_month.value", "out_month.value"} <= set(result["direct"])
    assert "orders.amount" not in result["direct"]
    assert result["edges"] >= 8
    assert result["after"] == 0
    assert result["nodes"] > 10
    assert result["details"].startswith("SELECT order_id, sum(value) AS value")


LARGE_PROBE = """<script>
const all = selector => [...document.querySelectorAll(selector)];
const rect = element => element.getBoundingClientRect();
const press = element => element.dispatchEvent(new MouseEvent("click", { bubbles: true }));
function type(text) {
  get("search").value = text;
  get("search").dispatchEvent(new Event("input"));
  return all("#found li").length;
}
function overlapping() {
  const rects = all(".node").map(rect);
  return rects.filter((a, i) => rects.some((b, j) => i < j && a.left < b.right && b.left < a.right
                                                      && a.top < b.bottom && b.top < a.bottom)).length;
}
const first = scale;
get("fit").click();
const outside = all(".node").map(rect).filter(r => r.left < 0 || r.right > innerWidth || r.bottom > innerHeight);
const result = { nodes: all(".node").length, scale: first, outside: outside.length, overlapping: overlapping(),
                 legend: get("legend").textContent, columns: all(".column").length };
press(document.querySelector(".fold"));
result.opened = [all(".column").length, overlapping()];
const before = scale;
svg.dispatchEvent(new WheelEvent("wheel", { deltaY: -300, clientX: 300, clientY: 300 }));
result.zoomed = scale > before;
const was = left;
svg.dispatchEvent(new PointerEvent("pointerdown", { clientX: 300, clientY: 300 }));
dispatchEvent(new PointerEvent("pointermove", { clientX: 340, clientY: 300 }));
result.panned = left - was;
dispatchEvent(new PointerEvent("pointerup"));
drag = null;
result.found = SEARCHES.map(type);
press(document.querySelector("#found li"));
result.details = details.textContent;
result.comment = get("comment").textContent;
result.middle = Math.abs(rect(document.querySelector(".chosen")).x - svg.clientWidth / 2) < 200;
EXTRA
document.body.innerHTML = "<output>" + JSON.stringify(result).replaceAll("<", "&lt;") + "</output>";
</script></body>"""


def _sixty_nodes():
    tables = [f"-- Rows of system {i}.\nCREATE TABLE source_{i} (id BIGINT, name STRING, amount DECIMAL(12,2)) "
              "WITH ('connector'='FakeSource');" for i in range(14)]  # fmt: skip
    joins = [f"CREATE VIEW joined_{i} AS SELECT a.id, a.name, a.amount + b.amount AS amount "
             f"FROM source_{i} a JOIN source_{(i + 4) % 14} b ON a.id = b.id;" for i in range(16)]  # fmt: skip
    totals = [f"CREATE VIEW totals_{i} AS SELECT name, sum(amount) AS total FROM joined_{i} GROUP BY name;"
              for i in range(16)]  # fmt: skip
    sinks = [f"CREATE TABLE out_{i} WITH ('connector'='LocalFile','path'='out/{i}','file_format_type'='parquet');\n"
             f"INSERT INTO out_{i} SELECT * FROM totals_{i};" for i in range(14)]  # fmt: skip
    return "\n".join(["SET 'job.name' = 'sixty';", *tables, *joins[:14], *totals[:14], *sinks])


@needs_chromium
def test_a_page_of_many_nodes_is_read_searched_and_moved(tmp_path):
    (tmp_path / "job.sql").write_text(_sixty_nodes())
    assert main(["graph", str(tmp_path / "job.sql"), "-o", str(tmp_path / "page.html")]) == 0
    probe = LARGE_PROBE.replace("SEARCHES", '["nowhere to be found", "source_1", "rows of system 13"]')
    result = _probed(tmp_path / "page.html", probe.replace("EXTRA", ""), "1440,900")
    assert result["nodes"] >= 56
    assert result["scale"] >= 0.72  # a name's 13 pixels stay 9 or more
    assert (result["outside"], result["overlapping"], result["columns"]) == (0, 0, 0)
    assert result["opened"] == [3, 0]
    assert {"source", "query", "sink"} <= set(re.findall(r"source|query|sink", result["legend"]))
    assert result["zoomed"]
    assert result["panned"] == 40
    assert result["found"][0] == 1  # "nothing found"
    assert result["found"][1] >= 5
    assert result["found"][2] == 1
    assert result["comment"] == "Rows of system 13."
    assert result["middle"]


LOAD = """-- Load the orders.
CREATE TABLE raw (id BIGINT COMMENT 'The number of the order', amount INT)
WITH ('connector'='LocalFile','path'='data/orders','file_format_type'='parquet');
CREATE TABLE clean WITH ('connector'='LocalFile','path'='out/clean','file_format_type'='parquet');
INSERT INTO clean SELECT id, amount * 2 AS doubled FROM raw;
"""
SUM = """-- Sum the orders up.
CREATE TABLE clean (id BIGINT, doubled INT)
WITH ('connector'='LocalFile','path'='out/clean/part=*','file_format_type'='parquet');
CREATE TABLE total WITH ('connector'='LocalFile','path'='out/total','file_format_type'='parquet');
INSERT INTO total SELECT sum(doubled) AS total FROM clean;
"""
FOLDER_EXTRA = """
go({ plan: "all jobs", index: plan.nodes.findIndex(node => node.name.endsWith("out/total")) });
wide = true; unlike = new Set(); draw("all jobs");
press(all(".column").find(each => each.textContent.startsWith("total")));
result.lit = all(".column.direct").map(each => each.textContent.split(" ")[0]).sort();
result.jobs = all(".node.lit").length;
result.edges = all(".edge.lit").length;
choose(plan.nodes.findIndex(node => node.plugin === "load.sql"));
result.job = get("comment").textContent;
press(document.querySelector("#opens button"));
result.opens = all(".node").length;
"""


@needs_chromium
def test_the_page_of_a_folder_follows_a_column_across_jobs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    jobs = tmp_path / "jobs"
    jobs.mkdir()
    (jobs / "load.sql").write_text(LOAD)
    (jobs / "sum.sql").write_text(SUM)
    assert main(["graph", "jobs", "-o", "page.html"]) == 0
    probe = LARGE_PROBE.replace("SEARCHES", '["number of the order"]').replace("EXTRA", FOLDER_EXTRA)
    result = _probed(tmp_path / "page.html", probe, "1440,900")
    assert result["nodes"] == 5
    assert result["overlapping"] == 0
    assert result["found"][0] >= 1
    assert len(result["lit"]) == 3  # total <- doubled <- amount, each in its table
    assert (result["jobs"], result["edges"]) == (5, 4)
    assert result["job"] == "Load the orders."
    assert result["opens"] == 3


def test_jobs_that_feed_each_other_in_a_circle_are_drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.sql").write_text(LOAD.replace("data/orders", "out/total"))
    (tmp_path / "b.sql").write_text(SUM)
    assert main(["graph", ".", "-o", "page.html"]) == 0
    data = json.loads(re.search(r'<script id="data"[^>]*>(.*?)</script>', Path("page.html").read_text(), re.DOTALL)[1])
    edges = data["plans"]["all jobs"]["edges"]
    assert len(edges) == 4
    assert sum(start > end for start, end in edges) == 1
