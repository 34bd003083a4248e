"""Output of the commands that build an index: what was read, listed and published."""

from dataclasses import asdict
from typing import Any

from base.amounts import counted
from base.remedies import describe_error
from base.terminal.output import echo, echo_lines
from indexer.console import as_record, counts_by_name, describe_counts, describe_glossary, size_of
from indexer.harvest import HarvestReport
from indexer.ingest import IngestReport

SHOWN_LETTERS = 3  # dead letters in the output


def report_record(report: IngestReport) -> dict[str, Any]:
    """Return the result of a build as JSON."""
    record = as_record(report.manifest) | {"seconds": round(report.seconds, 3)}
    record["dead_letters"] = [
        {"file": letter.file, "line": letter.line, "reason": letter.reason} for letter in report.dead_letters
    ]
    if report.dead_letter_file:
        record["dead_letter_file"] = str(report.dead_letter_file)
    record["is_published"] = report.is_published
    record["files"] = asdict(report.files)
    record["formats"] = report.formats
    record["left_out"] = report.left_out.as_record()
    return record


def show_report(report: IngestReport) -> None:
    """Print the result of a build; what was left out goes to standard error."""
    manifest = report.manifest
    read = manifest.counts["records"] + manifest.counts.get("unchanged", 0)
    rate = read / report.seconds if report.seconds else 0
    state = "" if report.is_published else " (nothing changed)"
    echo(
        f"index {manifest.name!r}, version {manifest.version}{state}: {size_of(manifest)}, "
        f"{counted(read, 'record')} read in {report.seconds:.1f} s ({rate:,.0f} per second)"
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
    if letters := report.dead_letters:
        written = report.dead_letters_written
        share = "all" if written == manifest.counts["dead_letters"] else f"the first {written:,}"
        *others, last = [f"  {letter.described}" for letter in letters[:SHOWN_LETTERS]]
        echo_lines([*others, f"{last}; {share} in {report.dead_letter_file}"], err=True)


def harvest_record(name: str, report: HarvestReport) -> dict[str, Any]:
    """Return the result of a harvest as JSON."""
    built = report_record(report.built) if report.built else {"name": name}
    failed = {"error": describe_error(report.failure)} if report.failure else {}
    return built | {"harvest": report.as_record() | failed}


def show_harvest(name: str, report: HarvestReport) -> None:
    """Print the result of a harvest; notes go to standard error."""
    echo(f"{report.repository.name}: {_listed(report)}")
    if report.built:
        show_report(report.built)
    else:
        echo(f"index {name!r}: no record has changed, nothing was published")
    echo_lines((f"  note: {note}" for note in report.listed.notes), err=True)


def _listed(report: HarvestReport) -> str:
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
