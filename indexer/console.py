"""Descriptions of an index: lines for people, and a record for JSON."""

from collections import Counter
from typing import TYPE_CHECKING, Any

from base.amounts import counted
from indexer.analysis import UserDictionary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indexer.versions.manifest import Manifest


def describe_vectors(manifest: "Manifest") -> str:
    """Describe the encoder of the passages, and the number of vectors."""
    built = manifest.vector_fingerprint
    if not built:
        return ""
    revision = f"@{built.revision}" if built.revision else ""
    return (
        f"{counted(manifest.vector_count, 'passage')} encoded by {built.model}{revision}, "
        f"{built.dimensions} dimensions, {built.storage}"
    )


def describe_glossary(manifest: "Manifest") -> str:
    """Describe the numbers of pairs in the glossary, mined ones first."""
    sizes = manifest.glossary
    parts = [f"{counted(sizes.get('corpus', 0), 'glossary pair')} mined"]
    parts += [f"{sizes[key]:,} {words}" for key, words in GIVEN_AS.items() if sizes.get(key)]
    return ", ".join(parts)


def describe_citations(manifest: "Manifest") -> str:
    """Describe the number of references, and of references to papers of the index."""
    counts = manifest.citations
    if not counts:
        return "none stored by the release that built the index; references are looked up by id"
    if not counts["references"]:
        return "no references"
    share = counts["matched"] / counts["references"]
    parts = [
        f"{counted(counts['references'], 'reference')} of {counted(counts['citing'], 'paper')}",
        f"{counts['matched']:,} ({share:.1%}) to papers of the index",
    ]
    parts += [f"{counts[key]:,} {words}" for key, words in DROPPED_AS.items() if counts.get(key)]
    return ", ".join(parts)


def counts_by_name(counts: "Mapping[str, int]") -> str:
    """Format counts with their names, largest first: 80 pdf, 1 jsonl."""
    return ", ".join(f"{count:,} {name}" for name, count in Counter(counts).most_common())


def terms_of(dictionary: UserDictionary | None) -> int:
    """Return the number of terms of a dictionary, 0 without one."""
    return len(dictionary.entries) if dictionary else 0


def as_record(manifest: "Manifest") -> dict[str, Any]:
    """Return a version's description for JSON output."""
    names = ("name", "version", "engine", "papers", "passages", "published", "counts")
    return {name: getattr(manifest, name) for name in names}


def size_of(manifest: "Manifest") -> str:
    """Format the numbers of passages and papers."""
    return f"{counted(manifest.passages, 'passage')} of {counted(manifest.papers, 'paper')}"


DROPPED_AS = {
    "ambiguous": "to several possible papers",
    "itself": "to the paper itself",
    "duplicates": "repeated",
}
GIVEN_AS = {"user": "of a file", "general": "general ones"}
COUNTED_AS = {
    "records": "read",
    "unchanged": "unchanged, not indexed again",
    "removed": "removed",
    "replaced": "replaced by newer records with the same id",
    "duplicates": "skipped, as a later record has the same id",
    "incomplete": "without an abstract, marked incomplete",
    "cut": "cut at 1,000,000 characters",
    "dead_letters": "invalid (dead letters)",
}


def describe_counts(counts: dict[str, int]) -> list[str]:
    """Format the outcomes of a build's records, one line each."""
    lines = [
        f"{counted(counts[key], 'record')} {words}" for key, words in COUNTED_AS.items() if counts.get(key)
    ]
    return lines + ([f"{counted(encoded, 'passage')} encoded"] if (encoded := counts.get("encoded")) else [])
