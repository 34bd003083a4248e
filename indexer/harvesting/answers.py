"""Answers of a repository: pages of records, Identify, and the list of metadata formats."""

import re
from dataclasses import dataclass

from base.untrusted import one_line
from indexer.harvesting.answer_parser import IDENTIFY, LIST, ListedRecord, Malformed, parse_answer
from indexer.harvesting.datestamps import Granularity

SIZE = re.compile(r"[0-9]{1,12}")


@dataclass(frozen=True, slots=True)
class Page:
    """An answer to ListRecords: its records, or the errors of the protocol (code, message)."""

    records: tuple[ListedRecord, ...] = ()
    token: str = ""  # of the next page, "" on the last one
    size: int = 0  # of the complete list, as announced; 0 if it is not
    date: str = ""  # of the response
    errors: tuple[tuple[str, str], ...] = ()
    nameless: int = 0  # records without an identifier
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class Identity:
    """The answer to Identify."""

    name: str
    granularity: Granularity
    keeps_deletions: bool  # records of deletions are persistent
    earliest: str = ""
    date: str = ""


def parse_page(content: bytes, *, record_bytes: int) -> Page:
    """Parse an answer to ListRecords. Raises `Malformed`."""
    answer, was_repaired = parse_answer(content, record_bytes)
    if not answer.errors and answer.verb != LIST:
        raise Malformed("it has no records and no error of the protocol")
    size = answer.token_attributes.get("completeListSize", "")
    return Page(
        tuple(answer.records),
        token="".join(answer.values["resumptionToken"][-1:]),
        size=int(size) if SIZE.fullmatch(size) else 0,
        date=answer.first("responseDate"),
        errors=tuple(answer.errors),
        nameless=answer.nameless,
        repaired=was_repaired,
    )


def parse_identity(content: bytes) -> Identity:
    """Parse an answer to Identify. Raises `Malformed`."""
    answer, _ = parse_answer(content, 0)
    if answer.verb != IDENTIFY:
        said = "; ".join(f"{code}: {message}" for code, message in answer.errors)
        raise Malformed(f"it does not identify itself as a repository{said and f' ({said})'}")
    version = answer.first("protocolVersion")
    if version != "2.0":
        raise Malformed(f"it has version {one_line(version) or 'none'} of the protocol, not 2.0")
    return Identity(
        name=one_line(answer.first("repositoryName")),
        granularity="second" if "T" in answer.first("granularity") else "day",
        keeps_deletions=answer.first("deletedRecord") == "persistent",
        earliest=answer.first("earliestDatestamp"),
        date=answer.first("responseDate"),
    )


def parse_prefixes(content: bytes) -> list[str]:
    """Parse the prefixes of the answer to ListMetadataFormats. Raises `Malformed`."""
    answer, _ = parse_answer(content, 0)
    return list(map(one_line, answer.values["metadataPrefix"]))
