"""An explanation as the lines that a person reads; only what had a part is in them."""

from collections.abc import Iterator, Mapping

from indexer.columns import line_width, table, wrap, wrapped_table
from indexer.requests import plain
from indexer.terminal import shortened, visible
from retriever.accounts import Account

ORIGINS: Mapping[str, str] = {
    "own": "own words",
    "user": "user's glossary",
    "corpus": "corpus's glossary",
    "general": "general glossary",
    "abbreviation": "abbreviation",
    "sound": "by its sound",
    "synonym": "synonyms",
}
INDENT = "  "


def explanation_lines(account: Account) -> Iterator[str]:
    """Yield the lines: concepts, what else had a part, the first query's BM25, the parts of the score."""
    yield f"{account.passage_id} [{account.method}]  {shortened(account.title)}"
    if account.concepts:
        yield from _concepts(account)
        yield from _counterparts(account)
    for token, nears in account.spellings.items():
        yield f"near spellings of {token}: {', '.join(nears)}"
    if account.feedback:
        terms = (f"{term.term}{' (held)' if term.held else ''}" for term in account.feedback)
        yield from _wrapped("feedback from the best passages: " + ", ".join(terms))
    yield from _second_hop(account)
    if account.constraints:
        rows = [("constraint", "counts against it")]
        rows += [(constraint.text, f"{constraint.share:.2f}") for constraint in account.constraints]
        yield from table(rows, words=1)
    yield from _terms(account)
    yield from _parts(account)
    yield account.summary


def _concepts(account: Account) -> Iterator[str]:
    rows = [("concept", "scored by", "weights", "importance", "BM25", "adds")]
    for concept in account.concepts:
        of = concept.scored.concept
        weights = " ".join(plain(max(word.spellings.values())) for word in of.words)
        by, score = concept.by, concept.scored.score
        origin = ORIGINS.get(by.get("origin", ""), "")
        scored_by = f"{by['text']} ({origin})" if concept.scored.by else origin or "–"
        numbers = f"{of.importance:.3f}", f"{score:.3f}", f"{concept.contribution:.4f}"
        rows.append((of.text, scored_by, weights, *numbers))
    for lines in wrapped_table(rows, words=3):
        yield from lines


def _counterparts(account: Account) -> Iterator[str]:
    rows = [
        (concept.scored.concept.text, other.text, ORIGINS.get(other.origin, other.origin))
        for concept in account.concepts
        for other in concept.scored.concept.counterparts
    ]
    for lines in wrapped_table([("concept", "counterpart", "from"), *rows]) if rows else ():
        yield from lines


def _second_hop(account: Account) -> Iterator[str]:
    if not account.bridges:
        return
    yield from _wrapped(f"second search: the question names {', '.join(account.names)}")
    named: dict[str, list[str]] = {}
    for each in account.bridges:
        text = f"{each.bridge.text}{' (held)' if each.held else ''}"
        named.setdefault(each.bridge.passage_id, []).append(text)
    for passage_id, texts in named.items():
        yield from _wrapped(f"{INDENT}{passage_id} names {', '.join(texts)}")
    yield from _wrapped(f"{INDENT}left open: {', '.join(account.uncovered)}")


def _terms(account: Account) -> Iterator[str]:
    if not account.explanation.terms:
        return
    use = ", which finds candidates" if account.concepts else ""
    yield (
        f"BM25 of the first query{use}:"
        if account.sent
        else "BM25 of the question, by which nothing is ordered:"
    )
    rows: list[tuple[str, ...]] = [("term", "field", "tf", "df", "idf", "weight", "score")]
    for term in account.explanation.terms:
        counts = plain(term.frequency), str(term.document_frequency)
        numbers = f"{term.idf:.3f}", plain(term.weight), f"{term.score:.4f}"
        rows.append((term.token, term.field, *counts, *numbers))
    rows.append(("BM25", *[""] * 5, f"{account.explanation.score:.4f}"))
    yield from table(rows, words=2)


def _parts(account: Account) -> Iterator[str]:
    if account.features:
        rows = [("part", "value", "weight", "score")]
        for part, (value, weight) in account.features.items():
            if value:
                rows.append((part, f"{value:.4f}", plain(weight), f"{value * weight:.4f}"))
        total = sum(value * weight for value, weight in account.features.values())
        rows.append(("score", "", "", f"{total:.4f}"))
        yield from table(rows, words=1)
    elif account.score is not None:
        yield f"score: {account.score:.4f}"
    if account.cosine is not None:
        yield f"cosine of the vectors: {account.cosine:.4f}"


def _wrapped(text: str) -> Iterator[str]:
    indent = text[: len(text) - len(text.lstrip())]
    for place, line in enumerate(wrap(visible(text), line_width() - len(INDENT) - len(indent))):
        yield f"{indent}{INDENT if place else ''}{line}"
