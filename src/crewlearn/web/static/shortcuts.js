/* Keys for answering: j and k move, x or Enter selects, a approves, r rejects, u undoes, ? shows them. They can be
   turned off, and never work while something is typed. */

const OFF = "crewlearn-keys-off";

const isOff = () => { try { return localStorage.getItem(OFF) === "yes"; } catch { return false; } };
const setOff = (off) => { try { localStorage.setItem(OFF, off ? "yes" : "no"); } catch { /* then for this page only */ } };

export const shortcuts = ({ list, open, chosen, many }) => {
  const dialog = document.getElementById("keys");
  const on = dialog.querySelector("[data-keys-on]");
  const help = list.querySelector("[data-keys]");
  let off = isOff();
  on.checked = !off;
  on.addEventListener("change", () => { off = !on.checked; setOff(off); });
  help.hidden = false;
  help.addEventListener("click", () => dialog.showModal());

  const current = () => document.activeElement.closest("[data-proposal]");
  const move = (step) => {
    const cards = open();
    if (!cards.length) return;
    const all = Array.from(list.querySelectorAll("[data-proposal]"));
    const here = current();
    if (!here) { cards[step > 0 ? 0 : cards.length - 1].focus(); return; }
    const rest = step > 0 ? all.slice(all.indexOf(here) + 1) : all.slice(0, all.indexOf(here)).reverse();
    rest.find((card) => cards.includes(card))?.focus();
  };
  const select = () => { const box = current()?.querySelector(".pick input:not(:disabled)"); if (box) box.click(); };
  const approve = () => {
    if (chosen()) many().requestSubmit(many().querySelector('[value="approve"]'));
    else if (current()) current().querySelector("[data-approve]")?.click();
    else move(1); /* nothing is answered that was not looked at */
  };
  const reject = () => {
    if (!chosen() && !current()) { move(1); return; }
    const details = chosen() ? many().querySelector("details") : current().querySelector(".opens-reject");
    if (!details) return;
    details.open = true;
    details.parentElement.querySelector(".panel.reject input[type=radio]").focus();
  };
  const undo = () => document.querySelector('.undo-now button, [data-refresh="undo"] form button')?.click();
  const actions = { j: () => move(1), k: () => move(-1), x: select, a: approve, r: reject, u: undo, "?": () => dialog.showModal() };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || dialog.open) return;
    const at = event.target;
    if (at.matches("textarea, select, [contenteditable], input:not([type=checkbox], [type=radio])")) return;
    if (event.key === "Escape") { const card = current(); if (card) { for (const panel of card.querySelectorAll("details[open]")) panel.open = false; card.focus(); } return; }
    if (off && event.key !== "?") return;
    const action = event.key === "Enter" && at.matches("[data-proposal]") ? select : actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
};
