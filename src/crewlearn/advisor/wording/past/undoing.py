"""Undoing the last answer, or answers given together, and describing it in words."""

from crewlearn.advisor.advice import commands
from crewlearn.advisor.ledger.errors import Conflict, NotTheLastAnswer
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.wording.past.narration import answer_told
from crewlearn.language import _


def undo(store: Store, name: str, actor: str, *, expected: int | None = None, number: int | None = None) -> str:
    """Take back the last answer, as `commands.undo` does; return it in words."""
    try:
        return answer_told(commands.undo(store, name, actor, expected=expected, number=number))
    except NotTheLastAnswer as error:
        remedy = _("that is no longer the last answer, which is: {answer_told}", answer_told=answer_told(error.last))
        raise Conflict(error.field, error.value, remedy) from error
