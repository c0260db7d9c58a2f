"""Conversion between the site's units, the policy's scale and money, with round trips."""

import json
import math
import struct

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from crewlearn.advisor.files.cells import neutralised
from crewlearn.advisor.ledger.settings.units import Measured, Units, parse_range
from crewlearn.problem.errors import InvalidInput

ENDS = st.floats(-1e6, 1e6)


def bits(value: float) -> bytes:
    return struct.pack("<d", value)


@given(st.floats(0.0, 1.0))
def test_over_the_unit_range_the_policy_sees_the_very_number(value: float) -> None:
    measured = Units(0.0, 1.0).policy_output(value)
    assert bits(measured.value) == bits(value)
    assert not measured.clipped
    assert bits(Units(0.0, 1.0).people_output(value)) == bits(value)


@given(ENDS, ENDS, st.floats(0.0, 1.0))
def test_output_goes_there_and_back(low: float, high: float, value: float) -> None:
    assume(abs(high - low) > 1e-3)
    units = Units(low, high)
    assert units.policy_output(units.people_output(value)).value == pytest.approx(value, abs=1e-6)
    assert units.people_output(0.0) == low
    assert units.people_output(1.0) == high
    assert units.policy_output(low) == Measured(0.0, clipped=False)
    assert units.policy_output(high) == Measured(1.0, clipped=False)


@given(ENDS, ENDS, st.floats(-1e300, 1e300))
def test_output_is_clipped_and_said_to_be(low: float, high: float, recorded: float) -> None:
    assume(low != high)
    measured = Units(low, high).policy_output(recorded)
    assert 0.0 <= measured.value <= 1.0
    outside = max(min(low, high) - recorded, recorded - max(low, high))
    if measured.clipped:
        assert outside > 0.0
        assert measured.value in (0.0, 1.0)
    else:  # a value barely outside the range may round to its end
        assert outside <= 1e-9 * max(abs(low), abs(high))


def test_lower_is_better() -> None:
    errors = Units(low=30.0, high=0.0, value_per_unit=2.0)
    assert errors.lower_is_better
    assert errors.policy_output(0.0) == Measured(1.0, clipped=False)
    assert errors.policy_output(6.0).value == 0.8
    assert errors.policy_output(31.0) == Measured(0.0, clipped=True)
    assert errors.policy_output(-1.0) == Measured(1.0, clipped=True)
    assert errors.people_output(0.8) == pytest.approx(6.0)
    assert errors.people_difference(0.1) == pytest.approx(3.0)
    assert errors.people_difference(-0.1) == pytest.approx(-3.0)
    assert errors.money_of_one == 60.0


def test_a_rate_is_per_hour_and_its_money_per_period() -> None:
    rate = Units(low=0.0, high=10.0, value_per_unit=3.0, hours_per_period=8.0)
    assert rate.policy_output(40.0).value == 0.5
    assert rate.policy_output(40.0, hours=4.0).value == 1.0
    assert rate.policy_output(40.0, hours=2.0) == Measured(1.0, clipped=True)
    assert rate.people_output(0.5) == 5.0
    assert rate.money_of_one == 240.0
    assert rate.policy_cost(1200.0) == 5.0
    assert rate.money(5.0) == 1200.0
    for hours in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(InvalidInput, match="hours"):
            rate.policy_output(40.0, hours=hours)


def test_hours_do_not_matter_where_output_is_not_a_rate() -> None:
    assert Units(0.0, 80.0).policy_output(40.0, hours=0.5).value == 0.5


@given(ENDS, ENDS, st.floats(1e-3, 1e6), st.none() | st.floats(0.1, 24.0), st.floats(0.0, 1e9))
def test_money_goes_there_and_back(low: float, high: float, value: float, hours: float | None, fee: float) -> None:
    assume(abs(high - low) > 1e-3)
    units = Units(low, high, value, hours)
    assert units.money(units.policy_cost(fee)) == pytest.approx(fee)
    # The money value of the range is the difference of its ends, over the hours of a period.
    assert units.money(1.0) == pytest.approx(abs(high - low) * value * (hours or 1.0))


@given(ENDS, ENDS, st.floats(1e-3, 1e6), st.none() | st.floats(0.1, 24.0))
def test_units_survive_json(low: float, high: float, value: float, hours: float | None) -> None:
    assume(low != high)
    units = Units(low, high, value, hours)
    assert Units.from_json(json.loads(json.dumps(units.to_json()))) == units


@pytest.mark.parametrize(
    ("table", "field"),
    [
        ({"low": 1.0, "high": 1.0}, "high"),
        ({"low": math.nan, "high": 1.0}, "low"),
        ({"low": 0.0, "high": math.inf}, "high"),
        ({"low": 0.0, "high": 1e300}, "high"),
        ({"low": "0", "high": 1.0}, "low"),
        ({"low": True, "high": 2.0}, "low"),
        ({"low": 0.0, "high": 1.0, "value_per_unit": 0.0}, "value_per_unit"),
        ({"low": 0.0, "high": 1.0, "value_per_unit": -1.0}, "value_per_unit"),
        ({"low": 0.0, "high": 1.0, "value_per_unit": math.inf}, "value_per_unit"),
        ({"low": 0.0, "high": 1e-200, "value_per_unit": 1e-200}, "value_per_unit"),
        ({"low": 0.0, "high": 1.0, "hours_per_period": 0.0}, "hours_per_period"),
        ({"low": 0.0, "high": 1.0, "hours_per_period": math.nan}, "hours_per_period"),
        ({"low": 0.0}, "units"),
        ({"low": 0.0, "high": 1.0, "rate": 2.0}, "units"),
    ],
)
def test_what_cannot_be_is_refused(table: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Units.from_json(table)
    assert caught.value.field == field


def test_output_and_fees_must_be_numbers() -> None:
    units = Units(0.0, 80.0)
    for bad in (math.nan, math.inf, "12"):
        with pytest.raises(InvalidInput, match="units"):
            units.policy_output(bad)  # type: ignore[arg-type]  # the wrong type is the point
        with pytest.raises(InvalidInput, match="fee"):
            units.policy_cost(bad)  # type: ignore[arg-type]  # the wrong type is the point
    with pytest.raises(InvalidInput, match="fee"):
        units.policy_cost(-1.0)
    with pytest.raises(InvalidInput, match="is too large where"):
        Units(0.0, 1e-300).policy_cost(1e9)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0:1", (0.0, 1.0)),
        ("0:12.5", (0.0, 12.5)),
        ("0,5:12,5", (0.5, 12.5)),
        (" -5 : +10 ", (-5.0, 10.0)),
        ("30:0", (30.0, 0.0)),
        (".5:1.", (0.5, 1.0)),
        ("1e3:2E3", (1000.0, 2000.0)),
        ("0,125:1", (0.125, 1.0)),
        ("1.234:2", (1.234, 2.0)),
    ],
)
def test_a_range_is_read_as_typed(text: str, expected: tuple[float, float]) -> None:
    assert parse_range(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", ":", "5", "1:1", "1:", ":1", "0:1:2", "a:b", "nan:1", "0:inf", "0:1e999", "1_0:20", "0:१", "1,234.5:2", "0-1"],
)
def test_a_range_that_is_none_is_refused_with_a_remedy(text: str) -> None:
    with pytest.raises(InvalidInput, match="output range"):
        parse_range(text)


def test_a_range_with_thousands_separators_is_not_guessed_at() -> None:
    with pytest.raises(InvalidInput, match=r"1,000 may mean 1000 or 1\.000"):
        parse_range("0:1,000")
    with pytest.raises(InvalidInput) as caught:
        parse_range("9" * 10_000 + ":1")
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    "text", ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "-", "+", "--5", "-1\n"]
)
def test_text_that_a_spreadsheet_would_run_is_neutralised(text: str) -> None:
    assert neutralised(text) == "'" + text


@pytest.mark.parametrize("text", ["", "Ann", "007", "-3.5", "+3,5", "-1e5", "-.5", "a=b", " =1", "12"])
def test_harmless_text_and_numbers_stay(text: str) -> None:
    assert neutralised(text) == text
