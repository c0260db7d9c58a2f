"""Chances are never certain, and amounts have no more digits than their interval warrants."""

import pytest

from crewlearn.advisor.wording.doubt import chance, rounded


@pytest.mark.parametrize(
    ("share", "text"), [(0.8, "80%"), (0.99, "99%"), (0.9951, "over 99%"), (1.0, "over 99%"), (0.0, "under 1%")]
)
def test_no_chance_is_certain(share: float, text: str) -> None:
    assert chance(share) == text


def test_amounts_are_rounded_to_about_a_hundredth_of_their_interval() -> None:
    low, high = -3_123.4, 7_654.3
    for amount in rounded(low, high, 4_812.6, low, high):
        assert amount % 10.0 == 0.0  # the next power of ten below a hundredth of 10,778, doubled at most
    assert str(rounded(-50.0, 50.0, -0.04)[0]) == "0.0", "no negative zero"
