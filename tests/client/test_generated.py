"""The typed client is the one that the API's description gives."""

import pytest

from book import client
from crewlearn.client import ApiError, Client


def test_the_client_is_current() -> None:
    assert client.TARGET.read_text() == client.source(), "run: make client"


def test_a_refusal_is_an_error_with_its_problem() -> None:
    problem = {"status": 404, "detail": "There is no such site."}
    error = ApiError(404, problem, "5f0c2a917be34d08")
    assert str(error) == "404: There is no such site."
    assert (error.problem, error.request_id) == (problem, "5f0c2a917be34d08")


def test_nobody_there_is_an_error_of_the_system() -> None:
    with pytest.raises(OSError, match="refused"):
        Client("http://127.0.0.1:1", seconds=5).get_health()
