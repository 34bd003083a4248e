"""The strategist by statistics: a question's words in order of their idf, and their counterparts.

Counterparts come from the index's glossary: translations, abbreviations and their long forms, and loanwords
by their sound. A counterpart takes the place of the word that it stands for.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import fsum
from pathlib import Path

from indexer.analysis import Token
from indexer.corpora.papers import Language, language_of
from indexer.glossary.given import general_words
from indexer.glossary.loanwords import looks_foreign
from indexer.glossary.storage import Glossary
from retriever.conditions import Conditions
from retriever.engines.term_statistics import TermStatistics
from retriever.index import SearchIndex
from retriever.opening.synonyms import Rule, Synonyms
from retriever.queries.keywords import Keyword, Translation, pattern_of, translations, words_of
from retriever.question import Question
from retriever.strategy import LANGUAGES, MAX_CHARACTERS, Strategy

MAX_WORDS = 10  # keywords of one language
PLAIN_WORDS = Path(__file__).with_name("plain_words.tsv")
HANGUL_RUN = re.compile("[가-힣]+")
SHORTEST_WORD = 2  # syllables
MAX_TERMS = 60  # of a question that are compared with everyday words
MAX_COMPARED = 8  # words compared with loanwords; each comparison reads many words


def find_counterparts(index: SearchIndex, question: Question) -> list[Translation]:
    """Return the counterparts of a question's words in the glossary; their tokens are in the index."""
    tokens, parts = with_whole_words(question, index.glossary)
    found = [
        replace(each, source=frozenset(part for token in each.source for part in parts.get(token, (token,))))
        for each in translations(tokens, index.glossary, index.analyzer, lexicon=index.engine.lexicon)
    ]
    found += _scholarly_words(index, question)
    covered = {token for each in found for token in each.source}
    found += _abbreviations(index, question.text, tokens)
    found += _loanwords(index, [word for word in question.words() if covered.isdisjoint(word.tokens)])
    return list(dict.fromkeys(found))


def with_whole_words(
    question: Question, glossary: Glossary
) -> tuple[list[Token], dict[str, tuple[str, ...]]]:
    """Return a question's tokens with Korean nouns of the glossary as one token, and what each replaces.

    The analysis splits 청소년 (adolescent) into 청 and 소년 (boy), and cuts 고혈압 (hypertension) to 혈압.
    """
    tags = {token[2]: tag for token, tag in question.tagged}
    runs = [run.span() for run in HANGUL_RUN.finditer(question.text)]
    heads = {
        first: [question.text[first:end] for end in range(last, first + SHORTEST_WORD - 1, -1)]
        for first, last in runs
    }
    listed = {head for of in heads.values() for head in of}
    known = glossary.korean_words(list(listed))
    # A word whose counterpart is in no paper is known too, unless it is made up of words with counterparts.
    known |= {word for word in listed & general_words().keys() if not _is_composed(word, question, glossary)}
    tokens, parts = list(question.tokens), dict[str, tuple[str, ...]]()
    for first, candidates in heads.items():
        within = {place for token in tokens for place in range(token[2] + 1, token[3])}
        word = next((head for head in candidates if head in known and first + len(head) not in within), "")
        end = first + len(word)
        inside = [token for token in tokens if first <= token[2] < end]
        is_verb = tags.get(inside[0][2], "").startswith(("V", "NNB")) if inside else True
        if not word or is_verb or [token[0] for token in inside] == [word]:
            continue
        parts[word] = tuple(token[0] for token in inside)
        at = tokens.index(inside[0])
        tokens = [token for token in tokens if token not in inside]
        tokens.insert(at, (word, inside[0][1], first, end))
    return tokens, parts


def _is_composed(word: str, question: Question, glossary: Glossary) -> bool:
    start = question.text.index(word)
    parts = [token[0] for token in question.tokens if start <= token[2] < start + len(word)]
    covered = {place for each in glossary.translations(parts) for place in range(each.start, each.end)}
    return "".join(parts) == word and len(covered) == len(parts)


def _scholarly_words(index: SearchIndex, question: Question) -> Iterator[Translation]:
    """Yield the scholarly words for everyday words (kids, 살빼기), and their translations."""
    text, terms = question.text.casefold(), {token[1]: token[0] for token in question.tokens}.values()
    held = [Rule(0, (plain,), others) for plain, others in plain_words().items() if plain in text]
    for expansion in Synonyms(held, index.analyzer, PLAIN_WORDS.name).find(list(terms)[:MAX_TERMS]):
        source = frozenset(expansion.source)
        for each in expansion.equivalents:
            own = tuple(token for _, token in each.tokens)
            if not source.issuperset(own):
                yield Translation(source, (Keyword(each.text, language_of(each.text), own),), each.tokens)
            analysed = index.analyzer.analyze(each.text)
            known = translations(analysed, index.glossary, index.analyzer, lexicon=index.engine.lexicon)
            for other in known:
                if other.source.issuperset(own):  # of the whole term
                    yield replace(other, source=source)


@cache
def plain_words() -> Mapping[str, tuple[str, ...]]:
    """Return the scholarly equivalents of each everyday word."""
    lines = PLAIN_WORDS.read_text(encoding="utf-8").splitlines()
    pairs = (line.split("\t") for line in lines if line and not line.startswith("#"))
    return {plain: tuple(others.split(", ")) for plain, others in pairs}


def _abbreviations(index: SearchIndex, text: str, tokens: Sequence[Token]) -> Iterator[Translation]:
    terms = [token[0] for token in tokens]
    for match in index.glossary.abbreviations(terms):
        form, inside = match.form, tokens[match.start : match.end]
        written = text[min(token[2] for token in inside) : max(token[3] for token in inside)]
        source = frozenset(terms[match.start : match.end])
        if source == frozenset(form.short_tokens):
            if form.ordinary and written.removesuffix("s") != form.short:
                continue  # can, not CAN
            analysed = index.analyzer.analyze(form.long)
            words, pattern = tuple(words_of(form.long, analysed)), pattern_of(analysed)
        elif form.ordinary:
            continue  # it would match all passages with the word
        else:
            words = (Keyword(form.short, "en", form.short_tokens),)
            pattern = tuple(enumerate(form.short_tokens))
        yield Translation(source, words, pattern, "abbreviation", written)


def _loanwords(index: SearchIndex, words: Sequence[Keyword]) -> Iterator[Translation]:
    foreign = [word for word in words if looks_foreign(word.text)]
    for word in foreign[:MAX_COMPARED]:
        if english := index.glossary.loanword(word.text):
            heard = (Keyword(english.word, "en", (english.token,)),)
            yield Translation(frozenset(word.tokens), heard, ((0, english.token),), "sound", word.text)


def choose_keywords(
    question: Question, counterparts: Sequence[Translation], statistics: TermStatistics
) -> dict[Language, list[Keyword]]:
    """Return the question's words by importance, and in the other language their counterparts.

    The importance of a word is the mean tf · idf of its tokens; of a word that the index does not contain,
    the idf of its best counterpart. Words that any paper may contain (study, effect) are no keywords unless
    there are no others.
    """
    importance: dict[str, float] = {}  # by token of a word: occurrences times idf
    for each in counterparts:
        rarest = max(map(statistics.known_idf, (token for word in each.words for token in word.tokens)))
        importance |= {token: max(rarest, importance.get(token, 0.0)) for token in each.source}
    words = question.words()
    for word in words:
        if any(map(statistics.frequencies.get, word.tokens)):
            weights = (question.weights.get(token, 1.0) * statistics.idf(token) for token in word.tokens)
            importance |= dict.fromkeys(word.tokens, fsum(weights) / len(word.tokens))
    subject = [word for word in words if not word.is_common and any(map(importance.get, word.tokens))]
    ranked = sorted(
        subject or words, key=lambda word: -max(importance.get(token, 0.0) for token in word.tokens)
    )
    places = {token: place for place, word in reversed(list(enumerate(ranked))) for token in word.tokens}
    of_subject = (each for each in counterparts if not places.keys().isdisjoint(each.source))
    others = sorted(
        of_subject, key=lambda each: min(places[token] for token in each.source if token in places)
    )
    chosen: dict[Language, list[Keyword]] = {language: [] for language in LANGUAGES}
    known = [word for word in ranked if any(map(statistics.frequencies.get, word.tokens))]
    for word in (*known, *(word for each in others for word in each.words)):
        language = word.language if word.language in chosen else language_of(question.text)
        listed = chosen.get(language, [])
        if word.tokens and word.tokens not in {other.tokens for other in listed}:
            listed.append(word)
    return {language: listed[:MAX_WORDS] for language, listed in chosen.items()}


def statistics_strategy(keywords: Mapping[Language, Sequence[Keyword]], conditions: Conditions) -> Strategy:
    """Return the strategy of chosen keywords and of a question's explicit conditions."""
    texts = {
        language: [keyword.text for keyword in listed if len(keyword.text) <= MAX_CHARACTERS]
        for language, listed in keywords.items()
    }
    strategy = Strategy(origin="statistics").changed(**texts, years=conditions.years)
    return strategy.excluding(conditions.exclude)
