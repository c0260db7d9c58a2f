/* Reading charts: the value under the pointer, or day by day with the arrow keys. The numbers are those of the table
   below the chart; a chart of spans is read by the titles of its spans. */

const STEPS = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 };
const WORDS = JSON.parse(document.body.dataset.words);
const SVG = "http://www.w3.org/2000/svg";

/* What can be read in a chart, from left to right: a position from 0 to 1, and words. */
const fromTable = (table) => {
  const heads = Array.from(table.tHead.rows[0].cells, (cell) => cell.textContent.trim());
  const words = (row) => Array.from(row.cells).map((cell, at) => {
    const text = cell.textContent.trim();
    return at === 0 ? text : `${heads[at].toLowerCase()} ${text}`;
  });
  const rows = Array.from(table.tBodies[0].querySelectorAll("tr[data-at]"), (row) => {
    const [first, ...rest] = words(row);
    return { at: Number(row.dataset.at), words: `${first}: ${rest.filter((part) => part).join(", ")}` };
  });
  return rows.sort((a, b) => a.at - b.at);
};

const fromSpans = (chart) => Array.from(chart.querySelectorAll("rect[data-span]"), (rect) => ({
  rect, at: parseFloat(rect.getAttribute("x")) / 100, words: rect.querySelector("title").textContent,
}));

const makeReadable = (box) => {
  const chart = box.querySelector("svg[id]");
  const said = box.querySelector("[data-reading]");
  const table = document.getElementById(box.dataset.table);
  const spans = !table;
  const points = spans ? fromSpans(chart) : fromTable(table);
  if (!points.length) return;
  const cursor = document.createElementNS(SVG, "line");
  cursor.setAttribute("class", "cursor");
  for (const [name, value] of [["y1", 0], ["y2", "100%"], ["visibility", "hidden"]]) cursor.setAttribute(name, value);
  chart.append(cursor);
  let now = points.length - 1;
  const mark = (place) => {
    for (const rect of chart.querySelectorAll(".read")) rect.classList.remove("read");
    const point = points[place];
    cursor.setAttribute("visibility", point && !spans ? "visible" : "hidden");
    if (!point) { said.textContent = WORDS.hint; return; }
    if (spans) point.rect.classList.add("read");
    else for (const end of ["x1", "x2"]) cursor.setAttribute(end, `${100 * point.at}%`);
    said.textContent = point.words;
  };
  const go = (place) => {
    now = Math.max(0, Math.min(points.length - 1, place));
    mark(now);
    box.setAttribute("aria-valuenow", now + 1);
    box.setAttribute("aria-valuetext", points[now].words);
  };

  /* A slider is what screen readers read value by value, with the arrow keys. */
  const title = chart.querySelector("title").textContent;
  for (const [name, value] of Object.entries({
    role: "slider", tabindex: "0", "aria-label": WORDS.values.replace("{title}", () => title), "aria-valuemin": 1, "aria-valuemax": points.length,
    "aria-valuenow": now + 1, "aria-valuetext": points[now].words,
  })) box.setAttribute(name, value);
  chart.setAttribute("aria-hidden", "true"); /* a slider has no children for readers; its title and the table stay */
  for (const name of ["role", "aria-labelledby"]) chart.removeAttribute(name);
  said.textContent = WORDS.hint;

  box.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const place = event.key === "Home" ? 0 : event.key === "End" ? points.length - 1 : now + (STEPS[event.key] ?? NaN);
    if (Number.isNaN(place)) return;
    event.preventDefault();
    go(place);
  });
  box.addEventListener("focus", () => { if (box.matches(":focus-visible")) go(now); });
  box.addEventListener("blur", () => mark(-1));
  chart.addEventListener("pointermove", (event) => {
    if (spans) {
      const place = points.findIndex((point) => point.rect === event.target);
      if (place >= 0) go(place);
      return;
    }
    const area = chart.getBoundingClientRect();
    const at = (event.clientX - area.left) / area.width;
    let best = 0;
    for (let place = 1; place < points.length; place += 1)
      if (Math.abs(points[place].at - at) < Math.abs(points[best].at - at)) best = place;
    go(best);
  });
  chart.addEventListener("pointerleave", () => { if (document.activeElement !== box) mark(-1); });
};

for (const box of document.querySelectorAll("[data-readable]")) makeReadable(box);
