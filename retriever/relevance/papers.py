"""Comparison of papers with a question by titles and abstracts, without an index.

It gives the relevance, 0 to 1, by a configured cross-encoder, else by the cosine of a configured encoder; the
shared words; and mentions of excluded things.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from statistics import fmean

from base.errors import ResourceError
from indexer.analysis import Analyzer
from indexer.analysis.word_roles import SUBJECT_ROLES, roles_of
from indexer.corpora.papers import Paper
from indexer.files.schema import StoredPassage
from indexer.glossary.storage import Glossary
from indexer.settings import IndexerSettings
from retriever.exclusions import Excluded, analyse_exclusions, loss_of_text
from retriever.opening.worker_threads import WorkerThreads
from retriever.queries.boolean import Or, Term
from retriever.queries.keywords import Keyword, Translation, translations, words_of
from retriever.relevance.passages import Relevance, leads_of, relevance_by_models
from retriever.sources.gathered import SharedModels
from retriever.sources.pool import similarities
from retriever.strategy import Strategy

MAX_WORDS = 20
COMMON_WEIGHT = 0.3  # of words that any paper may contain


@dataclass(frozen=True, slots=True)
class AskedWord:
    """A word, and its counterparts in the other language from the glossary."""

    keyword: Keyword
    others: tuple[Keyword, ...] = ()
    weight: float = 1.0  # COMMON_WEIGHT if any paper may contain it: study, effect, since


def asked_words(text: str, analyzer: Analyzer, glossary: Glossary) -> tuple[AskedWord, ...]:
    """Return at most `MAX_WORDS` words of a text, in its order.

    Words of the request and question words are left out unless there are no others.
    """
    text = unicodedata.normalize("NFC", text)
    tagged = analyzer.tagged_tokens(text)
    roles = roles_of(tagged)
    tokens = [token for token, _ in tagged if any(map(str.isalnum, token[0]))]
    subject = [token for token in tokens if roles[token[0]] in SUBJECT_ROLES] or tokens
    found = translations(subject, glossary, analyzer)
    return tuple(
        AskedWord(
            word,
            tuple(dict.fromkeys(_counterparts(word, found))),
            COMMON_WEIGHT if word.is_common else 1.0,
        )
        for word in words_of(text, subject)[:MAX_WORDS]
    )


def _counterparts(word: Keyword, found: list[Translation]) -> Iterator[Keyword]:
    """Yield the counterparts of the whole word; those of its parts if there are none."""
    whole = [each for each in found if each.source.issuperset(word.tokens)]
    for each in whole or (each for each in found if not each.source.isdisjoint(word.tokens)):
        yield from each.words


def words_query(words: tuple[AskedWord, ...]) -> Or:
    """Join words and their counterparts by OR."""
    terms: dict[str, Term] = {}
    for word in words:
        for keyword in (word.keyword, *word.others):
            terms.setdefault(keyword.text, Term(keyword.text, keyword.tokens, weight=word.weight))
    return Or(tuple(terms.values()))


READ_CHARACTERS = 4_000  # of a title, and of an abstract
# The cosine of unrelated texts differs between encoders, so it is measured on these.
UNRELATED = (
    "A survey of migratory birds in coastal wetlands during the spring.",
    "The price of copper and the wages of miners in the nineteenth century.",
    "전통 목조 건축의 지붕 곡선에 대한 고찰",
    "초등학교 급식의 나트륨 함량과 학생의 선호",
    "Convergence of a finite volume scheme for shallow water equations.",
)


def texts_of(paper: Paper) -> tuple[str, str]:
    """Return a paper's titles, and its abstracts."""
    title = f"{paper.title}\n{paper.title2}".strip()
    return title[:READ_CHARACTERS], f"{paper.abstract}\n{paper.abstract2}".strip()[:READ_CHARACTERS]


class PaperRelevance:
    """Analyzer, general glossary and models for papers; opened and closed by `with`."""

    def __init__(
        self, settings: IndexerSettings, glossary: Glossary | None = None, models: SharedModels | None = None
    ) -> None:
        """Take the models, which are opened when needed; given models and a given glossary are not closed."""
        self._opened = ExitStack()
        self.models = models or self._opened.enter_context(closing(SharedModels(settings)))
        self.analyzer = self.models.analyzer
        self.glossary = glossary or self.models.glossary
        self.threads = WorkerThreads("finding")

    def __enter__(self) -> "PaperRelevance":
        return self

    def __exit__(self, *_: object) -> None:
        self.threads.close()
        self._opened.close()

    async def words(self, text: str) -> tuple[AskedWord, ...]:
        """Return the words that a text asks about."""
        return await self.threads.run(asked_words, text, self.analyzer, self.glossary)

    async def excluded(self, question: str, strategy: Strategy) -> tuple[Excluded, ...]:
        """Return the exclusions of a strategy with their names; the question is given without them."""

        def analyse() -> tuple[Excluded, ...]:
            asked = [token[0] for token in self.analyzer.analyze(question)]
            return analyse_exclusions(strategy, asked, self.analyzer, self.glossary)

        return await self.threads.run(analyse)

    @property
    def has_model(self) -> bool:
        """Whether a cross-encoder or an encoder is configured."""
        return self.models.cross_encoder.configured or self.models.encoder.configured

    async def scores(self, question: str, papers: Sequence[Paper]) -> Relevance:
        """Measure the relevance of papers to a question by the models; `by` is "" without a model."""
        texts = ["\n".join(texts_of(paper)) for paper in papers]
        leads = partial(self._leads, question, papers)
        return await self.threads.run(relevance_by_models, self.models.cross_encoder, question, texts, leads)

    async def shared(self, question: str, papers: Sequence[Paper]) -> list[tuple[str, ...]]:
        """Return for each paper the words of a question that it contains: 메탄, or 메탄 (methane)."""

        def words_held() -> list[tuple[str, ...]]:
            words = asked_words(question, self.analyzer, self.glossary)
            every = map(self._tokens_of, papers)
            return [tuple(filter(None, (_held(word, tokens) for word in words))) for tokens in every]

        return await self.threads.run(words_held)

    def _tokens_of(self, paper: Paper) -> frozenset[str]:
        return frozenset(token[0] for text in texts_of(paper) for token in self.analyzer.analyze(text))

    async def losses(self, excluded: Sequence[Excluded], papers: Sequence[Paper]) -> list[float]:
        """Return the share of its relevance that each paper loses to exclusions."""

        def lost(paper: Paper) -> float:
            return loss_of_text(excluded, texts_of(paper)[0], paper.keywords, self.analyzer)

        return await self.threads.run(lambda: list(map(lost, papers)))

    def _leads(self, question: str, papers: Sequence[Paper]) -> list[float | None] | None:
        """Return the lead of each paper's cosine over unrelated texts; None without an encoder."""
        fingerprint = self.models.fingerprint()
        asked = self.models.vectors(fingerprint).encode(question)
        if fingerprint is None or asked is None:
            return None
        texts = [texts_of(paper) for paper in papers] + [("", text) for text in UNRELATED]
        passages = [
            StoredPassage(str(number), str(number), title=title, text=text, lang="other", part="abstract")
            for number, (title, text) in enumerate(texts)
        ]
        vectors, failure = self.models.encoded(passages, fingerprint)
        if failure:
            raise ResourceError(failure)
        ids = [passage.passage_id for passage in passages]
        found = similarities(asked, vectors)
        cosines = [found.get(passage_id) for passage_id in ids]
        return leads_of(cosines[: len(papers)], fmean(cosine or 0.0 for cosine in cosines[len(papers) :]))


def _held(word: AskedWord, tokens: frozenset[str]) -> str:
    """Return a word if a paper contains it, else with the counterpart found, else ""."""
    own = word.keyword
    for keyword in (own, *word.others):
        if keyword.tokens and tokens.issuperset(keyword.tokens):
            return own.text if keyword is own else f"{own.text} ({keyword.text})"
    return ""
