"""Other forms of a question's words: long forms, abbreviations, loanwords and other segmentations.

The analyzer splits a Korean word that is not in the dictionary by its context: 분만취약지 is 분만 + 취약 in
one sentence, and 분만 + 취 + 약지 in another. Other segmentations use terms of the index: 예비 + 인가 for
예비인가, not 예비 + 이.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from operator import itemgetter

from indexer.analysis import Analyzer, Token
from indexer.forward.lexicon import Lexicon
from indexer.glossary.loanwords import SpeltWord, looks_foreign
from indexer.glossary.storage import Glossary, Unit
from retriever.queries.boolean import single
from retriever.queries.keywords import Keyword, Translation, pattern_of, words_of
from retriever.question.analysis import AnalysedQuestion
from retriever.question.korean_words import hangul_runs

MOST_TOKENS = 4  # of a loanword: 스케줄, 링
MOST_COMPARED = 8  # words of a question; each comparison reads many words
SHORTEST, LONGEST = 3, 12  # syllables of a word
SHORTEST_PART = 2
MOST_WORDS = 8  # of a question
NOUNS, COPULA = ("NNG", "NNP"), "VCP"


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


def segmentations(question: AnalysedQuestion, lexicon: Lexicon) -> Iterator[Translation]:
    """Yield for each doubtful word its likeliest other segmentation into terms of the index.

    A word that starts with a noun is doubtful if one of its tokens is a single syllable or not a noun, except
    a noun with the copula at the end of the question (대통령인가?). If no terms make up the word, the most
    frequent term that starts with the word replaces it.
    """
    tags = dict(question.tagged)
    runs = hangul_runs(question.text, sorted(tags, key=itemgetter(2, 3)))
    words = [inside for _, inside in runs if inside]
    if words and tags[words[-1][-1]] == COPULA:
        words.pop()
    doubtful = [tokens for tokens in words if _is_doubtful(tokens, tags)]
    for tokens in doubtful[:MOST_WORDS]:
        written = question.text[tokens[0][2] : tokens[-1][3]]
        parts = _best(written, tuple(token[0] for token in tokens), lexicon) or _longer(written, lexicon)
        if parts:
            source = frozenset(token[0] for token in tokens)
            keywords = tuple(Keyword(part, "ko", (part,)) for part in parts)
            yield Translation(source, keywords, tuple(enumerate(parts)), "segmentation", written)


def noun_parts(question: AnalysedQuestion, lexicon: Lexicon | None) -> Iterator[Translation]:
    """Yield the tokens that passages may contain instead of a noun (`korean_words.py`).

    A single syllable counts only if a passage contains the noun. Otherwise 비 is rain, not 비만 (obesity).
    """
    for noun, pattern in question.parts.items():
        tokens = tuple(token for _, token in pattern)
        if "".join(tokens) == tokens[0][:1] and lexicon is not None and not lexicon.number(noun):
            continue
        keyword = Keyword(" ".join(tokens), "ko", tokens)
        yield Translation(frozenset({noun}), (keyword,), pattern, "segmentation", noun)


def _is_doubtful(tokens: Sequence[Token], tags: Mapping[Token, str]) -> bool:
    size = tokens[-1][3] - tokens[0][2]
    doubted = any(len(token[0]) < SHORTEST_PART or tags[token] not in NOUNS for token in tokens)
    return len(tokens) > 1 and tags[tokens[0]] in NOUNS and SHORTEST <= size <= LONGEST and doubted


def _best(word: str, analysed: tuple[str, ...], lexicon: Lexicon) -> tuple[str, ...]:
    """Return the segmentation with the fewest parts; ties go to the one with the most frequent rarest part.

    A last syllable may be left over, like a suffix.
    """
    found: dict[tuple[str, ...], tuple[int, int]] = {}
    for parts in _splits(word, lexicon):
        rest = word[sum(map(len, parts)) :]
        is_whole = len(parts) > 1 or not rest
        if is_whole and analysed not in {parts, (*parts, rest)}:
            found[parts] = len(parts), -min(lexicon.frequencies(parts).values())
    return min(found, key=lambda parts: (found[parts], parts), default=())


def _splits(word: str, lexicon: Lexicon) -> Iterator[tuple[str, ...]]:
    """Yield the ways to write a word as terms of two or more syllables, a last syllable left over or not."""
    for end in range(SHORTEST_PART, len(word) + 1):
        part = word[:end]
        if not lexicon.frequencies([part])[part]:
            continue
        rest = word[end:]
        if len(rest) < SHORTEST_PART:
            yield (part,)
        else:
            yield from ((part, *others) for others in _splits(rest, lexicon))


def _longer(word: str, lexicon: Lexicon) -> tuple[str, ...]:
    longer = lexicon.starting_with(word)
    return (max(longer, key=lambda one: (one[1], one[0]))[0],) if longer else ()
