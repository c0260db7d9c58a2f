"""How a page looks in Chromium: what moves, what is torn, too wide or too low, and what axe finds."""

from importlib.resources import files
from typing import Any

from playwright.sync_api import Page

AXE = files("axe_playwright_python").joinpath("axe.min.js")
RUN_AXE = "(options) => axe.run(document, { resultTypes: ['violations'], ...options })"
COLOURS = {"runOnly": ["cat.color"], "rules": {"color-contrast-enhanced": {"enabled": False}}}
"""Of axe's own rules, those about colours: a tag alone would let in one that it leaves out."""
PHONE, DESK = (360, 800), (1280, 900)

SHIFTS = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) if (!one.hadRecentInput) window.shifts.push(one.value);
}).observe({ type: "layout-shift", buffered: true });
"""


def axe_faults(page: Page, options: dict[str, Any] | None = None) -> list[str]:
    """Give the serious and critical faults that axe finds on a page as it is shown, by its own or by other options."""
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(AXE.read_text())
    report: dict[str, Any] = page.evaluate(RUN_AXE, options or {})
    return [
        f"{page.url}: {violation['id']}: {node['html'][:160]} {' '.join(node.get('failureSummary', '').split())[:200]}"
        for violation in report["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"][:3]
    ]


def shift_of(page: Page) -> float:
    """Give how far things on a page have moved by themselves since it was opened."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return float(page.evaluate("window.shifts.reduce((sum, one) => sum + one, 0)"))


def scrolls_sideways(page: Page) -> bool:
    """Return whether a page is wider than its window."""
    return bool(page.evaluate("document.scrollingElement.scrollWidth > document.scrollingElement.clientWidth"))


def look_at(page: Page, path: str) -> list[str]:
    """Look at a page on a phone and at a desk, in light and dark; give what is wrong with it."""
    faults = []
    for width, height in (PHONE, DESK):
        page.set_viewport_size({"width": width, "height": height})
        answer = page.goto(path)
        assert answer is not None
        assert answer.status == 200, path
        shift = shift_of(page)
        if shift >= 0.02:
            faults.append(f"{path}: moves by {shift:.3f} at {width}")
        faults += axe_in_light_and_dark(page)
    return [*faults, *too_wide(page)]


def look_over(page: Page) -> list[str]:
    """Look at a page that cannot be opened again, as it answers a form; give what is wrong with it."""
    faults = []
    for width, height in (PHONE, DESK):
        page.set_viewport_size({"width": width, "height": height})
        faults += axe_in_light_and_dark(page)
    return [*faults, *too_wide(page)]


def axe_in_light_and_dark(page: Page) -> list[str]:
    """Give what axe finds; in the dark nothing but colours are others, so nothing else is looked at again."""
    faults = axe_faults(page)
    page.emulate_media(color_scheme="dark")
    faults += [f"dark: {fault}" for fault in axe_faults(page, COLOURS)]
    page.emulate_media(color_scheme="light")
    return faults


def too_wide(page: Page) -> list[str]:
    """Look at a page on a phone: is it wider than that, are words torn, are there targets too small for a finger?"""
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    faults = [f"{page.url}: scrolls sideways at {PHONE[0]}"] if scrolls_sideways(page) else []
    faults += [f"{page.url}: torn: {word}" for word in page.evaluate(TORN)]
    faults += [f"{page.url}: beyond the edge: {word}" for word in page.evaluate(CUT)]
    faults += [f"{page.url}: too low for a finger: {words}" for words in page.evaluate(LOW)]
    page.set_viewport_size({"width": DESK[0], "height": DESK[1]})
    return faults


TORN = """() => {
  const torn = [], range = document.createRange();
  for (const cell of document.querySelectorAll("h1, h2, h3, th, .name, dt, .chip, button, .button")) {
    const walk = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const node = walk.currentNode;
      for (const found of node.data.matchAll(/[\\p{L}\\p{M}\\d,.]{2,18}/gu)) {
        range.setStart(node, found.index);
        range.setEnd(node, found.index + found[0].length);
        const lines = new Set(Array.from(range.getClientRects(), (box) => Math.round(box.top)));
        if (lines.size > 1) torn.push(found[0]);
      }
    }
  }
  return torn;
}"""
"""Words of headings, names and buttons that stand on two lines, unless they are longer than any line."""
CUT = """() => Array.from(document.querySelectorAll(".tabs a, .plan-table *, .ticks *")).filter((one) => {
  const box = one.getBoundingClientRect();
  return box.width > 1 && (box.left < 0 || box.right > innerWidth);
}).map((one) => one.textContent.trim())"""
"""What has to be in sight without moving anything sideways, and is not."""
LOW = """() => Array.from(document.querySelectorAll("a.chip, a.button, button, summary.button, select"))
  .filter((one) => one.offsetParent && one.getBoundingClientRect().height < 24).map((one) => one.textContent.trim())"""

DARKENED = """() => Array.from(document.styleSheets).flatMap((sheet) => Array.from(sheet.cssRules))
  .filter((rule) => rule.media && rule.media.mediaText.includes("prefers-color-scheme"))
  .flatMap((rule) => Array.from(rule.cssRules)).flatMap((rule) => Array.from(rule.style))
  .filter((name) => !name.startsWith("--"))"""
"""What the dark changes beside named colours."""
