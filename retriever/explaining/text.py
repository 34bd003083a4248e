"""An explanation as text, in English or Korean, without parts that do not contribute."""

from collections.abc import Iterator, Mapping

from base.amounts import plain
from base.terminal.columns import line_width, table, wrap, wrapped_table
from base.terminal.output import shortened, visible
from retriever.explaining.accounts import Account
from retriever.explaining.words import ExplanationLanguage, Say, words_of

ORIGINS: Mapping[str, str] = {
    "own": "own words",
    "user": "user's glossary",
    "corpus": "corpus's glossary",
    "general": "general glossary",
    "abbreviation": "abbreviation",
    "sound": "by its sound",
    "segmentation": "by its parts",
    "synonym": "synonyms",
}
INDENT = "  "


def explanation_lines(account: Account, language: ExplanationLanguage = "en") -> Iterator[str]:
    """Yield the lines: concepts, other contributions, the first query's BM25, the parts of the score."""
    say = words_of(language)
    yield f"{account.passage_id} [{account.method}]  {shortened(account.title)}"
    if account.concepts:
        yield from _concepts(account, say)
        yield from _counterparts(account, say)
    for token, nears in account.spellings.items():
        yield say("near spellings of {token}: {nears}", token=token, nears=", ".join(nears))
    if account.feedback:
        terms = ", ".join(_held(term.term, term.held, say) for term in account.feedback)
        yield from _wrapped(say("feedback from the best passages: {terms}", terms=terms))
    yield from _second_search(account, say)
    if account.constraints:
        rows = [(say("constraint"), say("counts against it"))]
        rows += [(constraint.text, f"{constraint.share:.2f}") for constraint in account.constraints]
        yield from table(rows, words=1)
    yield from _terms(account, say)
    yield from _parts(account, say)
    yield summary(account, language)


def summary(account: Account, language: ExplanationLanguage = "en") -> str:
    """Return one line with the rank of the passage."""
    say = words_of(language)
    if account.rank is None:
        return say(
            "not among the first {depth} by method {method}", depth=account.depth, method=account.method
        )
    said = say("rank {rank} by method {method}", rank=account.rank, method=account.method)
    if account.reranker:
        said += say(", read again by {reranker}", reranker=account.reranker)
    if account.shown != account.passage_id:
        said += say("; the paper is shown by {shown}", shown=account.shown)
    return said


def _held(text: str, held: bool, say: Say) -> str:
    return say("{text} (held)", text=text) if held else text


def _concepts(account: Account, say: Say) -> Iterator[str]:
    rows = [tuple(map(say, ("concept", "scored by", "weights", "importance", "BM25", "adds")))]
    for concept in account.concepts:
        of = concept.scored.concept
        weights = " ".join(plain(max(word.spellings.values())) for word in of.words)
        by, score = concept.by, concept.scored.score
        origin = say(ORIGINS.get(by.get("origin", ""), ""))
        scored_by = f"{by['text']} ({origin})" if concept.scored.by else origin or "–"
        numbers = f"{of.importance:.3f}", f"{score:.3f}", f"{concept.contribution:.4f}"
        rows.append((of.text, scored_by, weights, *numbers))
    for lines in wrapped_table(rows, words=3):
        yield from lines


def _counterparts(account: Account, say: Say) -> Iterator[str]:
    rows = [
        (concept.scored.concept.text, other.text, say(ORIGINS.get(other.origin, other.origin)))
        for concept in account.concepts
        for other in concept.scored.concept.counterparts
    ]
    header = say("concept"), say("counterpart"), say("from")
    for lines in wrapped_table([header, *rows]) if rows else ():
        yield from lines


def _second_search(account: Account, say: Say) -> Iterator[str]:
    if not account.bridges:
        return
    names = ", ".join(account.names)
    yield from _wrapped(say("second search: the question names {names}", names=names))
    named: dict[str, list[str]] = {}
    for each in account.bridges:
        named.setdefault(each.passage_id, []).append(_held(each.text, each.held, say))
    for passage_id, texts in named.items():
        found = say("{passage} names {names}", passage=passage_id, names=", ".join(texts))
        yield from _wrapped(f"{INDENT}{found}")
    yield from _wrapped(INDENT + say("left open: {words}", words=", ".join(account.uncovered)))


def _terms(account: Account, say: Say) -> Iterator[str]:
    if not account.terms:
        return
    if not account.sent:
        yield say("BM25 of the question, by which nothing is ordered:")
    elif account.concepts:
        yield say("BM25 of the first query, which finds candidates:")
    else:
        yield say("BM25 of the first query:")
    rows = [tuple(map(say, ("term", "field", "tf", "df", "idf", "weight", "score")))]
    for term in account.terms:
        counts = plain(term.frequency), str(term.document_frequency)
        numbers = f"{term.idf:.3f}", plain(term.weight), f"{term.score:.4f}"
        rows.append((term.token, say(term.field), *counts, *numbers))
    rows.append((say("BM25"), *[""] * 5, f"{account.score:.4f}"))
    yield from table(rows, words=2)


def _parts(account: Account, say: Say) -> Iterator[str]:
    if account.features:
        rows = [tuple(map(say, ("part", "value", "weight", "score")))]
        for part, (value, weight) in account.features.items():
            if value:
                rows.append((say(part), f"{value:.4f}", plain(weight), f"{value * weight:.4f}"))
        total = sum(value * weight for value, weight in account.features.values())
        rows.append((say("score"), "", "", f"{total:.4f}"))
        yield from table(rows, words=1)
    elif account.order_score is not None:
        yield say("score: {score}", score=f"{account.order_score:.4f}")
    if account.cosine is not None:
        yield say("cosine of the vectors: {cosine}", cosine=f"{account.cosine:.4f}")


def _wrapped(text: str) -> Iterator[str]:
    indent = text[: len(text) - len(text.lstrip())]
    for place, line in enumerate(wrap(visible(text), line_width() - len(INDENT) - len(indent))):
        yield f"{indent}{INDENT if place else ''}{line}"
