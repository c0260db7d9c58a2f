"""Users and their tokens; requires an admin of all sites."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Path, Request
from fastapi.responses import Response

from crewlearn.advisor.ledger.errors import Conflict
from crewlearn.advisor.ledger.store import Store
from crewlearn.web.api import paging
from crewlearn.web.api.common import ASKING, LISTING, answer, page, plain
from crewlearn.web.api.models import users as models
from crewlearn.web.auth import users
from crewlearn.web.auth.access import ADMIN, Caller, require
from crewlearn.web.errors.problems import answers
from crewlearn.web.settings import MOST_NUMBER

router = APIRouter(prefix="/users", tags=["users"])

Admin = Annotated[Caller, require(ADMIN)]
UserName = Annotated[str, Path(description="The user's name.", examples=["ann"])]
TokenNumber = Annotated[int, Path(ge=1, le=MOST_NUMBER, description="The token's number.", examples=[2])]


@router.get("", response_model=models.Users, operation_id="listUsers", responses=LISTING | answers(403))
def list_users(request: Request, caller: Admin, limit: paging.Limit = 100, cursor: paging.Cursor = None) -> Response:
    """List the users with their tokens (without the secrets), by name."""
    after = paging.place_in(cursor, "users", lambda place: isinstance(place, str))
    listed = sorted(users.list_users(_store(request)), key=lambda user: user.name)
    listed = [user for user in listed if after is None or user.name > after]
    following = paging.written("users", listed[limit - 1].name) if len(listed) > limit else None
    return answer(page([plain(asdict(user)) for user in listed[:limit]], following))


@router.post(
    "",
    response_model=models.UserModel,
    status_code=201,
    operation_id="addUser",
    responses=LISTING
    | answers(403, 409)
    | {200: {"model": models.UserModel, "description": "The user exists already."}},
)
def add_user(request: Request, caller: Admin, new: models.NewUser) -> Response:
    """Add a user. Repeating the request changes nothing; another role or sites for the same name are a conflict."""
    store, sites = _store(request), None if new.sites is None else tuple(sorted(set(new.sites)))
    try:
        return answer(plain(asdict(users.add(store, new.name, new.role, sites))), status=201)
    except Conflict:
        known = users.get(store, new.name)
        if (known.role, known.sites, known.disabled) != (new.role, sites, False):
            raise
        return answer(plain(asdict(known)))


@router.post(
    "/{name}/tokens", response_model=models.ShownToken, status_code=201, operation_id="addToken", responses=ASKING
)
def add_token(request: Request, caller: Admin, name: UserName, new: models.NewToken) -> Response:
    """Create a token for a user. Its secret is in this response only; every request creates another token."""
    made, secret = users.new_token(_store(request), name, new.days, new.label)
    return answer(plain({**asdict(made), "token": secret}), status=201)


@router.delete("/{name}/tokens/{token}", status_code=204, operation_id="revokeToken", responses=ASKING)
def revoke_token(request: Request, caller: Admin, name: UserName, token: TokenNumber) -> Response:
    """Revoke a token; its sessions end. Revoking it again changes nothing."""
    users.revoke(_store(request), name, token)
    return Response(status_code=204)


@router.patch("/{name}", response_model=models.UserModel, operation_id="changeUser", responses=ASKING)
def change_user(request: Request, caller: Admin, name: UserName, changes: models.UserChanges) -> Response:
    """Change a user's role or sites, or disable or enable them; what is left out stays."""
    sent, sites = changes.model_fields_set, changes.sites
    changed = users.update(
        _store(request),
        name,
        role=changes.role if "role" in sent else None,
        sites=users.UNCHANGED if "sites" not in sent else None if sites is None else tuple(sorted(set(sites))),
        disabled=changes.disabled if "disabled" in sent else None,
    )
    return answer(plain(asdict(changed)))


@router.post(
    "/{name}/links", response_model=models.ShownLink, status_code=201, operation_id="addLink", responses=ASKING
)
def add_link(request: Request, caller: Admin, name: UserName) -> Response:
    """Create a link that signs a user in, once and within a quarter of an hour. It is in this response only."""
    code = users.new_link(_store(request), name)
    return answer({"path": f"/sign-in/once?code={code}"}, status=201)


@router.delete("/{name}/tokens", status_code=204, operation_id="revokeTokens", responses=ASKING)
def revoke_tokens(request: Request, caller: Admin, name: UserName) -> Response:
    """Revoke all tokens of a user, and end their sessions and links."""
    users.revoke(_store(request), name)
    return Response(status_code=204)


def _store(request: Request) -> Store:
    store: Store = request.app.state.store
    return store
