"""Users and their tokens."""

from typing import Annotated

from pydantic import Field

from crewlearn.web.api.models.base import Count, Flag, Model, Page, all_optional
from crewlearn.web.auth.access import Role


class TokenModel(Model):
    """A token without its secret."""

    id: Count
    label: str
    created: str
    expires: str
    revoked: str | None


class UserModel(Model):
    """A user."""

    name: str
    role: Role
    sites: list[str] | None = Field(description="The sites they may see; null for all.")
    disabled: Flag
    created: str
    tokens: list[TokenModel]
    origin: str | None = Field(
        default=None,
        description="The issuer of their single sign-on, which sets role and sites at each sign-in; else null.",
    )


class Users(Page[UserModel]):
    """Users by name."""


class NewUser(Model):
    """A user to add."""

    name: str = Field(min_length=1, max_length=100)
    role: Role
    sites: list[str] | None = Field(
        default=None, min_length=1, max_length=1000, description="Sites they are limited to; all if left out."
    )


@all_optional
class UserChanges(Model):
    """Changes of a user; what is left out stays."""

    role: Role
    sites: list[str] | None = Field(
        min_length=1, max_length=1000, description="Sites they are limited to; null for all."
    )
    disabled: Flag = Field(description="Whether they are blocked; their name stays, because the record may contain it.")


class ShownLink(Model):
    """A one-time link, which is shown only once."""

    path: str = Field(description="Append it to the server's address.")


class NewToken(Model):
    """A token to create."""

    days: Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0, le=3650)] = 90.0
    label: str = Field(default="", max_length=100)


class ShownToken(TokenModel):
    """A new token with its secret, which is shown only once."""

    token: str = Field(description="Keep it: it is never shown again.")
