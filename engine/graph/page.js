"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const get = id => document.getElementById(id);
const svg = document.querySelector("svg"), view = get("view"), details = get("details");
const HEAD = data.head, LINE = data.line, GAP = 14, SMALL = 0.72;
const KINDS = {
  scan: ["--scan", "source"], query: ["--query", "query"], native: ["--query", "transform"],
  union: ["--query", "union"], expect: ["--check", "expectations"], rejects: ["--check", "rejected rows"],
  write: ["--write", "sink"], table: ["--scan", "table or files"], job: ["--query", "job"],
};
let plan, planName, wide, scale = 1, left = 0, top_ = 0, boxes = [], unlike = new Set();

function make(tag, attributes, parent, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}

function html(tag, parent, text) {
  const element = document.createElement(tag);
  element.textContent = text;
  parent.append(element);
  return element;
}

/* Boxes and edges: the layout that Python made, with the boxes pushed down that an opened box would cover. */

const isOpen = index => plan.nodes[index].columns.length > 0 && wide !== unlike.has(index);
const rows = node => Math.min(node.columns.length, data.most) + (node.columns.length > data.most ? 1 : 0);
const layout = () => plan.layouts[wide ? "columns" : "names"];

function place() {
  const layers = new Map();
  boxes = layout().boxes.map(([x, y, w, h], index) => {
    if (unlike.has(index)) {
      h = isOpen(index) ? plan.layouts.columns.boxes[index][3] : HEAD - 6;
      if (isOpen(index)) w = Math.max(w, plan.layouts.columns.boxes[index][2]);
    }
    const box = { x, y, w, h };
    layers.set(x, [...(layers.get(x) ?? []), box]);
    return box;
  });
  let shift = 0;
  for (const x of [...layers.keys()].sort((a, b) => a - b)) {
    const layer = layers.get(x).sort((a, b) => a.y - b.y);
    for (let i = 1; i < layer.length; i++) layer[i].y = Math.max(layer[i].y, layer[i - 1].y + layer[i - 1].h + GAP);
    let grown = 0;
    layer.forEach(box => { grown = Math.max(grown, box.w); box.x += shift; });
    shift += Math.max(0, grown - Math.max(...layout().boxes.filter(each => each[0] === x).map(each => each[2])));
  }
}

function curve(points) {
  let path = `M${points[0]}`;
  for (let i = 1; i < points.length; i++) {
    const [x, y] = points[i - 1], [u, v] = points[i], middle = (x + u) / 2;
    path += ` C${middle},${y} ${middle},${v} ${u},${v}`;
  }
  return path;
}

function edgePath([from, to], index) {
  const a = boxes[from], b = boxes[to], points = layout().points[index];
  if (!points.length) {
    const below = Math.max(a.y + a.h, b.y + b.h) + 24;
    return `M${a.x + a.w / 2},${a.y + a.h} C${a.x},${below} ${b.x + b.w},${below} ${b.x + b.w / 2},${b.y + b.h}`;
  }
  const middle = box => box.y + (unlike.size ? (HEAD - 6) / 2 : box.h / 2);
  return curve([[a.x + a.w, middle(a)], ...(unlike.size ? [] : points.slice(1, -1)), [b.x, middle(b)]]);
}

function draw(name, keep = false) {
  if (!keep) unlike = new Set();
  plan = data.plans[name];
  planName = name;
  place();
  view.replaceChildren();
  unlight();
  plan.edges.forEach((edge, index) => make("path", {
    class: layout().points[index].length ? "edge" : "edge back", d: edgePath(edge, index), "data-edge": edge.join(" "),
  }, view));
  plan.nodes.forEach(drawNode);
  for (const button of document.querySelectorAll("#plans button"))
    button.setAttribute("aria-pressed", button.textContent === name);
  const select = document.querySelector("#plans select");
  if (select) select.value = name;
  get("columns").setAttribute("aria-pressed", wide);
  drawLegend();
  mark();
}

function drawNode(node, index) {
  const box = boxes[index];
  const group = make("g", { class: "node", "data-node": index, transform: `translate(${box.x},${box.y})` }, view);
  const head = make("g", { class: "head" }, group), low = HEAD - 6, round = isOpen(index) ? 0 : 6;
  make("rect", { class: "box", width: box.w, height: box.h, rx: 6 }, group);
  group.append(head);
  make("path", { d: `M0,${low - round} V6 Q0,0 6,0 H${box.w - 6} Q${box.w},0 ${box.w},6 V${low - round} ` +
                    `Q${box.w},${low} ${box.w - round},${low} H${round} Q0,${low} 0,${low - round} Z`,
                 fill: `var(${KINDS[node.kind][0]})` }, head);
  make("text", { class: "name", x: 10, y: 17 }, head, node.name);
  make("text", { class: "plugin", x: 10, y: 31 }, head, node.plugin);
  if (node.comment) make("title", {}, head, node.comment);
  head.addEventListener("click", event => { event.stopPropagation(); choose(index); });
  if (node.columns.length) {
    const fold = make("text", { class: "fold", x: box.w - 13, y: 18 }, group, isOpen(index) ? "▾" : "▸");
    make("title", {}, fold, isOpen(index) ? "hide the columns" : "show the columns");
    fold.addEventListener("click", event => { event.stopPropagation(); toggle(index); });
  }
  if (isOpen(index)) drawColumns(node, index, group, box.w);
}

function drawColumns(node, index, group, width) {
  node.columns.slice(0, data.most).forEach((column, row) => {
    const key = column.name.toLowerCase();
    const line = make("g", { class: "column", "data-column": `${index}.${key}`,
                             transform: `translate(1,${HEAD - 3 + row * LINE})` }, group);
    make("rect", { width: width - 2, height: LINE }, line);
    make("text", { x: 9, y: 13 }, line, column.name);
    make("text", { class: "type", x: width - 11, y: 13 }, line,
         column.type.length > 32 ? column.type.slice(0, 31) + "…" : column.type);
    make("title", {}, line, `${column.name} ${column.type}${column.nullable ? "" : " not null"}` +
                            (column.comment ? `\n${column.comment}` : ""));
    line.addEventListener("click", event => { event.stopPropagation(); light(index, key); });
  });
  const more = node.columns.length - data.most;
  if (more > 0) make("text", { class: "more", x: 10, y: HEAD + rows(node) * LINE - 8 }, group, `… ${more} more`);
}

function toggle(index) {
  unlike.has(index) ? unlike.delete(index) : unlike.add(index);
  draw(planName, true);
}

function drawLegend() {
  const legend = get("legend");
  legend.replaceChildren();
  const seen = new Map(plan.nodes.map(node => [KINDS[node.kind][1], `var(${KINDS[node.kind][0]})`]));
  const entry = (text, colour) => {
    const span = html("span", legend, "");
    html("i", span, "").style.background = colour;
    span.append(text);
  };
  for (const [text, colour] of seen) entry(text, colour);
  entry("value comes from or goes to", "var(--lit)");
  entry("only filters, joins or groups", "var(--faint)");
  html("span", legend, "Click a box: details; a column: its lineage. Drag: pan; wheel: zoom; Esc: clear.");
}

/* What is lit: the lineage of a column, or of a box. */

function light(node, column) {
  const found = new Map([[`${node}.${column}`, true]]), edges = new Set(), between = new Set();
  for (const upstream of [true, false]) {
    const work = [[node, column, true]];
    while (work.length) {
      const [at, name, direct] = work.pop();
      for (const [reader, output, read, input, how, via] of plan.lineage) {
        const here = upstream ? reader === at && output === name : read === at && input === name;
        if (!here) continue;
        const isDirect = direct && ["identity", "transformation", "aggregation"].includes(how);
        const next = upstream ? [read, input] : [reader, output], key = next.join(".");
        if (via === undefined) edges.add(`${read} ${reader}`);
        else { edges.add(`${read} ${via}`).add(`${via} ${reader}`); between.add(String(via)); }
        if (found.get(key) === true || (found.has(key) && !isDirect)) continue;
        found.set(key, isDirect);
        work.push([...next, isDirect]);
      }
    }
  }
  show(new Set([...between, ...[...found.keys()].map(key => key.split(".")[0])]), edges);
  for (const each of view.querySelectorAll(".column")) {
    each.classList.toggle("direct", found.get(each.dataset.column) === true);
    each.classList.toggle("indirect", found.get(each.dataset.column) === false);
  }
}

function show(nodes, edges) {
  svg.classList.add("lighting");
  for (const each of view.querySelectorAll(".node")) each.classList.toggle("lit", nodes.has(each.dataset.node));
  for (const each of view.querySelectorAll(".edge")) each.classList.toggle("lit", edges.has(each.dataset.edge));
}

function unlight() {
  svg.classList.remove("lighting");
  for (const each of view.querySelectorAll(".lit, .direct, .indirect, .chosen"))
    each.classList.remove("lit", "direct", "indirect", "chosen");
}

function lightBox(index) {
  const nodes = new Set([index]), edges = new Set();
  for (const [here, there] of [[0, 1], [1, 0]]) {
    const work = [index], seen = new Set(work);
    while (work.length) {
      const at = work.pop();
      for (const edge of plan.edges) {
        if (edge[here] !== at) continue;
        edges.add(edge.join(" "));
        if (seen.has(edge[there])) continue;
        seen.add(edge[there]);
        nodes.add(edge[there]);
        work.push(edge[there]);
      }
    }
  }
  show(new Set([...nodes].map(String)), edges);
}

function choose(index) {
  const node = plan.nodes[index];
  unlight();
  lightBox(index);
  view.querySelector(`[data-node="${index}"]`).classList.add("chosen");
  get("called").textContent = node.name;
  get("what").textContent = `${KINDS[node.kind][1]} · ${node.plugin}`;
  get("comment").textContent = node.comment;
  details.textContent = node.details;
  get("opens").replaceChildren();
  if (node.opens) html("button", get("opens"), "show its plan").addEventListener("click", () => open_(node.opens));
  get("fields").replaceChildren();
  for (const column of node.columns) {
    const row = html("tr", get("fields"), "");
    const name = html("td", row, column.name);
    if (column.comment) html("small", name, column.comment);
    html("td", row, column.type + (column.nullable ? "" : " not null"));
  }
  get("panel").hidden = false;
}

function closePanel() { get("panel").hidden = true; details.textContent = ""; }

/* Search, in every plan of the page. */

function texts(node) {
  return [["name", node.name], ["", node.plugin],
          ...node.columns.flatMap(column => [["column", column.name], [column.name, column.comment]]),
          ["comment", node.comment], ["details", node.details]];
}

function search(text) {
  const wanted = text.trim().toLowerCase(), found = [];
  if (!wanted) return found;
  const names = Object.keys(data.plans).filter(name => name === planName || name !== "after the rules");
  for (const name of [planName, ...names.filter(each => each !== planName)])
    data.plans[name].nodes.forEach((node, index) => {
      const hit = texts(node).find(([, each]) => each.toLowerCase().includes(wanted));
      if (hit) found.push({ plan: name, index, node, hit });
    });
  return Object.keys(data.plans).includes("before the rules") ? found.filter(each => each.plan === planName) : found;
}

function mark() {
  const found = search(get("search").value);
  const here = new Set(found.filter(each => each.plan === planName).map(each => String(each.index)));
  for (const each of view.querySelectorAll(".node")) each.classList.toggle("hit", here.has(each.dataset.node));
  return found;
}

function list() {
  const found = mark();
  get("found").replaceChildren();
  found.slice(0, 50).forEach((each, place) => {
    const item = html("li", get("found"), each.plan === planName ? each.node.name : `${each.plan} › ${each.node.name}`);
    const at = each.hit[1].toLowerCase().indexOf(get("search").value.trim().toLowerCase());
    if (each.hit[0] !== "name") html("small", item, `${each.hit[0]} ${each.hit[1].slice(Math.max(0, at - 30), at + 60)}`);
    item.classList.toggle("next", place === 0);
    item.addEventListener("click", () => { go(each); get("found").replaceChildren(); });
  });
  if (!found.length && get("search").value.trim()) html("li", get("found"), "nothing found");
}

function go({ plan: name, index }) {
  if (name !== planName) open_(name);
  choose(index);
  const box = boxes[index];
  scale = Math.max(scale, 0.9);
  left = svg.clientWidth / 2 - (box.x + box.w / 2) * scale;
  top_ = svg.clientHeight / 2 - (box.y + Math.min(box.h, 300) / 2) * scale;
  apply();
}

/* Zoom and pan. */

function apply() { view.setAttribute("transform", `translate(${left},${top_}) scale(${scale})`); }

function zoom(to, x = svg.clientWidth / 2, y = svg.clientHeight / 2) {
  const next = Math.min(3, Math.max(0.05, to));
  left = x - (x - left) * next / scale;
  top_ = y - (y - top_) * next / scale;
  scale = next;
  apply();
}

function size() {
  return [Math.max(...boxes.map(box => box.x + box.w), 1) + 24, Math.max(...boxes.map(box => box.y + box.h), 1) + 24];
}

function fitting() {
  const [width, height] = size();
  return Math.min(1, svg.clientWidth / width, svg.clientHeight / height);
}

function fit(least = 0) {
  const [width, height] = size();
  scale = Math.max(fitting(), least);
  left = Math.max(0, (svg.clientWidth - width * scale) / 2);
  top_ = Math.max(0, (svg.clientHeight - height * scale) / 2);
  apply();
}

function open_(name) {
  closePanel();
  wide = true;
  draw(name);
  if (fitting() < SMALL) { wide = false; draw(name); }
  fit(SMALL);
}

let drag = null;
svg.addEventListener("pointerdown", event => { drag = { x: event.clientX - left, y: event.clientY - top_, moved: false }; });
addEventListener("pointermove", event => {
  if (!drag) return;
  const x = event.clientX - drag.x, y = event.clientY - drag.y;
  if (!drag.moved && Math.hypot(x - left, y - top_) < 4) return;
  drag.moved = true;
  svg.classList.add("dragging");
  left = x;
  top_ = y;
  apply();
});
addEventListener("pointerup", () => { svg.classList.remove("dragging"); setTimeout(() => { drag = null; }); });
svg.addEventListener("click", event => { if (drag && drag.moved) event.stopPropagation(); }, true);
svg.addEventListener("wheel", event => {
  event.preventDefault();
  const place = svg.getBoundingClientRect();
  zoom(scale * Math.exp(-event.deltaY / 500), event.clientX - place.x, event.clientY - place.y);
}, { passive: false });
svg.addEventListener("click", () => { unlight(); closePanel(); });

get("search").addEventListener("input", list);
get("search").addEventListener("keydown", event => {
  if (event.key === "Enter") document.querySelector("#found li.next")?.click();
});
addEventListener("keydown", event => {
  if (event.key === "/" && event.target.tagName !== "INPUT") { event.preventDefault(); get("search").focus(); }
  if (event.key === "Escape") { get("search").value = ""; list(); unlight(); closePanel(); }
});
get("close").addEventListener("click", () => { closePanel(); unlight(); });
get("columns").addEventListener("click", () => { wide = !wide; draw(planName); fit(SMALL); });
get("smaller").addEventListener("click", () => zoom(scale / 1.25));
get("larger").addEventListener("click", () => zoom(scale * 1.25));
get("fit").addEventListener("click", () => fit());
const planNames = Object.keys(data.plans);
if (planNames.length === 2 && planNames[0] === "before the rules")
  for (const name of planNames) html("button", get("plans"), name).addEventListener("click", () => open_(name));
else {
  const select = html("select", get("plans"), "");
  for (const name of planNames) html("option", select, name);
  select.addEventListener("change", () => open_(select.value));
}
open_(planNames[0]);
