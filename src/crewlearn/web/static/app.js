/* Progressive enhancement: every page works without this script. */
"use strict";
const ROOT = new URL("..", document.currentScript.src).pathname;
const WORDS = JSON.parse(document.body.dataset.words); /* what this script says, in the reader's language */

/* Jobs: poll the progress, and reload the page once the job is over. If the server does not answer, retry less and less
   often: another server may resume the job. */
for (const box of document.querySelectorAll("[data-job]")) {
  const bar = box.querySelector("progress");
  const words = box.querySelector("[data-message]");
  /* The server tells a job's progress in English: here it is said with the same numbers in the reader's language. */
  const inWords = (text) => {
    for (const [english, here] of Object.entries(WORDS.progress)) {
      const found = text.match(new RegExp(`^${english.replaceAll(/[().]/g, "\\$&").replaceAll(/\{\w+\}/g, "([\\d,]+)")}$`));
      const numbers = found?.slice(1).map((digits) => Number(digits.replaceAll(",", "")).toLocaleString(document.documentElement.lang));
      if (found) return here.replaceAll(/\{\w+\}/g, () => numbers.shift());
    }
    return text;
  };
  const say = (text) => { if (words.textContent !== text) words.textContent = text; };
  let pause = 700;
  const look = async () => {
    try {
      const answer = await fetch(ROOT + "api/v1/jobs/" + box.dataset.job, { headers: { Accept: "application/json" }, signal: AbortSignal.timeout(10000) });
      if ([401, 403, 404].includes(answer.status)) { location.reload(); return; } /* the page says why */
      if (!answer.ok) throw new Error(String(answer.status));
      const job = await answer.json();
      if (job.status !== "queued" && job.status !== "running") { location.reload(); return; }
      bar.value = job.progress;
      say(inWords(job.message));
      pause = 700;
    } catch {
      pause = Math.min(pause * 2, 15000);
      say(WORDS.asking);
    }
    setTimeout(look, pause);
  };
  setTimeout(look, 400);
}
for (const clock of document.querySelectorAll("[data-seconds]")) {
  const before = Number(clock.dataset.seconds) - performance.now() / 1000;
  setInterval(() => { clock.textContent = Math.round(before + performance.now() / 1000); }, 1000);
}

/* A file dropped on the form is submitted like a chosen one. */
for (const form of document.querySelectorAll("[data-drop]")) {
  const zone = form.querySelector(".drop");
  const input = form.querySelector("input[type=file]");
  const words = form.querySelector("[data-drop-words]");
  const plain = words.textContent;
  words.textContent = `${WORDS.drop} ${plain}`;
  for (const kind of ["dragenter", "dragover"]) zone.addEventListener(kind, (event) => { event.preventDefault(); zone.classList.add("over"); });
  for (const kind of ["dragleave", "drop"]) zone.addEventListener(kind, () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    if (!event.dataTransfer.files.length) return;
    input.files = event.dataTransfer.files;
    form.requestSubmit();
  });
  input.addEventListener("change", () => { if (input.files.length) form.requestSubmit(); });
}

/* Long tables: filter and sort in the browser. */
const countRows = (form, table) => {
  const shown = table.tBodies[0].querySelectorAll("tr:not([hidden])").length;
  const words = form.querySelector("[data-count]");
  if (words) words.textContent = WORDS.shown.replace("{rows}", shown.toLocaleString(document.documentElement.lang));
};
for (const form of document.querySelectorAll("[data-filter]")) {
  const table = document.getElementById(form.dataset.filter);
  if (!table) continue;
  const all = !new URLSearchParams(location.search).has("q");
  if (!all) continue; /* the server left rows out: let it answer again */
  const text = form.querySelector("input[type=search]");
  const show = form.querySelector("select");
  const rows = Array.from(table.tBodies[0].rows, (row) => [row, row.cells[0].textContent.toLowerCase()]);
  const apply = () => {
    const wanted = text.value.trim().toLowerCase();
    for (const [row, words] of rows) {
      const kind = show.value;
      const fits = kind === "" || (kind === "team" && !("pool" in row.dataset)) || (kind === "pool" && "pool" in row.dataset) || (kind === "pending" && "pending" in row.dataset);
      row.hidden = !(fits && (!wanted || words.includes(wanted)));
    }
    countRows(form, table);
  };
  text.addEventListener("input", apply);
  show.addEventListener("change", apply);
  form.addEventListener("submit", (event) => { event.preventDefault(); apply(); });
}
for (const table of document.querySelectorAll("[data-sortable]")) {
  const heads = table.querySelectorAll("th[data-sort]");
  for (const head of heads) {
    const link = head.querySelector("a"); /* without a script the server sorts */
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...link.childNodes);
    link.replaceWith(button);
    button.addEventListener("click", () => {
      const now = head.getAttribute("aria-sort");
      const up = now ? now === "descending" : head.dataset.first === "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const place = head.cellIndex;
      const key = (row) => {
        const cell = row.cells[place];
        const words = cell.dataset.value ?? cell.textContent.trim();
        if (head.dataset.sort !== "number") return words;
        const digits = cell.dataset.value ?? words.replaceAll(/\D/g, ""); /* whole numbers, however the language sets thousands apart */
        return digits === "" ? Infinity * (up ? 1 : -1) : Number(digits);
      };
      const rows = Array.from(table.tBodies[0].rows, (row) => [key(row), row]);
      rows.sort(([a], [b]) => (up ? 1 : -1) * (typeof a === "number" ? a - b : a.localeCompare(b)));
      for (const [, row] of rows) row.classList.remove("split");
      table.tBodies[0].append(...rows.map(([, row]) => row));
    });
  }
}

/* Search as you type: the server finds, and what it found replaces what is shown. */
for (const form of document.querySelectorAll("[data-search]")) {
  let timer;
  let asking = new AbortController();
  const ask = async () => {
    asking.abort();
    asking = new AbortController();
    const address = new URL(form.getAttribute("action"), location.href);
    address.search = new URLSearchParams(Array.from(new FormData(form)).filter(([, value]) => value !== ""));
    try {
      const answer = await fetch(address, { headers: { Accept: "text/html" }, signal: asking.signal });
      if (!answer.ok || answer.redirected) { location.assign(address); return; }
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const found = page.getElementById(form.dataset.search);
      if (!found) { location.assign(address); return; }
      document.getElementById(form.dataset.search).replaceWith(found);
      const words = form.querySelector("[data-found]");
      const fresh = page.querySelector("[data-found]");
      if (words && fresh) words.textContent = fresh.textContent;
      history.replaceState(null, "", address);
    } catch (error) {
      if (error.name !== "AbortError") location.assign(address);
    }
  };
  form.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(ask, 120); });
  form.addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(timer); ask(); });
}

/* Sites that are being read: look again, unless somebody is searching. */
if (document.querySelector("[data-unread]")) {
  setTimeout(() => { if (!document.querySelector("[data-search] input")?.value && !location.search) location.reload(); }, 3000);
}
