"""Reference lists as documents."""

from collections.abc import Iterable, Mapping
from typing import Any

from base.documents.blocks import Document, Paragraph
from retriever.citing.reference_list import ReferenceList, reference_list
from retriever.reference import reference_of


def entries_of(made: ReferenceList) -> tuple[Paragraph, ...]:
    """Return the entries of a reference list as paragraphs."""
    return tuple(Paragraph(entry.runs, "reference") for entry in made.entries)


def list_document(style: str, records: Iterable[Mapping[str, Any]]) -> Document:
    """Return the reference list of papers' records, without a heading; raises as `reference_list`."""
    references = list(map(reference_of, records))
    korean = sum(reference.language == "ko" for reference in references)
    entries = entries_of(reference_list(style, references))
    return Document(entries, "ko" if 2 * korean > len(references) else "en")
