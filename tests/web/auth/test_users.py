"""Users: roles, sites and invalid changes; on SQLite and on PostgreSQL."""

import pytest
from fastapi.testclient import TestClient

from crewlearn.advisor.ledger.errors import Conflict
from crewlearn.advisor.ledger.store import Store
from crewlearn.problem.errors import InvalidInput
from crewlearn.web.auth import users
from crewlearn.web.auth.access import ADMIN, MANAGER, ROLES, VIEWER
from support.web.app import ME_PATH, bearer, sign_in, token_of, two_sites

store = two_sites


def test_roles_and_sites(store: Store, web: TestClient) -> None:
    for role in ROLES:
        for sites in (None, ["north"]):
            token = token_of(store, f"{role} {sites is None}", role, sites)
            for needed in ROLES:
                enough = ROLES.index(role) >= ROLES.index(needed)
                expected = {
                    f"/api/v1/sites/north/{needed}": 200 if enough else 403,
                    f"/api/v1/sites/south/{needed}": 404 if sites else 200 if enough else 403,
                    f"/api/v1/{needed}": 200 if enough and (sites is None or needed == VIEWER) else 403,
                }
                for path, status in expected.items():
                    assert (path, web.get(path, headers=bearer(token)).status_code) == (path, status)
                    assert web.get(path).status_code == 401
    answer = web.get("/api/v1/sites/north/admin", headers=bearer(token_of(store, "vi", VIEWER)))
    assert answer.json()["detail"] == "this takes the role admin; vi is viewer"


def test_sites_of_others_look_as_if_they_were_not_there(store: Store, web: TestClient) -> None:
    token = token_of(store, sites=["north"])
    seen = web.get("/api/v1/sites/south/viewer", headers=bearer(token)).json()
    nowhere = web.get("/api/v1/sites/nowhere/viewer", headers=bearer(token)).json()
    assert str(seen).replace("south", "nowhere") == str(nowhere)
    assert "north" not in str(nowhere)


def test_a_change_of_role_or_sites_holds_at_once(store: Store, web: TestClient) -> None:
    sign_in(web, token_of(store, role=VIEWER, sites=["north"]))
    users.change(store, "ann", MANAGER, ["south"])
    assert web.get(ME_PATH).json() == {"name": "ann", "role": "manager", "sites": ["south"]}
    users.everywhere(store, "ann")
    assert web.get(ME_PATH).json()["sites"] is None


@pytest.mark.parametrize(
    ("name", "role", "sites", "match"),
    [
        ("", VIEWER, None, "from 1 to 100"),
        ("a/b", VIEWER, None, "must be letters"),
        ("a\nb", VIEWER, None, "must be letters"),
        (" a", VIEWER, None, "must be letters"),
        ("ann", "boss", None, "Known: viewer, manager, admin"),
        ("ann", VIEWER, ["east"], r"does not exist; there are: north, south"),
        ("ann", VIEWER, [], "at least one site"),
    ],
)
def test_users_that_cannot_be(store: Store, name: str, role: str, sites: list[str] | None, match: str) -> None:
    with pytest.raises(InvalidInput, match=match):
        users.add(store, name, role, sites)
    assert users.list_users(store) == []


def test_what_cannot_be_done_to_users(store: Store) -> None:
    users.add(store, "ann", VIEWER)
    with pytest.raises(Conflict, match="exists already"):
        users.add(store, "ann", VIEWER)
    with pytest.raises(InvalidInput, match="does not exist"):
        users.new_token(store, "bob")
    for days in (0, -1, float("nan"), 1e9):
        with pytest.raises(InvalidInput, match="days"):
            users.new_token(store, "ann", days)
    with pytest.raises(InvalidInput, match="is not a token of ann"):
        users.revoke(store, "ann", 7)
    assert users.add_first(store, "root") is None


def test_the_first_user_is_an_admin_by_a_name_that_can_be_kept(store: Store) -> None:
    made = users.add_first(store, "CORP\\me")
    assert made is not None
    assert (made.name, made.role, made.sites) == ("admin", ADMIN, None)


def test_another_spelling_of_a_user_is_refused(store: Store) -> None:
    users.add(store, "Ann Lee", VIEWER)
    for spelling in ("ann lee", "Ann  Lee", "ANN LEE", "\uff21nn Lee"):
        with pytest.raises(Conflict, match="is another spelling of Ann Lee, who exists already"):
            users.add(store, spelling, VIEWER)
    with pytest.raises(Conflict, match="exists already"):
        users.add(store, "Ann Lee", VIEWER)
    users.add(store, "Anna Lee", VIEWER)
