"use strict";
// Draws a page from the facts of one kernel (facts.py) and from nothing else.
async function inflated(base64) {
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
}
const F = JSON.parse(await inflated(document.getElementById("facts").textContent));
const ROW = 18, $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

function make(space, tag, attrs, kids) {
  const node = space ? document.createElementNS(space, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attrs || {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
  }
  for (const kid of kids.flat(9)) if (kid !== null && kid !== undefined && kid !== false) node.append(kid);
  return node;
}
const h = (tag, attrs, ...kids) => make(null, tag, attrs, kids);
const s = (tag, attrs, ...kids) => make(SVG, tag, attrs, kids);
const RIGHT = 34, chartWidth = () => Math.max(420, Math.min(1180, innerWidth - 40));
const number = (value) => Math.round(value).toLocaleString("en-US").replace(/,/g, " ");
const bytes = (value) => value % 1024 === 0 && value ? `${value / 1024} KiB` : `${number(value)} B`;
const ms = (seconds) => seconds >= 0.1 ? `${seconds.toFixed(2)} s` : `${(seconds * 1e3).toFixed(1)} ms`;
const escaped = (text) => text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);

// --- places: what links the texts

const placeAt = new Map(F.places.map(([source, line], place) => [`${source}:${line}`, place]));
const lastIr = F.levels.filter((level) => level.kind === "ir").at(-1);
function group(items, key) {
  const found = new Map();
  for (const item of items) { const k = key(item); if (found.has(k)) found.get(k).push(item); else found.set(k, [item]); }
  return found;
}
const accessesAt = group(F.accesses, (each) => each.place), accessesOn = group(F.accesses, (each) => each.line);
const lineName = (place) => place < 0 ? "" : `${F.places[place][1]}`;
function sourceLine(place) {
  if (place < 0) return "";
  const [source, line] = F.places[place], text = F.sources[source];
  return text ? (text.lines[line - text.first] || "").trim() : "";
}

// --- code panes

const KEYWORDS = /\b(def|for|in|if|else|elif|while|return|and|or|not|import|from|as|lambda|with|True|False|None)\b/g;
function python(text) {
  const comment = text.search(/#(?=[^'"]*$)/), body = comment < 0 ? text : text.slice(0, comment);
  return escaped(body).replace(KEYWORDS, '<span class="k">$1</span>') + (comment < 0 ? "" : `<span class="c">${escaped(text.slice(comment))}</span>`);
}
const plain = (text) => escaped(text).replace(/%[\w.]+/g, '<span class="v">$&</span>');
const prose = (text) => text.split(/`+([^`]+)`+/).map((part, n) => n % 2 ? h("code", {}, part) : part);
function accessTag(each) {
  const width = `${each.width * each.bits / 8} B`, words = [each.instructions ? width : bytes(each.tile_bytes)];
  let bad = each.instructions > 1 && each.width * each.bits < 32;
  if (each.sectors !== null) { words.push(`${each.sectors}/${each.sectors_least} sectors`); bad ||= each.sectors > 2 * each.sectors_least; }
  if (each.wavefronts !== null) { const ways = each.wavefronts / each.wavefronts_least; words.push(ways > 1 ? `${ways}-way conflict` : "no conflict"); bad ||= ways > 1; }
  return `<span class="tag${bad ? " bad" : ""}">${words.join(" · ")}</span>`;
}
function worst(list) {
  const cost = (each) => (each.sectors === null ? 0 : each.sectors / each.sectors_least) + (each.wavefronts === null ? 0 : each.wavefronts / each.wavefronts_least);
  return list.reduce((a, b) => cost(b) > cost(a) ? b : a);
}

const panes = [];
class Pane {
  constructor(name, title, lines, places, draw) {
    Object.assign(this, { name, lines, places, draw, hits: new Set(), rows: new Map() });
    this.first = new Map();
    places.forEach((place, line) => { if (place >= 0) { if (this.first.has(place)) this.first.get(place).push(line); else this.first.set(place, [line]); } });
    this.window = h("div", { class: "window" });
    const longest = lines.reduce((most, line) => Math.max(most, line.length), 0);
    this.spacer = h("div", { style: `height:${lines.length * ROW + 8}px;width:${Math.min(longest, 400) + 14}ch` });
    this.code = h("div", { class: "code", tabindex: 0, "aria-label": name, onscroll: () => this.show() }, this.spacer, this.window);
    this.node = h("div", { class: "pane", "data-pane": name }, h("h3", {}, title[0], h("span", {}, title[1])), this.code);
    this.code.addEventListener("click", (event) => this.clicked(event));
    panes.push(this);
  }
  get shown() { return this.node.isConnected; }
  show() {
    const top = Math.max(0, Math.floor(this.code.scrollTop / ROW) - 20), end = Math.min(this.lines.length, top + Math.ceil(this.code.clientHeight / ROW) + 40);
    // A row that stays is the same node: one that were made anew between the press and the release of a mouse would lose the click.
    const before = this.rows;
    this.rows = new Map();
    let after = this.window.firstChild;
    for (let line = top; line < end; line++) {
      const place = this.places[line], now = hits[hitNow], html = this.draw(line);
      const name = "row" + (place >= 0 ? " linked" : "") + (place >= 0 && place === picked ? " pick" : "") + (this.hits.has(line) ? " hit" : "") + (now && now[0] === this && now[1] === line ? " now" : "");
      while (after && (Number(after.dataset.line) < line || Number(after.dataset.line) >= end)) { const gone = after; after = after.nextSibling; gone.remove(); }
      let row = before.get(line);
      if (row) after = row.node.nextSibling;
      else { row = { node: h("div", { "data-line": line }), html: null }; this.window.insertBefore(row.node, after); }
      if (row.node.className !== name) row.node.className = name;
      if (row.html !== html) { row.node.innerHTML = html; row.html = html; }
      this.rows.set(line, row);
    }
    while (after) { const gone = after; after = after.nextSibling; gone.remove(); }
    this.window.style.top = `${top * ROW}px`;
  }
  clicked(event) {
    const type = event.target.closest(".t"), row = event.target.closest(".row");
    if (!row) return;
    if (type) chosenLayout = Number(type.dataset.layout);
    pick(this.places[Number(row.dataset.line)], this);
  }
  reveal(line) {
    const top = line * ROW, { scrollTop, clientHeight } = this.code;
    if (top < scrollTop + ROW || top > scrollTop + clientHeight - 3 * ROW) this.code.scrollTop = Math.max(0, top - clientHeight / 3);
  }
}
function densest(lines) {
  let best = 0, most = 0;
  lines.forEach((line, n) => { const near = lines.filter((each) => each >= line && each < line + 16).length; if (near > most) { most = near; best = n; } });
  return lines[best];
}
let picked = -1, chosenLayout = -1, hits = [], hitNow = -1;
function pick(place, from) {
  picked = place;
  for (const pane of panes) {
    if (!pane.shown) continue;
    const lines = pane.first.get(place);
    if (lines && pane !== from) pane.reveal(densest(lines));
    pane.show();
  }
  inspect();
}
function sourcePane() {
  const lines = [], numbers = [], places = [];
  F.sources.forEach((text, source) => {
    if (source) { lines.push(""); numbers.push(""); places.push(-1); }
    text.lines.forEach((line, n) => {
      lines.push(line); numbers.push(text.first + n); places.push(placeAt.get(`${source}:${text.first + n}`) ?? -1);
    });
  });
  const file = F.sources.length ? F.sources[0].file.split("/").at(-1) : "";
  return new Pane("source", ["source", file], lines, places, (line) => {
    const of = accessesAt.get(places[line]);
    return `<i>${numbers[line]}</i><span class="x">${python(lines[line])}</span>${of ? accessTag(worst(of)) : ""}`;
  });
}
function levelPane(level) {
  const spans = group(level.layouts, (each) => each.line), last = level === lastIr;
  return new Pane(level.name, [level.name, `${number(level.lines.length)} lines`], level.lines, level.places, (line) => {
    const text = level.lines[line];
    let html = "", at = 0;
    for (const span of (spans.get(line) || []).toSorted((a, b) => a.start - b.start)) {
      if (span.start < at) continue;
      html += plain(text.slice(at, span.start)) + `<span class="t" data-layout="${span.layout}">${plain(text.slice(span.start, span.end))}</span>`;
      at = span.end;
    }
    const of = last ? accessesOn.get(line) : null;
    return `<i>${line + 1}</i><span class="x">${html}${plain(text.slice(at))}</span>${of ? accessTag(worst(of)) : ""}`;
  });
}
function drawCode() {
  const source = sourcePane(), made = F.levels.map(() => null), node = (n) => (made[n] ||= levelPane(F.levels[n])).node, room = Math.max(1, Math.floor(innerWidth / 440) - 1);
  const wanted = [lastIr === F.levels[0] ? 0 : F.levels.indexOf(lastIr), F.levels.length - 1];
  const on = new Set(wanted.slice(0, room));
  const bar = h("div", { class: "bar" }, h("span", { class: "soft" }, "Levels"));
  const place = h("div", { class: "panes" });
  const arrange = () => {
    place.replaceChildren(source.node, ...[...F.levels.keys()].filter((n) => on.has(n)).map(node));
    panes.forEach((each) => each.shown && each.show());
    [...bar.querySelectorAll("button")].forEach((button, n) => button.setAttribute("aria-pressed", on.has(n)));
  };
  F.levels.forEach((level, n) => bar.append(h("button", { class: "plain", onclick: () => {
    if (on.has(n)) on.delete(n); else on.add(n);
    arrange(); pick(picked);
  } }, level.name)));
  $("code").append(bar, place, h("div", { class: "inspect", id: "inspect" }));
  arrange();
  addEventListener("resize", () => panes.forEach((each) => each.shown && each.show()));
}

// --- the line that is picked

function accessTable(list) {
  const rows = list.map((each) => {
    const ways = each.wavefronts === null ? null : each.wavefronts / each.wavefronts_least;
    return h("tr", { class: each.place >= 0 ? "go" : null, onclick: () => each.place >= 0 && goTo(each.place) },
      h("td", { class: "r" }, lineName(each.place)), h("td", { class: "mono" }, each.op || "access"), h("td", {}, each.space), h("td", {}, each.kind),
      h("td", { class: "r" }, each.instructions || !each.tile_bytes ? `${each.width} × ${each.bits} bit` : bytes(each.tile_bytes)),
      h("td", { class: "r" }, each.instructions || ""),
      h("td", { class: "r" + (each.sectors > 2 * each.sectors_least ? " bad" : "") }, each.sectors === null ? "" : `${each.sectors} / ${each.sectors_least}`),
      h("td", { class: "r" + (ways > 1 ? " bad" : "") }, ways === null ? "" : ways > 1 ? `${ways}-way` : "none"),
      h("td", { class: "note" }, each.note));
  });
  const table = h("table", { class: "accesses" }, h("thead", {}, h("tr", {}, ["line", "op", "space", "kind", "width", "per thread", "sectors / least", "conflicts", ""].map(
    (name, n) => h("th", { class: n === 0 || (n > 3 && n < 8) ? "r" : null }, name)))), h("tbody", {}, rows));
  for (const n of [7, 6, 5]) if (rows.every((row) => !row.children[n].textContent)) for (const row of table.querySelectorAll("tr")) row.children[n].remove();
  return h("div", { class: "scroll" }, table);
}
function inspect() {
  const box = $("inspect"), of = accessesAt.get(picked) || [], held = F.registers.filter((each) => each.place === picked);
  const buffers = F.buffers.filter((each) => each.place === picked), remarks = F.remarks.filter((each) => each.place === picked);
  const left = h("div", { class: "wide" });
  if (picked < 0) left.append(h("p", { class: "soft" }, "Pick a line to see it at every level, with its accesses, buffers and registers. Pick a type in the last level of IR to see its layout."));
  else {
    left.append(h("p", { class: "mono" }, h("b", {}, `line ${lineName(picked)}  `), sourceLine(picked)));
    if (of.length) left.append(accessTable(of));
    const words = [];
    if (buffers.length) words.push("Shared memory: " + buffers.map((each) => `${bytes(each.size)} at ${number(each.offset)}`).join(", ") + ".");
    if (held.length) words.push(`Registers that tiles take (estimate): up to ${Math.max(...held.map((each) => each.words))} a thread.`);
    words.push(...remarks.map((each) => `${each.topic}: ${each.text}`));
    left.append(...words.map((text) => h("p", { class: "soft" }, text)));
  }
  box.replaceChildren(left);
  if (chosenLayout >= 0) box.append(h("div", {}, drawing(F.layouts[chosenLayout], 300, 150)));
}
function goTo(place) { open_("code"); pick(place); }

// --- layouts

function spanOf(bases) { let all = [0]; for (const basis of bases || []) all = all.concat(all.map((each) => each ^ basis)); return all; }
function holdersOf(layout) {
  const size = 1 << layout.bits.reduce((a, b) => a + b, 0), found = Array.from({ length: size }, () => []);
  if (layout.memory) spanOf(layout.bases.offset).forEach((index, offset) => found[index].push({ label: `${offset}`, colour: offset % 32, of: 32, dark: 0 }));
  else {
    const lanes = spanOf(layout.bases.lane), registers = spanOf(layout.bases.register);
    spanOf(layout.bases.warp).forEach((warp, w) => lanes.forEach((lane, l) => registers.forEach((register, r) => {
      found[warp ^ lane ^ register].push({ label: `T${w * lanes.length + l}:${r}`, colour: l, of: lanes.length, dark: w });
    })));
  }
  return found;
}
function drawing(layout, width, height) {
  const bits = layout.bits, flat = bits.length < 2, last = bits.at(-1) || 0, wrap = flat ? Math.min(last, 6) : last;
  const rows = 1 << (flat ? last - wrap : bits.at(-2)), columns = 1 << wrap;
  const starts = bits.map((_, d) => bits.slice(0, d).reduce((a, b) => a + b, 0));
  const cell = Math.max(3, Math.min(40, Math.floor(Math.min(width / columns, (height || 1e9) / rows))));
  const canvas = h("canvas", { width: columns * cell, height: rows * cell }), context = canvas.getContext("2d"), holders = holdersOf(layout);
  const said = h("div", { class: "said" }, " "), dark = document.documentElement.dataset.theme === "dark";
  const indexOf = (row, column) => flat ? row << wrap | column : row << starts.at(-2) | column << starts.at(-1);
  const painted = (target) => {
    for (let row = 0; row < rows; row++) for (let column = 0; column < columns; column++) {
      const held = holders[indexOf(row, column)][0];
      if (!held) continue;
      const light = dark ? 26 + 5 * Math.min(held.dark, 6) : 88 - 6 * Math.min(held.dark, 6);
      target.fillStyle = `hsl(${Math.round(held.colour * 360 / held.of)},${dark ? 38 : 48}%,${light}%)`;
      target.fillRect(column * cell, row * cell, cell - (cell > 5 ? 1 : 0), cell - (cell > 5 ? 1 : 0));
      if (cell >= 34) { target.fillStyle = dark ? "#dde1e6" : "#1d2126"; target.font = "10px monospace"; target.fillText(held.label, column * cell + 2, row * cell + cell / 2 + 3); }
    }
  };
  painted(context);
  canvas.addEventListener("mousemove", (event) => {
    const scale = canvas.width / canvas.clientWidth, row = Math.floor(event.offsetY * scale / cell), column = Math.floor(event.offsetX * scale / cell);
    const held = row >= 0 && row < rows && column >= 0 && column < columns ? holders[indexOf(row, column)] : [];
    said.textContent = held.length ? `[${"0, ".repeat(Math.max(0, bits.length - 2))}${flat ? row * columns + column : `${row}, ${column}`}]  ${held.slice(0, 6).map((each) => each.label).join(" ")}${held.length > 6 ? ` and ${held.length - 6} more` : ""}` : "";
  });
  const what = layout.memory ? "offset" : "thread:register", outer = bits.length > 2 ? ", first slice" : flat && rows > 1 ? `, ${columns} in a row` : "";
  return h("figure", {}, h("figcaption", {}, h("b", {}, layout.shape.join(" × ")), ` ${what}${outer} `, h("span", { class: "mono soft" }, layout.encoding)), canvas, said);
}
function drawLayouts() {
  const section = $("layouts");
  if (!F.layouts.length) { section.replaceChildren(h("p", { class: "soft" }, "No tile has a layout: this target walks tiles in loops.")); return; }
  section.replaceChildren(h("p", { class: "soft" }, "Colour: the lane of a warp that holds an element, or the bank of memory; darker for later warps. Pointing at an element names all that hold it."),
    h("div", { class: "draws" }, F.layouts.map((layout) => drawing(layout, 340, 340))));
}

// --- passes

let shownPass = F.passes.find((each) => each.changed) || F.passes[0], hideNoops = false;
function drawPasses(term = "") {
  const list = h("div", { class: "list", role: "listbox", tabindex: 0 });
  const found = (each) => !term || (each.name + each.summary + each.diff.join("\n")).toLowerCase().includes(term);
  list.append(h("label", { class: "stage" }, h("input", { type: "checkbox", checked: hideNoops ? "" : null, onchange: (event) => { hideNoops = event.target.checked; drawPasses(term); } }), " hide passes without effect"));
  let stage = "";
  for (const each of F.passes) {
    if ((hideNoops && !each.changed) || !found(each)) continue;
    if (each.stage !== stage) { stage = each.stage; list.append(h("div", { class: "stage" }, stage)); }
    list.append(h("button", { class: "pass" + (each.changed ? "" : " noop"), role: "option", "data-pass": each.number, "aria-selected": each === shownPass, onclick: () => { shownPass = each; drawPasses(term); } },
      h("span", { class: "n" }, each.number), h("span", {}, each.name), h("span", {}, each.changed ? [h("span", { class: "plus" }, `+${each.added}`), " ", h("span", { class: "minus" }, `−${each.removed}`)] : ""), h("span", { class: "s" }, ms(each.seconds))));
  }
  const p = shownPass, detail = h("div", { class: "detail" });
  if (p) {
    const titles = { on: "acts on", creates: "may create", reads: "goes by", writes: "writes", needs: "needs", after: "runs behind" };
    detail.append(h("h2", {}, p.name), h("p", {}, prose(p.summary)), h("dl", {}, h("dt", {}, "stage"), h("dd", {}, `${p.stage}, pass ${p.number} of ${F.passes.length}, ${ms(p.seconds)}`),
      p.levels && [h("dt", {}, "contract"), h("dd", {}, p.levels)], Object.entries(titles).filter(([key]) => p.contract[key]).map(([key, title]) => [h("dt", {}, title), h("dd", {}, p.contract[key].join(", "))]),
      p.text !== p.name && [h("dt", {}, "as run"), h("dd", { class: "mono" }, p.text)]));
    if (!p.changed) detail.append(h("p", { class: "soft" }, "It left the module as it was."));
    else detail.append(h("div", { class: "diff mono" }, p.diff.map((line) => h("div", { class: { "+": "a", "-": "d", "@": "h" }[line[0]] || null }, line || " "))));
  }
  const scroll = document.querySelector(".list")?.scrollTop || 0;
  $("passes").replaceChildren(list, detail);
  list.scrollTop = scroll;
  list.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
}
function stepPass(by) {
  const known = F.passes.filter((each) => each.changed || !hideNoops), at = known.indexOf(shownPass);
  shownPass = known[Math.max(0, Math.min(known.length - 1, at + by))]; drawPasses(term());
}

// --- charts

function axis(from, to, y, x, step) {
  const marks = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) marks.push(s("line", { x1: x(at), x2: x(at), y1: 0, y2: y, class: "axis" }), s("text", { x: x(at), y: y + 14, "text-anchor": "middle" }, number(at)));
  return marks;
}
const nice = (range, count) => { const raw = range / count, power = 10 ** Math.floor(Math.log10(raw || 1)); return [1, 2, 5, 10].find((each) => each * power >= raw) * power; };
function sharedChart() {
  const width = chartWidth(), height = 260, left = 76, lines = lastIr.lines.length, top = Math.max(...F.buffers.map((each) => each.offset + each.size));
  const x = (line) => left + line / lines * (width - left - RIGHT), y = (at) => height - at / top * (height - 12);
  const chart = s("svg", { viewBox: `0 0 ${width} ${height + 34}`, role: "img", "aria-label": "shared memory by line" }, axis(0, lines, height, x, nice(lines, 10)));
  for (const at of new Set([0, ...F.buffers.flatMap((each) => [each.offset, each.offset + each.size])])) chart.append(s("line", { x1: left, x2: width - RIGHT, y1: y(at), y2: y(at), class: "axis" }));
  let last = 1e9;
  for (const at of [...new Set([0, ...F.buffers.flatMap((each) => [each.offset, each.offset + each.size])])].sort((a, b) => a - b)) { if (last - y(at) < 13 && last < 1e9) continue; last = y(at); chart.append(s("text", { x: left - 8, y: y(at) + 4, "text-anchor": "end" }, number(at))); }
  F.buffers.forEach((each, n) => {
    const wide = Math.max(3, x(each.last + 1) - x(each.first)), tall = Math.max(2, y(each.offset) - y(each.offset + each.size));
    const label = `${each.place >= 0 ? "line " + lineName(each.place) + ": " : ""}${bytes(each.size)}${each.scratch ? ", scratch of " + each.op : ""}`;
    chart.append(s("g", { style: "cursor:pointer", onclick: () => goTo(each.place) }, s("title", {}, `${each.op} ${label}, bytes ${number(each.offset)} to ${number(each.offset + each.size)}, lines ${each.first + 1} to ${each.last + 1}`),
      s("rect", { x: x(each.first), y: y(each.offset + each.size) + 1, width: wide, height: Math.max(1, tall - 2), rx: 2, fill: `var(--u${n % 4})`, opacity: each.scratch ? .35 : .6 }),
      wide > 150 && tall > 14 && s("text", { x: x(each.first) + 6, y: y(each.offset + each.size) + Math.min(tall / 2 + 4, 18), class: "in" }, label)));
  });
  chart.append(s("text", { x: width - RIGHT, y: height + 30, "text-anchor": "end" }, `line of ${lastIr.name}`), s("text", { x: left, y: height + 30 }, "bytes by line"));
  return chart;
}
function registerChart() {
  const width = chartWidth(), height = 150, left = 76, lines = lastIr.lines.length, limit = F.occupancy ? F.occupancy.registers : null;
  const top = Math.max(limit || 0, ...F.registers.map((each) => each.words), 1) * 1.05;
  const x = (line) => left + line / lines * (width - left - RIGHT), y = (words) => height - words / top * (height - 10);
  const points = F.registers.toSorted((a, b) => a.line - b.line), path = points.map((each, n) => `${n ? "L" : "M"}${x(each.line).toFixed(1)} ${y(n ? points[n - 1].words : each.words).toFixed(1)}L${x(each.line).toFixed(1)} ${y(each.words).toFixed(1)}`).join("");
  const step = nice(top, 4), marks = [];
  for (let at = 0; at <= top; at += step) marks.push(s("line", { x1: left, x2: width - RIGHT, y1: y(at), y2: y(at), class: "axis" }), s("text", { x: left - 8, y: y(at) + 4, "text-anchor": "end" }, number(at)));
  return s("svg", { viewBox: `0 0 ${width} ${height + 34}`, role: "img", "aria-label": "registers by line" }, axis(0, lines, height, x, nice(lines, 10)), marks,
    s("path", { d: path, fill: "none", stroke: "var(--u0)", "stroke-width": 1.5 }),
    limit && [s("line", { x1: left, x2: width - RIGHT, y1: y(limit), y2: y(limit), stroke: "var(--u1)", "stroke-dasharray": "5 3" }), s("text", { x: width - RIGHT - 4, y: y(limit) - 4, "text-anchor": "end" }, `${limit} in the code`)],
    s("text", { x: width - RIGHT, y: height + 30, "text-anchor": "end" }, `line of ${lastIr.name}`), s("text", { x: left, y: height + 30 }, "registers of a thread that tiles take, estimated"));
}
function planChart(plan) {
  const units = ["copies", "matrix", "threads"].filter((unit) => plan.bars.some((bar) => bar.unit === unit)), iterations = plan.stages + 2, end = (plan.stages + 2) * plan.interval;
  const width = chartWidth(), left = 76, tall = 34, height = units.length * (tall + 8), x = (at) => left + at / end * (width - left - RIGHT);
  const chart = s("svg", { viewBox: `0 0 ${width} ${height + 34}`, role: "img", class: "plan", "aria-label": "units over time" }, axis(0, end, height, x, plan.interval));
  units.forEach((unit, n) => chart.append(s("text", { x: left - 8, y: n * (tall + 8) + tall / 2 + 4, "text-anchor": "end", class: "in" }, unit)));
  for (let i = 0; i < iterations; i++) for (const bar of plan.bars) {
    const start = i * plan.interval + bar.start, stop = Math.min(end, start + bar.cycles);
    if (start >= end) continue;
    const y = units.indexOf(bar.unit) * (tall + 8), wide = Math.max(1, x(stop) - x(start) - .6);
    chart.append(s("g", { style: "cursor:pointer", onclick: () => goTo(bar.place) }, s("title", {}, `iteration ${i}, stage ${bar.stage}: ${bar.name}${bar.place >= 0 ? ", line " + lineName(bar.place) : ""}, ${number(bar.cycles)} cycles from ${number(start)}`),
      s("rect", { x: x(start), y, width: wide, height: tall, rx: 1.5, fill: `var(--u${i % 4})`, opacity: .7 }),
      wide > 22 && bar.place >= 0 && s("text", { x: x(start) + wide / 2, y: y + tall / 2 + 4, "text-anchor": "middle", class: "in" }, lineName(bar.place))));
  }
  chart.append(s("text", { x: width - RIGHT, y: height + 30, "text-anchor": "end" }, "cycles"), s("text", { x: left, y: height + 30 }, "colour: the iteration; numbers: lines of the source"));
  return chart;
}
function meter(rows, top, unit, shown = (value) => `${number(value)} ${unit}`) {
  const most = Math.max(1, ...rows.map(([, value]) => value));
  return h("div", { class: "meter" }, rows.map(([name, value]) => [h("span", { class: name === top ? "top" : null }, name), h("span", { class: "m" }, h("b", { style: `width:${Math.min(100, 100 * value / most)}%` })), h("span", {}, shown(value))]));
}
function drawMemory(term = "") {
  const section = $("memory"), list = F.accesses.filter((each) => !term || [each.op, each.kind, each.space, each.note, sourceLine(each.place)].join(" ").toLowerCase().includes(term));
  section.replaceChildren(h("h2", {}, "Accesses"), h("p", { class: "soft" }, F.accesses.some((each) => each.sectors !== null || each.wavefronts !== null) ? "Sectors are the 32-byte pieces that one instruction of a warp touches, beside the fewest that hold its bytes. Conflicts are those of the banks of shared memory." : "Width is what one instruction accesses."), list.length ? accessTable(list) : h("p", {}, "None."));
  if (F.buffers.length) section.append(h("h2", {}, "Shared memory"), sharedChart());
  if (F.registers.some((each) => each.words)) section.append(h("h2", {}, "Registers"), registerChart());
}
function drawTime() {
  const section = $("time"), parts = [], launch = F.launch;
  if (launch) {
    parts.push(h("h2", {}, `Launch over ${launch.grid.join(" × ")}` + (launch.bound ? `: ${launch.bound}` : "")), h("p", {}, launch.text[0].toUpperCase() + launch.text.slice(1) + (launch.place >= 0 ? `, line ${lineName(launch.place)}.` : ".")));
    if (launch.bound) parts.push(meter(Object.entries(launch.parts).map(([name, seconds]) => [name, seconds * 1e6]), launch.bound, "", (value) => duration(value / 1e6)));
  }
  if (F.bound) parts.push(h("h2", {}, `Bound: ${F.bound.bound}`), h("p", {}, F.bound.text[0].toUpperCase() + F.bound.text.slice(1) + "."), meter(Object.entries(F.bound.cycles), F.bound.bound, "cycles"));
  if (F.occupancy) {
    const o = F.occupancy;
    parts.push(h("h2", {}, `Occupancy: ${o.blocks} block${o.blocks === 1 ? "" : "s"}, limited by ${o.limiter}`), h("p", {}, `${o.threads} of ${o.most_threads} threads of a multiprocessor. Blocks that each resource allows:`), meter(Object.entries(o.limits), o.limiter, "blocks"));
  }
  for (const plan of F.plans) {
    parts.push(h("h2", {}, plan.place >= 0 ? `Loop in line ${lineName(plan.place)}` : "Loop"), h("p", {}, plan.text[0].toUpperCase() + plan.text.slice(1) + "."));
    if (plan.interval) parts.push(planChart(plan), h("p", { class: "soft" }, "Cycles that each unit needs for an iteration:"), meter(Object.entries(plan.bounds), plan.bound, "cycles"));
  }
  if (F.nests.length) parts.push(h("h2", {}, "Loop nests"), h("div", { class: "scroll" }, h("table", { class: "nests" }, h("thead", {}, h("tr", {}, ["line", "over", "vector", "reduces", "work"].map((name, n) => h("th", { class: n ? null : "r" }, name)))), h("tbody", {}, F.nests.map((nest) =>
    h("tr", { class: "go", onclick: () => goTo(nest.place) }, h("td", { class: "r" }, lineName(nest.place)), h("td", {}, nest.shape.join(" × ")), h("td", {}, nest.width > 1 ? `${nest.width} along dim ${nest.lane}` : "one by one"), h("td", {}, nest.reduced === null ? "" : `dim ${nest.reduced}`), h("td", { class: "mono" }, nest.work.join(", "))))))));
  parts.push(h("h2", {}, "Compile time"), meter(F.stages.map((each) => [each.name, each.seconds * 1e3]), "", "ms"), ...F.stages.filter((each) => each.skipped).map((each) => h("p", { class: "soft" }, `${each.name} is missing: ${each.skipped}`)));
  section.replaceChildren(...parts);
}

// --- the page

const TABS = [["code", "Code"], ["passes", "Passes"], ["memory", "Memory"], ["layouts", "Layouts"], ["time", "Time"]];
const drawn = new Set();
let tab = "code";
const term = () => $("search").value.trim().toLowerCase();
function open_(name) {
  tab = name;
  for (const [id] of TABS) { $(id).classList.toggle("on", id === name); $(`tab-${id}`).setAttribute("aria-selected", id === name); }
  if (!drawn.has(name)) { drawn.add(name); ({ code: drawCode, passes: () => drawPasses(term()), memory: () => drawMemory(term()), layouts: drawLayouts, time: drawTime })[name](); if (name === "code") inspect(); }
  if (name === "code") panes.forEach((each) => each.shown && each.show());
}
function search() {
  const wanted = term();
  hits = []; hitNow = -1;
  if (tab === "passes") drawPasses(wanted);
  if (tab === "memory") drawMemory(wanted);
  for (const pane of panes) {
    pane.hits = new Set();
    if (wanted && pane.shown) pane.lines.forEach((line, n) => { if (line.toLowerCase().includes(wanted)) { pane.hits.add(n); hits.push([pane, n]); } });
    if (pane.shown) pane.show();
  }
  $("count").textContent = wanted && tab === "code" ? `${number(hits.length)} lines` : "";
  if (hits.length && tab === "code") step(1);
}
function step(by) {
  if (!hits.length) return;
  hitNow = (hitNow + by + hits.length) % hits.length;
  const [pane, line] = hits[hitNow];
  pane.reveal(line);
  panes.forEach((each) => each.shown && each.show());
  $("count").textContent = `${number(hitNow + 1)} of ${number(hits.length)} lines`;
}
function stepLine(by) {
  const source = panes[0], linked = source.places.map((place, line) => [place, line]).filter(([place]) => place >= 0);
  if (!linked.length) return;
  const at = linked.findIndex(([place]) => place === picked), next = linked[at < 0 ? 0 : Math.max(0, Math.min(linked.length - 1, at + by))];
  source.reveal(next[1]); pick(next[0], source);
}
function theme(name) { document.documentElement.dataset.theme = name; if (drawn.has("layouts")) drawLayouts(); if (drawn.has("code")) inspect(); }
function duration(seconds) { return seconds < 1e-9 ? "0 µs" : seconds < 1e-3 ? `${(seconds * 1e6).toPrecision(3)} µs` : `${(seconds * 1e3).toPrecision(3)} ms`; }
function card(title, value) { return h("div", { class: "card" }, h("b", {}, value), title); }
function start() {
  const o = F.occupancy, seconds = F.stages.reduce((sum, each) => sum + each.seconds, 0), changed = F.passes.filter((each) => each.changed).length;
  document.title = `${F.kernel} · ${F.target}`;
  $("name").textContent = F.kernel;
  $("target").textContent = `${F.target} · ` + Object.entries(F.options).filter(([, value]) => value !== "None").map(([name, value]) => `${name}=${value}`).join(" ");
  $("cards").append(...[F.launch && F.launch.bound && card(`the launch, held by ${F.launch.bound.replace(/^the /, "")}`, duration(F.launch.seconds)), F.bound && card(F.bound.region === "loop" ? "holds the busiest loop" : "holds the program", F.bound.bound.replace(/^the /, "")), o && card(`blocks on a multiprocessor, limited by ${o.limiter}`, o.blocks), o && o.registers && card("registers a thread", o.registers),
    o && card("of shared memory", bytes(o.shared)), F.nests.length && card(F.nests.length === 1 ? "loop nest" : "loop nests", F.nests.length), card("passes changed something", `${changed} of ${F.passes.length}`), card("to compile", ms(seconds))].filter(Boolean));
  $("tabs").append(...TABS.map(([id, title], n) => h("button", { id: `tab-${id}`, role: "tab", onclick: () => { open_(id); search(); } }, title, h("kbd", {}, n + 1))));
  theme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  $("theme").addEventListener("click", () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  $("search").addEventListener("input", search);
  let later = 0;
  addEventListener("resize", () => { clearTimeout(later); later = setTimeout(() => { if (drawn.has("memory")) drawMemory(tab === "memory" ? term() : ""); if (drawn.has("time")) drawTime(); }, 150); });
  addEventListener("keydown", (event) => {
    const typing = event.target.tagName === "INPUT" && event.target.type === "search";
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (typing && event.key === "Enter") { step(event.shiftKey ? -1 : 1); return; }
    if (event.key === "Escape") { if (typing) { event.target.value = ""; search(); event.target.blur(); } else if (!$("help").open) pick(chosenLayout = -1); return; }
    if (typing) return;
    const act = { "/": () => $("search").focus(), n: () => step(1), N: () => step(-1), d: () => $("theme").click(), "?": () => $("help").showModal() }[event.key]
      || (event.key >= "1" && event.key <= "5" && (() => { open_(TABS[event.key - 1][0]); search(); }))
      || ({ j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key] && (tab === "passes" ? () => stepPass({ j: 1, ArrowDown: 1 }[event.key] || -1) : tab === "code" && (() => stepLine({ j: 1, ArrowDown: 1 }[event.key] || -1))));
    if (act) { event.preventDefault(); act(); }
  });
  open_("code");
  document.documentElement.dataset.ready = `${Math.round(performance.now())}`;
}
start();
