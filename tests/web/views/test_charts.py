"""Charts: their labels are readable."""

import re
from importlib.resources import files
from itertools import pairwise
from random import Random

from crewlearn.web.views.charts import ROOMS, TRANSITION, AxisMark, ChartLine, Scale, Span, axis, chart, gantt, room_for

SCALE = Scale(0.0, 40.0, (0.0, 10.0, 20.0, 30.0, 40.0))
NAMED = re.compile(
    r'<svg x="([\d.]+)%" y="(\d+)" width="([\d.]+)%" height="24"><text class="span-text room-(\d+)" x="6"'
)


def test_names_stand_where_nothing_is_hatched() -> None:
    dice, named = Random(7), 0
    for _ in range(200):
        cuts = [0.0, *sorted(dice.random() for _ in range(dice.randrange(4))), 1.0]
        stints = [Span(start, end, "Ana Maier", "Ana Maier", "later") for start, end in pairwise(cuts)]
        begun = [dice.random() for _ in range(dice.randrange(4))]
        hatched = [Span(start, min(1.0, start + 0.3 * dice.random()), "", "on the way", TRANSITION) for start in begun]
        picture = str(gantt("g", "t", "d", [[*stints, *hatched]], [AxisMark(0.0, "1 Nov")]))
        for x, _, width, room in NAMED.findall(picture):
            start, end = float(x) / 100.0, (float(x) + float(width)) / 100.0
            assert any(span.start - 1e-4 <= start and end <= span.end + 1e-4 for span in stints)
            assert not any(span.start < end - 1e-4 and start + 1e-4 < span.end for span in hatched)
            assert (end - start) * int(room) > 6.0 * len("Ana Maier")  # a narrow font's letters fit by any measure
            named += 1
        assert picture.index("<text") > 0
        if hatched:
            assert picture.rindex('class="span later"') < picture.index('<rect fill="url(#g-hatch)"')
    assert named > 200


def test_short_bars_carry_initials_until_the_name_fits() -> None:
    spans = [Span(0.0, 0.2, "Ana Maier", "Ana Maier", "later"), Span(0.2, 0.25, "Ben Ivanova", "Ben Ivanova", "later")]
    picture = str(gantt("g", "t", "d", [spans], []))
    assert re.findall(r'class="span-text ([a-z0-9 -]+)" x="\d" y="16">([^<]+)<', picture) == [
        ("room-480", "Ana Maier"),
        ("room-240 until-480", "AM"),
        ("room-480", "BI"),
    ]


def test_there_is_a_rule_for_every_room() -> None:
    rules = files("crewlearn.web").joinpath("static/app.css").read_text()
    for wide in ROOMS:
        assert f"@container (min-width: {wide}px) {{ .room-{wide} {{ display: inline; }} }}" in rules
        assert f"@container (min-width: {wide}px) {{ .until-{wide} {{ display: none; }} }}" in rules
    assert {room_for("A name", share / 1000.0) for share in range(1001)} == {None, *ROOMS}


def test_the_words_of_a_scale_stand_beside_the_picture() -> None:
    words = ["0", "10", "20", "30", "40,000"]
    picture = str(
        chart("c", "t", "d", SCALE, words, [AxisMark(0.5, "day")], lines=[ChartLine([(0.0, 1.0), (1.0, 39.0)], "")])
    )
    beside, _, inside = picture.partition('<svg class="chart" id="c"')
    assert re.findall(r">([^<>]+)</text>", beside) == words
    assert re.findall(r">([^<>]+)</text>", inside) == ["day"]
    heights = [float(y) for y in re.findall(r'<text class="tick" x="\d+" y="([\d.]+)"', beside)]
    lines = [float(y) for y in re.findall(r'<line class="grid[^"]*" x1="0" x2="100%" y1="([\d.]+)"', inside)]
    assert [round(word - line, 6) for word, line in zip(heights, lines, strict=True)] == [4.0] * 5  # half a digit below


def test_the_words_of_an_axis_stand_at_their_ticks() -> None:
    drawn = str(axis(SCALE, ["0", "10", "20", "30", "40"]))
    assert re.findall(r'x="([\d.]+)%" y="11" text-anchor="middle">(\d+)<', drawn) == [
        ("0.00", "0"),
        ("25.00", "10"),
        ("50.00", "20"),
        ("75.00", "30"),
        ("100.00", "40"),
    ]
    assert drawn.count(" spare") == 2
