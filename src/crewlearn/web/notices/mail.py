"""Sending a message by SMTP, encrypted unless the mail server is on this machine."""

import smtplib
import ssl
from collections.abc import Mapping
from email.message import EmailMessage
from email.utils import formatdate, make_msgid

from crewlearn.web.notices.posting import Outcome
from crewlearn.web.settings import MailSettings

MAIL_SECONDS = 20.0
"""Seconds that a mail server may take for each of its answers."""


def send_mail(
    settings: MailSettings,
    to: str,
    subject: str,
    text: str,
    html: str = "",
    headers: Mapping[str, str] | None = None,
    attached: tuple[str, str] | None = None,
) -> Outcome:
    """Send a message in plain text and, if given, HTML; a mail server that went silent at the end may have taken it.

    `attached` is the name of a text file and what is in it.
    """
    message = EmailMessage()
    message["From"], message["To"] = settings.sender, to
    message["Subject"] = " ".join(subject.split())
    message["Date"], message["Message-ID"] = formatdate(), make_msgid(domain=settings.sender.rpartition("@")[2])
    message["Auto-Submitted"] = "auto-generated"
    for name, value in (headers or {}).items():
        message[name] = value
    message.set_content(text)
    if html:
        message.add_alternative(html, subtype="html")
    if attached is not None:
        message.add_attachment(attached[1], filename=attached[0])
    try:
        server = _connected(settings)
    except (OSError, smtplib.SMTPException) as error:
        return Outcome(False, f"the mail server cannot be used ({_told(error)})")
    try:
        server.send_message(message)
        return Outcome(True, "the mail server took it")
    except smtplib.SMTPServerDisconnected as error:
        return Outcome(False, f"the mail server did not answer ({_told(error)})", unclear=True)
    except smtplib.SMTPException as error:
        return Outcome(False, f"the mail server refused it ({_told(error)})")
    except OSError as error:
        return Outcome(False, f"the mail server did not answer ({_told(error)})", unclear=True)
    finally:
        server.close()


def _connected(settings: MailSettings) -> smtplib.SMTP:
    """Return a connection to the mail server, encrypted and signed in as set."""
    context = ssl.create_default_context()
    server: smtplib.SMTP
    if settings.security == "tls":
        server = smtplib.SMTP_SSL(settings.host, settings.port, timeout=MAIL_SECONDS, context=context)
    else:
        server = smtplib.SMTP(settings.host, settings.port, timeout=MAIL_SECONDS)
    try:
        if settings.security == "starttls":
            server.starttls(context=context)
        if settings.user:
            server.login(settings.user, settings.password)
    except BaseException:
        server.close()
        raise
    return server


def _told(error: Exception) -> str:
    """Return an error in a few words; addresses and the server's answer, never what was sent."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        code, refusal = next(iter(error.recipients.values()))
        return f"{code} {refusal.decode(errors='replace')}"[:150]
    if isinstance(error, smtplib.SMTPResponseException):
        answered: bytes | str = error.smtp_error
        words = answered.decode(errors="replace") if isinstance(answered, bytes) else answered
        return f"{error.smtp_code} {words}"[:150]
    text = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
    return " ".join(text.split())[:150]
