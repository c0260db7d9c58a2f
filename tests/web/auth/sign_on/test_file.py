"""The file that describes a provider: what it may say, and what its mistakes are told by."""

import re
from pathlib import Path
from textwrap import dedent

import pytest

from crewlearn.problem.errors import InvalidInput
from crewlearn.web.auth.sign_on.file import _KEYS, read_sign_on
from crewlearn.web.auth.sign_on.providers import providers_of
from crewlearn.web.settings import Settings, SignOn

LEAST = 'issuer = "https://login.example.org"\nclient_id = "crew"\n'
ROLES = '[roles]\nleads = "manager"\n'


def read(tmp_path: Path, text: str, **environment: str) -> SignOn:
    file = tmp_path / "sign-on.toml"
    file.write_text(text, encoding="utf-8")
    return read_sign_on(file, environment)


def test_the_least_that_a_file_says(tmp_path: Path) -> None:
    signing = read(tmp_path, LEAST + ROLES)
    assert signing == SignOn("company", "https://login.example.org", "crew", roles={"leads": "manager"})


def test_everything_that_a_file_says(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s3cret\n")
    text = (
        'name = "agency"\nclient_secret_file = "secret"\nlabel = "Agency"\nscopes = ["openid", "groups"]\n'
        'name_claim = "upn"\nrole_claim = "realm.roles"\nsite_claim = "plants"\nclock_skew_seconds = 5\n'
        'session_hours = 8.5\nlog_out = false\n[sites]\n7 = ["north", "south"]\nhq = "*"\n'
    )
    assert read(tmp_path, LEAST + text + ROLES, CREWLEARN_SIGN_ON_SECRET="other") == SignOn(
        "agency",
        "https://login.example.org",
        "crew",
        "s3cret",
        "Agency",
        ("openid", "groups"),
        "upn",
        "realm.roles",
        "plants",
        {"leads": "manager"},
        {"7": ("north", "south"), "hq": None},
        5,
        8.5,
        False,
    )


def test_a_secret_is_in_the_environment_and_never_shown(tmp_path: Path) -> None:
    both = {"CREWLEARN_SIGN_ON_SECRET": "all's", "CREWLEARN_SIGN_ON_SECRET_COMPANY": "its own"}
    signing = read(tmp_path, LEAST + ROLES, **both)
    assert signing.client_secret == "its own"
    assert "its own" not in repr(Settings(sign_on=(signing,)))
    assert read(tmp_path, LEAST + ROLES, CREWLEARN_SIGN_ON_SECRET="all's").client_secret == "all's"


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (f'client_id = "crew"\n{ROLES}', "issuer"),
        (ROLES, "client_id"),
        (f'issuer = "http://login.example.org"\nclient_id = "crew"\n{ROLES}', "must begin with https://"),
        (f'issuer = "https://login.example.org?x"\nclient_id = "crew"\n{ROLES}', "has no query"),
        (f'issuer = 7\nclient_id = "crew"\n{ROLES}', "must be a text"),
        (f'issuer = "https://login.example.org"\n{ROLES}', "client_id"),
        (LEAST, "nobody could sign in"),
        (LEAST + "[roles]\n", "nobody could sign in"),
        (LEAST + '[roles]\nleads = "boss"\n', r"roles.leads.*Known: viewer, manager, admin"),
        (LEAST + '[sites]\n7 = "north"\n' + ROLES, "site_claim"),
        (LEAST + 'site_claim = "plants"\n[sites]\n7 = "north"\n' + ROLES, r'sites.7.*"\*" for all'),
        (LEAST + 'scopes = ["profile"]\n' + ROLES, "openid"),
        (LEAST + 'scopes = ["openid", "a b"]\n' + ROLES, "must be a word"),
        (LEAST + 'name = "../x"\n' + ROLES, "small letters"),
        (LEAST + "session_hours = 0\n" + ROLES, "session_hours"),
        (LEAST + "clock_skew_seconds = 86400\n" + ROLES, "clock_skew_seconds"),
        (LEAST + 'log_out = "no"\n' + ROLES, "true or false"),
        (LEAST + 'client_secret = "s3cret"\n' + ROLES, "client_secret.*is not a setting"),
        (LEAST + 'client_secret_file = "none"\n' + ROLES, "cannot be read"),
        ("[", "cannot be read as TOML"),
        ("a=" + "[" * 20_000, "cannot be read as TOML"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, match: str) -> None:
    with pytest.raises(InvalidInput, match=match) as caught:
        read(tmp_path, text)
    assert "s3cret" not in str(caught.value), "a secret in the wrong place is not repeated"


def test_the_manual_shows_what_can_be_read(tmp_path: Path) -> None:
    page = (Path(__file__).parents[4] / "docs/how-to/operate/single-sign-on.md").read_text(encoding="utf-8")
    first, second = (dedent(block) for block in re.findall(r"```toml\n(.*?)```", page, re.DOTALL))
    settings = read(tmp_path, second.partition("[sites]")[0] + first + "[sites]" + second.partition("[sites]")[2])
    assert settings.roles == {"crew-admins": "admin", "crew-managers": "manager", "floor": "viewer"}
    assert settings.sites == {"4711": ("north",), "4712": ("south", "dock"), "headquarters": None}
    known = set(
        re.findall(r"`(?:\[)?([a-z_]+)(?:\])?`", page.partition("## All settings")[2].partition("## Users who")[0])
    )
    assert known >= _KEYS, "a setting that the manual does not name"


def test_two_providers_have_two_names(tmp_path: Path) -> None:
    signing = read(tmp_path, LEAST + ROLES)
    with pytest.raises(InvalidInput, match="two providers"):
        providers_of(None, Settings(sign_on=(signing, signing)))  # type: ignore[arg-type] # before it is used
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_sign_on(tmp_path / "none.toml")
