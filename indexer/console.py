"""Output of commands: descriptions of an index, and results of builds and harvests."""

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from base.amounts import counted
from base.files.durable import describe_error
from base.terminal.output import echo, echo_lines, time_with_start
from indexer.analysis import UserDictionary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indexer.harvest import HarvestReport
    from indexer.ingest import IngestReport
    from indexer.versions.manifest import Manifest

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


def describe_counts(counts: dict[str, int]) -> list[str]:
    """Format the outcomes of a build's records, one line each."""
    lines = [
        f"{counted(counts[key], 'record')} {words}" for key, words in COUNTED_AS.items() if counts.get(key)
    ]
    return lines + ([f"{counted(encoded, 'passage')} encoded"] if (encoded := counts.get("encoded")) else [])


def report_record(report: "IngestReport") -> dict[str, Any]:
    """Return the result of a build as JSON."""
    record = as_record(report.manifest) | {"seconds": round(report.seconds, 3)}
    record["dead_letters"] = [
        {"file": letter.file, "line": letter.line, "reason": letter.reason} for letter in report.dead_letters
    ]
    record["dead_letter_kinds"] = {kind: count for kind, (_, count) in report.letters.kinds.items()}
    if report.dead_letter_file:
        record["dead_letter_file"] = str(report.dead_letter_file)
    record["is_published"] = report.is_published
    record["files"] = asdict(report.files)
    record["formats"] = report.formats
    record["left_out"] = report.left_out.as_record()
    return record


def show_report(report: "IngestReport") -> None:
    """Print the result of a build; what was left out goes to standard error."""
    manifest = report.manifest
    read = manifest.counts["records"] + manifest.counts.get("unchanged", 0)
    rate = read / report.seconds if report.seconds else 0
    state = "" if report.is_published else " (nothing changed)"
    echo(
        f"index {manifest.name!r}, version {manifest.version}{state}: {size_of(manifest)}, "
        f"{counted(read, 'record')} read in {report.seconds:.1f} s ({rate:,.0f} per second), "
        f"{time_with_start()}"
    )
    counts = {key: count for key, count in manifest.counts.items() if key != "records"}
    for line in [*describe_counts(counts), describe_glossary(manifest)]:
        echo(f"  {line}")
    if 2 * counts.get("incomplete", 0) > manifest.counts["records"]:
        echo(
            "  note: most of these records have no abstract; searches leave such papers out, "
            "unless SHRAG_DROP_INCOMPLETE=false",
            err=True,
        )
    if changes := report.files.described():
        echo(f"  files: {changes}")
    if sum(report.formats.values()) > 1:
        echo(f"  formats: {counts_by_name(report.formats)}")
    echo_lines((f"  {line}" for line in report.left_out.described()), err=True)
    if kinds := report.letters.kinds.values():
        written = report.letters.written
        share = "all" if written == manifest.counts["dead_letters"] else f"the first {written:,}"
        *others, last = [f"  {letter.described}{_more(count - 1)}" for letter, count in kinds]
        echo_lines([*others, f"{last}; {share} in {report.dead_letter_file}"], err=True)


def _more(count: int) -> str:
    return f" (and {count:,} more of this kind)" if count else ""


def harvest_record(name: str, report: "HarvestReport") -> dict[str, Any]:
    """Return the result of a harvest as JSON."""
    built = report_record(report.built) if report.built else {"name": name}
    failed = {"error": describe_error(report.failure)} if report.failure else {}
    return built | {"harvest": report.as_record() | failed}


def show_harvest(name: str, report: "HarvestReport") -> None:
    """Print the result of a harvest; notes go to standard error."""
    echo(f"{report.repository.name}: {_listed(report)}")
    if report.built:
        show_report(report.built)
    else:
        echo(f"index {name!r}: no record has changed, nothing was published")
    echo_lines((f"  note: {note}" for note in report.listed.notes), err=True)


def _listed(report: "HarvestReport") -> str:
    listed = report.listed
    scope = f"changed since {listed.from_}" if listed.from_ else "of the complete list"
    parts = [f"{counted(listed.pages, 'page')}, {counted(listed.records, 'record')} {scope}"]
    if listed.missing_removed:
        parts.append(f"{counted(listed.missing_removed, 'known record')} missing")
    if listed.restarts:
        parts.append(f"{counted(listed.restarts, 'restart')}")
    if listed.retries:
        parts.append(f"{listed.retries:,} of {counted(listed.requests, 'request')} repeated")
    return ", ".join(parts)
