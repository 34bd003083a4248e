"""Other forms of a question's words: long forms, abbreviations, and loanwords in Latin letters."""

from collections.abc import Collection, Iterator, Sequence
from operator import itemgetter

from indexer.analysis import Analyzer, Token
from indexer.glossary.loanwords import SpeltWord, looks_foreign
from indexer.glossary.storage import Glossary, Unit
from retriever.queries.boolean import single
from retriever.queries.keywords import Keyword, Translation, pattern_of, words_of
from retriever.question.analysis import AnalysedQuestion
from retriever.question.hangul_runs import hangul_runs

MOST_TOKENS = 4  # of a loanword: 스케줄, 링
MOST_COMPARED = 8  # words of a question; each comparison reads many words


def form_translations(
    question: AnalysedQuestion, found: Sequence[Translation], glossary: Glossary, analyzer: Analyzer
) -> list[Translation]:
    """Return other forms of the question's words, each once; loanwords only of nouns not in `found`."""
    text, tokens = question.text, question.tokens
    covered = {token for translation in found for token in translation.source}
    nouns = [token for token in tokens if question.roles[token[0]] == "noun"]
    abbreviations = _abbreviations(text, tokens, question.units, glossary, analyzer)
    return list(dict.fromkeys([*abbreviations, *_loanwords(text, nouns, covered, glossary)]))


def _abbreviations(
    text: str, tokens: Sequence[Token], units: Collection[Unit], glossary: Glossary, analyzer: Analyzer
) -> Iterator[Translation]:
    terms = [token[0] for token in tokens]
    for match in glossary.abbreviations(terms, units):
        form, inside = match.form, tokens[match.start : match.end]
        written = text[min(token[2] for token in inside) : max(token[3] for token in inside)]
        source = frozenset(terms[match.start : match.end])
        if source == frozenset(form.short_tokens):
            if form.ordinary and written.removesuffix("s") != form.short:
                continue  # can, not CAN
            analysed = analyzer.analyze(form.long)
            words, pattern = tuple(words_of(form.long, analysed)), pattern_of(analysed)
        elif form.ordinary:
            continue  # it would match all passages with the word
        else:
            words = (Keyword(form.short, "en", form.short_tokens),)
            pattern = tuple(enumerate(form.short_tokens))
        yield Translation(source, words, pattern, "abbreviation", written)


def _loanwords(
    text: str, tokens: Sequence[Token], covered: set[str], glossary: Glossary
) -> Iterator[Translation]:
    heard: dict[str, SpeltWord | None] = {}  # of each compared word
    for _, inside in hangul_runs(text, sorted(tokens, key=itemgetter(2))):
        known: set[Token] = set()
        for first, last in _spans(len(inside)):
            span = inside[first : last + 1]
            word = text[span[0][2] : span[-1][3]]
            if known.intersection(span) or covered.issuperset(token[0] for token in span):
                continue
            if word not in heard:
                if not looks_foreign(word):
                    continue
                if len(heard) == MOST_COMPARED:
                    return
                heard[word] = glossary.loanword(word)
            if english := heard[word]:
                known.update(span)
                words = (Keyword(english.word, "en", (english.token,)),)
                source = frozenset(token[0] for token in span)
                yield Translation(source, words, single(english.token), "sound", word)


def _spans(size: int) -> Iterator[tuple[int, int]]:
    """Yield the first and last place of each sequence of tokens, the longest sequences first."""
    for length in range(min(size, MOST_TOKENS), 0, -1):
        yield from ((first, first + length - 1) for first in range(size - length + 1))
