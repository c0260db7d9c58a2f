"""Encrypted deliveries to receivers with a certificate of their own: https, STARTTLS and TLS from the start."""

import shutil
import socket
import ssl
import subprocess
from pathlib import Path

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Sink

from crewlearn.web.notices import posting
from crewlearn.web.notices.mail import send_mail
from crewlearn.web.notices.posting import post
from crewlearn.web.settings import MailSettings
from support.web.receiving import HERE, receiver


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for localhost, with its key in the same file."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl here to make a certificate with")
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    making = (
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost"
    )
    done = subprocess.run([*making.split(), "-keyout", "-", "-out", "-"], capture_output=True, check=True)
    file.write_bytes(done.stdout)
    return file


def server_side(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def test_https_goes_to_the_checked_address_in_the_name_of_the_host(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with receiver() as here:
        here.encrypt(server_side(certificate))
        url = here.url.replace("http://127.0.0.1", "https://localhost")
        assert "certificate verify failed" in post(url, b"{}", {}, HERE).words
        monkeypatch.setattr(posting, "_tls", lambda: ssl.create_default_context(cafile=str(certificate)))
        assert post(url, b"{}", {}, HERE).taken
        assert "not valid for" in post(url.replace("localhost", "127.0.0.1"), b"{}", {}, HERE).words
        assert [got.headers["Host"] for got in here.got] == [f"localhost:{here.port}"]


@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_mail_is_encrypted_and_the_certificate_checked(
    certificate: Path, monkeypatch: pytest.MonkeyPatch, security: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    by_starttls = security == "starttls"
    context = server_side(certificate)
    controller = Controller(
        Sink(),
        hostname="127.0.0.1",
        port=port,
        ssl_context=None if by_starttls else context,
        tls_context=context if by_starttls else None,
        require_starttls=by_starttls,
        server_hostname="localhost",
    )
    controller.start()
    try:
        settings = MailSettings("localhost", "crew@example.org", port, security=security)
        refused = send_mail(settings, "ben@example.org", "hi", "text", "<p>text</p>")
        assert "certificate verify failed" in refused.words
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert send_mail(settings, "ben@example.org", "hi", "text", "<p>text</p>").taken
    finally:
        controller.stop()
