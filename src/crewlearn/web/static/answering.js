/* Answering proposals without leaving the page: the forms of the page are sent as they are, and what the server shows
   next is taken over piece by piece. A proposal that is answered keeps its place, so nothing slides under the pointer. */

import { shortcuts } from "./shortcuts.js";

const WORDS = JSON.parse(document.body.dataset.words);
const UNDO_SECONDS = 10;
const KEPT_ALIVE = 60000; /* browsers take 64 kB for requests that outlive their page */
const list = document.querySelector("[data-answers]");

const cards = () => Array.from(list.querySelectorAll("[data-proposal]"));
const open = () => cards().filter((card) => !card.classList.contains("answered"));
const many = () => document.getElementById("many");
const boxes = () => Array.from(list.querySelectorAll('.pick input:not(:disabled)'));
const chosen = () => boxes().filter((box) => box.checked).length;

/* Take over what the server shows now. Cards that did not change are left alone, with what is typed or opened there. */
const takeOver = (page) => {
  for (const fresh of page.querySelectorAll("[data-refresh]")) {
    const here = document.querySelector(`[data-refresh="${fresh.dataset.refresh}"]`);
    if (here && here.innerHTML !== fresh.innerHTML) here.replaceChildren(...fresh.childNodes);
  }
  for (const fresh of page.querySelectorAll("[data-proposal]")) {
    const here = document.getElementById(fresh.id);
    if (!here || here.dataset.status === fresh.dataset.status) continue;
    const tall = here.getBoundingClientRect().height;
    here.replaceWith(fresh);
    fresh.style.minHeight = `${tall}px`; /* as tall as before, whatever it says now */
  }
  const all = page.querySelector("[data-select-all]");
  const mine = list.querySelector("[data-select-all]");
  if (all && mine) {
    mine.value = all.value;
    mine.nextElementSibling.textContent = all.nextElementSibling.textContent;
  }
  showSelected();
};

let timer = 0;
const showMessage = () => {
  const bar = document.getElementById("said");
  clearTimeout(timer);
  const away = () => {
    if (bar.matches(":hover, :focus-within")) timer = setTimeout(away, 1000); /* somebody is about to use it */
    else bar.replaceChildren();
  };
  if (bar.firstElementChild && !bar.querySelector(".bad, .warn")) timer = setTimeout(away, UNDO_SECONDS * 1000);
};

const tell = (words) => {
  const said = document.createElement("div");
  said.className = "flash bad";
  said.textContent = words;
  document.getElementById("said").replaceChildren(said);
};

let byPointer = false;
let sending = false;
const send = async (form, submitter) => {
  if (sending) return;
  sending = true;
  list.setAttribute("aria-busy", "true");
  const card = form.closest("[data-proposal]");
  const inside = list.contains(document.activeElement);
  const preventScroll = byPointer; /* nothing slides under the pointer */
  const body = new URLSearchParams(new FormData(form, submitter));
  const keepalive = body.toString().length < KEPT_ALIVE; /* it arrives even if one leaves the page at once */
  try {
    const answer = await fetch(form.action, { method: "POST", body, keepalive, headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (!answer.ok || !page.querySelector("[data-answers], main .card")) {
      location.assign(answer.ok ? answer.url : location.href); /* the page says why */
      return;
    }
    if (form.id === "many") for (const box of form.querySelectorAll("[data-select-all]")) box.checked = false;
    takeOver(page);
    showMessage();
    if (inside || document.activeElement === document.body) follow(card ? document.getElementById(card.id) : undefined, preventScroll);
  } catch {
    tell(WORDS.lost);
  } finally {
    sending = false;
    list.removeAttribute("aria-busy");
  }
};

/* The keyboard goes on at the next proposal to answer, or at the message after the last one. */
const follow = (card, preventScroll) => {
  const all = cards();
  const place = all.indexOf(card);
  const next = [...all.slice(place + 1), ...all.slice(0, place + 1)].find((other) => !other.classList.contains("answered"));
  (next ?? document.getElementById("said")).focus({ preventScroll });
};

const showSelected = () => {
  const words = list.querySelector("[data-selected]");
  if (!words) return;
  const all = list.querySelector("[data-select-all]");
  const number = all.checked ? all.value.split("-").filter(Boolean).length : chosen();
  words.textContent = number ? WORDS.selected.replace("{n}", number.toLocaleString(document.documentElement.lang)) : "";
};

if (list) {
  document.addEventListener("pointerdown", () => { byPointer = true; }, true);
  document.addEventListener("keydown", () => { byPointer = false; }, true);
  document.addEventListener("submit", (event) => {
    const form = event.target;
    const here = list.contains(form) || form.matches(".undo-now") || form.closest('[data-refresh="undo"]');
    if (!here || form.method !== "post") return;
    event.preventDefault();
    send(form, event.submitter);
  });
  list.addEventListener("change", (event) => {
    if (event.target.matches("[data-select-all]")) for (const box of boxes()) box.checked = event.target.checked;
    else if (event.target.matches(".pick input") && !event.target.checked) list.querySelector("[data-select-all]").checked = false;
    showSelected();
  });
  list.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !event.target.matches("#many .panel input")) return;
    event.preventDefault();
    many().requestSubmit(many().querySelector('[value="reject"]'));
  });
  showSelected();
  showMessage();
  if (many()) shortcuts({ list, open, chosen, many });
}
