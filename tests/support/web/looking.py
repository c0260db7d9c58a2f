"""Layout checks in Chromium: layout shifts, broken words, overflow, small targets, and axe's findings."""

from importlib.resources import files
from typing import Any

from playwright.sync_api import Page

AXE = files("axe_playwright_python").joinpath("axe.min.js")
RUN_AXE = "(options) => axe.run(document, { resultTypes: ['violations'], ...options })"
COLOURS = {"runOnly": ["cat.color"], "rules": {"color-contrast-enhanced": {"enabled": False}}}
"""axe's default rules about colours; the tag alone would include one that is off by default."""
PHONE, DESK = (360, 800), (1280, 900)

SHIFTS = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifts.push(entry.value);
}).observe({ type: "layout-shift", buffered: true });
"""


def axe_faults(page: Page, options: dict[str, Any] | None = None) -> list[str]:
    """Return the serious and critical faults that axe finds on the current page."""
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
    """Return the page's cumulative layout shift."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return float(page.evaluate("window.shifts.reduce((sum, shift) => sum + shift, 0)"))


def scrolls_sideways(page: Page) -> bool:
    """Return whether a page is wider than its window."""
    return bool(page.evaluate("document.scrollingElement.scrollWidth > document.scrollingElement.clientWidth"))


def look_at(page: Page, path: str) -> list[str]:
    """Check a page at phone and desktop size, in light and dark; return its faults."""
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
    """Check a page that cannot be reloaded, because it is a form's response; return its faults."""
    faults = []
    for width, height in (PHONE, DESK):
        page.set_viewport_size({"width": width, "height": height})
        faults += axe_in_light_and_dark(page)
    return [*faults, *too_wide(page)]


def axe_in_light_and_dark(page: Page) -> list[str]:
    """Return axe's findings; in dark mode only colours differ, so only they are checked again."""
    faults = axe_faults(page)
    page.emulate_media(color_scheme="dark")
    faults += [f"dark: {fault}" for fault in axe_faults(page, COLOURS)]
    page.emulate_media(color_scheme="light")
    return faults


def too_wide(page: Page) -> list[str]:
    """Check a page on a phone for overflow, broken words and targets too small for a finger."""
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
      for (const match of node.data.matchAll(/[\\p{L}\\p{M}\\d,.]{2,18}/gu)) {
        range.setStart(node, match.index);
        range.setEnd(node, match.index + match[0].length);
        const lines = new Set(Array.from(range.getClientRects(), (box) => Math.round(box.top)));
        if (lines.size > 1) torn.push(match[0]);
      }
    }
  }
  return torn;
}"""
"""Words of headings, names and buttons broken over two lines, unless they are longer than a line."""
CUT = """() => Array.from(document.querySelectorAll(".tabs a, .plan-table *, .ticks *")).filter((element) => {
  const box = element.getBoundingClientRect();
  return box.width > 1 && (box.left < 0 || box.right > innerWidth);
}).map((element) => element.textContent.trim())"""
"""Elements that must be visible without horizontal scrolling, and are not."""
LOW = """() => Array.from(document.querySelectorAll("a.chip, a.button, button, summary.button, select"))
  .filter((element) => element.offsetParent && element.getBoundingClientRect().height < 24)
  .map((element) => element.textContent.trim())"""

DARKENED = """() => Array.from(document.styleSheets).flatMap((sheet) => Array.from(sheet.cssRules))
  .filter((rule) => rule.media && rule.media.mediaText.includes("prefers-color-scheme"))
  .flatMap((rule) => Array.from(rule.cssRules)).flatMap((rule) => Array.from(rule.style))
  .filter((name) => !name.startsWith("--"))"""
"""Colours that dark mode changes besides the named ones."""
