"""The checks and a whole question, with all addresses refused except the configured ones."""

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from generator.pipeline import Settings, answer_question, run
from generator.ways import make_request
from indexer.ingest import IngestRequest, build_index
from indexer.settings import IndexerSettings
from retriever.index import open_index
from stack.doctor.checks import answers, examine
from stack.doctor.checks.serving import server_settings
from stack.doctor.findings import Examined, Finding, Status, of_check
from stack.guard import Watch, only

RECORDS = Path(__file__).with_name("rehearsal.jsonl")
NAME = "rehearsal"
QUESTION = "회복탄력성은 간호사의 이직 의도를 얼마나 낮추는가?"
STACK_LINES = 12  # innermost lines shown per attempt


def addresses(settings: Settings) -> list[str]:
    """Return every address in the settings, to which data may be sent."""
    named: list[str] = []
    if settings.indexer.engine == "elasticsearch":
        named += map(str.strip, settings.indexer.elasticsearch.url.split(","))
    if settings.generator.llm.base_url:
        named.append(settings.generator.llm.base_url)
    encoder = settings.indexer.encoder
    if encoder.provider == "endpoint" and encoder.base_url:
        named.append(encoder.base_url)
    if public_url := server_settings()["public_url"]:
        named.append(public_url)
    return named


def examine_offline(examined: Examined) -> list[Finding]:
    """Run the checks and one question under guard; each other connection attempt is a finding."""
    with only(addresses(examined.settings)) as watch:
        findings = list(examine(examined))
        if not examined.index or answers(findings):
            findings += of_check("offline", _rehearse(examined))
    return [*findings, *of_check("offline", _refused(watch, examined.settings))]


def _rehearse(examined: Examined) -> Iterator[Finding]:
    try:
        if examined.index:
            answered = _ask(examined.settings, examined.index)
        else:
            with tempfile.TemporaryDirectory(prefix="shrag-doctor-") as folder:
                settings = _in_a_folder(examined.settings, Path(folder))
                build_index(IngestRequest(name=NAME, paths=(str(RECORDS),)), settings.indexer)
                answered = _ask(settings, NAME)
    except Exception as error:  # noqa: BLE001 - the attempts are shown after any error
        found = f"{type(error).__name__}: {error}"
        yield Finding("a question", "wrong", found, mend="fix the findings above first")
        return
    status, found = answered
    mend = "" if status == "ok" else "fix the language model first; the note has the reason"
    asked = examined.index or "sample records"
    yield Finding("a question", status, found, configured=asked, mend=mend)


def _in_a_folder(settings: Settings, folder: Path) -> Settings:
    """Return the settings with an embedded index in that folder."""
    indexer: IndexerSettings = settings.indexer.model_copy(
        update={"home": folder, "engine": "tantivy", "workers": 1}
    )
    return replace(settings, indexer=indexer)


def _ask(settings: Settings, name: str) -> tuple[Status, str]:
    """Ask one question, and describe the answer; a model that fails is a problem here."""
    with open_index(settings.indexer, name, settings.retriever.synonyms, follow=True) as index:
        answered = run(answer_question(index, make_request(settings, QUESTION), settings))
    answer = f"{len(answered.evidence)} passages of evidence, answer {answered.answer.written_by}"
    status: Status = "wrong" if any(step.get("fallback") for step in answered.trace.steps()) else "ok"
    return status, "; ".join((answer, *answered.result.notes))


def _refused(watch: Watch, settings: Settings) -> Iterator[Finding]:
    named = ", ".join(addresses(settings)) or "no address"
    if not watch.attempts:
        found = f"no other address was tried; {watch.passed} connections to configured addresses"
        yield Finding("addresses", "ok", found, configured=named)
    for attempt in watch.attempts:
        yield Finding(
            attempt.target,
            "wrong",
            f"{attempt.event} was tried and refused, from:\n" + "\n".join(attempt.stack[-STACK_LINES:]),
            configured=named,
            mend="the stack shows the caller; SHRAG itself uses only configured addresses",
        )
