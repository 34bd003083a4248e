"""Answers and traces for a person at a terminal."""

import json
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from generator.answers import HEADINGS, SECTIONS
from generator.pipeline import Answered
from generator.trace import Trace
from indexer.console import console

MARKS = {"supported": "✓", "unsupported": "✗", "not checkable": "?"}
STYLES = {"supported": "green", "unsupported": "red", "not checkable": "yellow"}


def show_answer(answered: Answered) -> None:
    """Print the evidence with scores, then the answer with citations and checks."""
    screen = console()
    numbers = {hit.passage_id: hit.rank for hit in answered.evidence}
    if answered.evidence:
        table = Table("", "score", "passage", "year", "lang", "title", box=None, padding=(0, 1))
        for hit in answered.evidence:
            year = str(hit.passage.year or "")
            title = hit.passage.title or "(no title)"
            found = (f"[{hit.rank}]", f"{hit.score:.4f}", Text(hit.passage_id), year, hit.passage.lang)
            table.add_row(*found, Text(title))
        screen.print(Text("\nevidence", style="bold"))
        screen.print(table)
    answer = answered.answer
    screen.print(Text(f"\n{answer.title}", style="bold"))
    headings = HEADINGS["ko" if answer.language == "ko" else "en"]
    for section in SECTIONS:
        sentences = [one for one in answer.sentences if one.section == section]
        statement = answer.statement if section == "introduction" else ""
        if not sentences and not statement:
            continue
        screen.print(Text(f"\n{headings[section]}", style="bold"))
        if statement:
            screen.print(Text(statement))
        for one in sentences:
            cited = ", ".join(str(numbers.get(passage_id, passage_id)) for passage_id in one.citations)
            line = Text(f"{one.text} [{cited}] " if cited else f"{one.text} ")
            line.append(MARKS[one.check], style=STYLES[one.check])
            screen.print(line)
    screen.print()
    score = answered.result.evidence_score
    likelihood = "" if score is None else f"; likelihood that the evidence answers {score:.2f}"
    click.echo(f"written by {answer.written_by}{likelihood}", err=True)
    click.echo("✓ supported  ✗ unsupported  ? not checkable", err=True)
    click.echo(f"{answered.result.milliseconds['total']:.0f} ms", err=True)


def _call_line(call: dict[str, Any]) -> str:
    """Tell a call of a saved trace: tokens, requests, times, what was cut for it; or its failure."""
    if "error" in call:
        return f"failed: {call['error']}"
    told = [str(call.get("model", ""))]
    if call.get("prompt_tokens") is not None:
        told.append(f"{call['prompt_tokens']} + {call.get('completion_tokens')} tokens")
    told.append(f"{call.get('attempts')} requests" + (", repaired" if call.get("repaired") else ""))
    times = call.get("milliseconds")
    if isinstance(times, dict):
        told.append(", ".join(f"{name.replace('_', ' ')} {spent:.0f} ms" for name, spent in times.items()))
    context = call.get("context") or {}
    if context.get("tokens"):
        told.append(
            f"prompt of {context['prompt_tokens']} tokens (by {context['counted_by']}) in a context of "
            f"{context['tokens']}"
        )
    told += [
        f"{one['passage_id']} cut to {one['characters']} of {one['of']} characters"
        for one in context.get("shortened", [])
    ]
    return "; ".join(told)


def show_saved(trace: Trace) -> None:
    """Print a saved trace."""
    screen = console()
    record = trace.record
    screen.print(f"{record['question']}\n", markup=False)
    index = record["index"]
    made = f"{record['started']}, method {record['method']}"
    click.echo(f"index {index['name']}, version {index['version']}, {made}")
    click.echo("keywords " + ", ".join(f"{one['text']} ({one['weight']})" for one in record["keywords"]))
    for query in record["queries"]:
        click.echo(f"  {query['hits']:>3}  {query['query']}")
    for hit in record["evidence"]:
        click.echo(f"[{hit['rank']}] {hit['score']:.4f} {hit['passage_id']} {hit['title']}")
    answer = record["answer"]
    click.echo(f"\n{answer['title']}")
    for sentence in answer["sentences"]:
        click.echo(f"- {sentence['text']} {sentence['citations']} {sentence['check']}")
    for name, call in record.get("model_calls", {}).items():
        click.echo(f"{name}: {_call_line(call)}")
    for note in record["notes"]:
        click.echo(f"note: {note}")
    click.echo("milliseconds " + json.dumps(record["milliseconds"]))
