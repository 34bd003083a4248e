"""Calls of kept searches: saving, reading, and continuing by another call."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from base.errors import InvalidCall
from base.notes import Note
from generator.finding.calls import FindCall
from server.errors import SearchUnusable


def fields_of(call: FindCall) -> dict[str, Any]:
    """Return the fields that a call sets, to be saved with the search."""
    return {name: value for name, value in call.given_values().items() if name != "resume"}


def kept_call(saved: Mapping[str, Any]) -> FindCall:
    """Return the call of a kept search; raise SearchUnusable if it is invalid."""
    try:
        return FindCall.model_validate(saved)
    except ValidationError as error:
        raise SearchUnusable("the request of the kept search cannot be read") from error


def resuming_call(call: FindCall, saved: Mapping[str, Any]) -> FindCall:
    """Return a call whose omitted fields have the values of a kept search.

    Args:
        call: the call that resumes the search.
        saved: the fields of the kept search.

    Raises:
        InvalidCall: the call names another question, index or source.
        SearchUnusable: the saved call is invalid.
    """
    kept, whole = kept_call(saved), kept_call({**saved, **fields_of(call)})
    if whole.question != kept.question:
        raise InvalidCall(Note("kept_of_another_question", question=str(kept.question)[:200]))
    if (whole.index, whole.sources) != (kept.index, kept.sources):
        names = ", ".join(kept.sources)
        raise InvalidCall(
            Note("kept_in_sources", sources=names) if names else Note("kept_in_index", index=str(kept.index))
        )
    return whole
