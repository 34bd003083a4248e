"""Answers and traces as terminal output."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.text import Text

from base.terminal.columns import wrapped_table
from base.terminal.output import STEERING, echo, echo_lines, shortened, styled, time_with_start, visible
from base.terminal.progress_bar import SHOWN_EVERY, error_console
from generator.answers.answer import (
    CHECK_WORDS,
    EXTRACTIVE,
    HEADINGS,
    SECTIONS,
    Answer,
    Sentence,
    cited,
    likelihood_line,
    not_checked_line,
    quoted,
    searched_line,
)
from generator.answers.model_answer import readable
from generator.checking import Hint
from generator.pipeline import AskResult
from generator.tracing import Listener, StepEvent, Trace
from indexer.corpora.papers import Language, language_of_question
from retriever.stages.hits import Hit, unknown_words_note

MARKS = {"supported": "✓", "unsupported": "✗", "not checked": "?", "excluded": "⊘"}
HINTS = {
    "citation": "nothing is cited",
    "number": "number not found: {text}",
    "unit": "number with this unit not found: {text}",
    "name": "name not found: {text}",
    "judge": "{text}",
}
STYLES = {"supported": "green", "unsupported": "red", "not checked": "yellow", "excluded": "yellow"}
SHOWN_CHARACTERS = 200  # of a step's output
INDENT = "  "


def answer_line(event: StepEvent, width: int) -> str:
    """Format the running step and the end of its model's text; "" for events that show nothing."""
    if event.kind not in {"started", "growth"}:
        return ""
    if not event.growth:
        return event.step.name
    written = readable(event.growth.text).rpartition("\n")[2]
    room = max(20, width - 40)
    shown = written if len(written) <= room else f"…{written[-room:]}"
    return f"{event.step.name}: {event.growth.pieces} tokens  {shown}"


@contextmanager
def live_progress(line_of: Callable[[StepEvent, int], str] = answer_line) -> Iterator[Listener | None]:
    """Show progress lines on standard error if it is a terminal; `line_of` takes an event and the width."""
    screen = error_console()
    if not screen.is_terminal:
        yield None
        return
    with screen.status("searching", refresh_per_second=1 / SHOWN_EVERY) as status:

        def show(event: StepEvent) -> None:
            if line := line_of(event, screen.width):
                status.update(Text(STEERING.sub(" ", line)))

        yield show


def show_answer(asked: AskResult) -> None:
    """Print evidence, likelihood and answer; for an abstention, the answer and then the nearest papers."""
    answer, result = asked.answer, asked.result
    if result.question != asked.trace.record["request"]["question"]:
        echo()
        echo(searched_line(answer.language, result.question))
    if not answer.abstained:
        _show_papers("evidence", asked.evidence)
    echo()
    if line := likelihood_line(answer.language, result.likelihood):
        echo(line)
        echo()
    mark = answer.title_check and styled(f" {MARKS[answer.title_check]}", fg=STYLES[answer.title_check])
    echo(styled(shortened(quoted(answer.title)), bold=True), mark or "")
    _show_hints(answer.title_hints)
    if answer.statement:
        echo()
        echo(answer.statement)
    headings = HEADINGS["ko" if answer.language == "ko" else "en"]
    numbers = {hit.passage_id: hit.rank for hit in asked.evidence}
    for section in ("passages", *SECTIONS):
        sentences = [sentence for sentence in answer.sentences if sentence.section == section]
        if sentences:
            echo()
            if section != "passages":  # the title is its heading
                echo(styled(headings[section], bold=True))
            for sentence in sentences:
                _show_sentence(sentence, answer.language, numbers)
    if answer.abstained:
        _show_papers(headings["nearest"], asked.evidence)
    echo()
    _show_how_written(answer)
    echo(f"{result.milliseconds['total']:,.0f} ms, {time_with_start()}", err=True)


def _show_papers(heading: str, hits: Sequence[Hit]) -> None:
    """Print papers with their numbers and scores."""
    rows = [("", "score", "passage", "year", "lang", "title")]
    for hit in hits:
        passage = hit.passage
        found = f"[{hit.rank}]", f"{hit.score:.4f}", hit.passage_id, str(passage.year or ""), passage.lang
        rows.append((*found, shortened(passage.title) or "(no title)"))
    if hits:
        echo()
        echo(styled(heading, bold=True))
        for lines in wrapped_table(rows):
            echo_lines(lines)
        echo_lines(f"[{hit.rank}] {visible(remark)}" for hit in hits for remark in hit.remarks())


def _show_sentence(sentence: Sentence, language: Language, numbers: Mapping[str, int]) -> None:
    """Print a sentence with its papers and its check; a quoted sentence becomes a list item."""
    papers = ", ".join(str(numbers.get(passage_id, passage_id)) for passage_id in sentence.citations)
    text = cited(sentence.text, papers)
    if sentence.check == "quoted":
        word = CHECK_WORDS["ko" if language == "ko" else "en"]["quoted"]
        echo(f"- {text} ", styled(f"({word})", dim=True))
    else:
        echo(text, " ", styled(MARKS[sentence.check], fg=STYLES[sentence.check]))
    _show_hints(sentence.hints)


def _show_hints(hints: Sequence[Hint]) -> None:
    if hints:
        texts = (
            HINTS[hint.code].format(text=shortened(quoted(hint.values.get("text", "")))) for hint in hints
        )
        echo(styled(f"{INDENT}{'; '.join(texts)}", dim=True))


def _show_how_written(answer: Answer) -> None:
    """Print the writer of the answer and a legend of the marks."""
    if answer.written_by != EXTRACTIVE:
        echo(f"written by {answer.written_by}", err=True)
    elif answer.sentences:
        echo(not_checked_line(answer.language), err=True)
    checks = {sentence.check for sentence in answer.sentences}
    if checks - {"quoted"}:
        excluded = "  ⊘ excluded" if "excluded" in checks else ""
        echo(f"✓ supported  ✗ unsupported  ? not checked{excluded}", err=True)
        by = f"checked by {answer.checked_by}" if answer.checked_by else "no model has checked the sentences"
        echo(by, err=True)


def saved_lines(trace: Trace) -> Iterator[str]:
    """Yield the lines of a saved trace: question, tree of steps, evidence and answer."""
    record = trace.record
    index, request, answer = record["index"], record["request"], record["answer"]
    language = language_of_question(request["question"])
    yield request["question"]
    yield ""
    yield (
        f"index {index['name']}, version {index['version']}, {record['started']}, way {request['way']}, "
        f"method {request['method']}, {record['milliseconds']:,.0f} ms"
    )
    yield ""
    for step in record["steps"]:
        yield from step_lines(step)
    yield ""
    if answer.get("abstained"):
        yield HEADINGS["ko" if language == "ko" else "en"]["nearest"]
    for hit in record["evidence"]:
        yield f"[{hit['rank']}] {hit['score']:.4f} {hit['passage_id']} {shortened(hit['title'])}"
    yield ""
    if line := likelihood_line(language, record.get("likelihood")):
        yield line
    yield quoted(answer["title"])
    for sentence in answer["sentences"]:
        yield f"- {cited(sentence['text'], ', '.join(sentence['citations']))} ({sentence['check']})"
    unknown = unknown_words_note(language, record.get("unknown_words", ()))
    for note in filter(None, (*record["notes"], unknown)):
        yield f"note: {note}"


def step_lines(step: Mapping[str, Any], depth: int = 0) -> list[str]:
    """Format a step of a saved trace and its inner steps: one line each, outputs indented."""
    spent, output = step["milliseconds"], step["output"]
    parts = ["running" if spent is None else f"{spent:.0f} ms"]
    parts += [
        f"{word}: {step[key]}"
        for key, word in (("error", "failed"), ("fallback", "instead"))
        if step.get(key)
    ]
    parts += _call_parts(step.get("model_call") or {})
    lines = [f"{step['name']}: {'; '.join(parts)}"]
    if output is not None:
        lines += [INDENT + line for line in OUTPUT_LINES.get(step["name"], _as_json)(output)]
    lines = [INDENT * depth + line for line in lines]
    for inner in step["steps"]:
        lines += step_lines(inner, depth + 1)
    return lines


def _call_parts(call: Mapping[str, Any]) -> list[str]:
    """Format a model call: tokens, requests, times, and shortened passages."""
    parts = [call["model"]] if call.get("model") else []
    if call.get("prompt_tokens") is not None:
        parts.append(f"{call['prompt_tokens']} + {call['completion_tokens']} tokens")
    if call.get("attempts"):
        parts.append(f"{call['attempts']} requests" + (", repaired" if call.get("repaired") else ""))
    if times := call.get("milliseconds"):
        parts.append(", ".join(f"{name.replace('_', ' ')} {spent:.0f} ms" for name, spent in times.items()))
    cuts = (call.get("context") or {}).get("shortened", ())
    return parts + [
        f"{cut['passage_id']} cut to {cut['characters']} of {cut['of']} characters" for cut in cuts
    ]


def _as_json(output: Any) -> list[str]:
    text = json.dumps(output, ensure_ascii=False)
    return [text if len(text) <= SHOWN_CHARACTERS else f"{text[: SHOWN_CHARACTERS - 1]}…"]


def _strategy_lines(output: Any) -> list[str]:
    lists = {name: value for name, value in output.items() if value and name != "origin"}
    return [f"{name} {_as_json(value)[0]}" for name, value in lists.items()]


def _search_lines(output: Any) -> list[str]:
    keywords = ", ".join(f"{keyword['text']} ({keyword['weight']})" for keyword in output["keywords"])
    queries = [f"{query['hits']:>3}  {query['query']}" for query in output["queries"]]
    return [f"keywords {keywords}", *queries]


def _answer_line(output: Any) -> list[str]:
    return [f"{output['title']} ({len(output['sentences'])} sentences)"]


# Formatters of step outputs by step name; other outputs are shown as JSON.
OUTPUT_LINES: dict[str, Callable[[Any], list[str]]] = {
    **dict.fromkeys(("strategy", "keywords"), _strategy_lines),
    "search": _search_lines,
    "answer": _answer_line,
    "quotation": _answer_line,
}
