"""Keywords of a language model: compounds, their number, their languages, their importance, and the prompts.

Choices of SHRAG, sections 3 and 3.1. The model lists keywords in both languages, most important first. They
are split into words, merged, and cut to ten. Each row changes one choice. "Compounds whole" searches for
"electronic textbook" as a phrase, which the paper found to be worse than its words. "One prompt for each
language" calls the model twice, with a Korean prompt for the Korean keywords and an English one for the
English keywords, as the paper does; else one call in the question's language gives both.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from base.errors import InvalidCall
from eval.reproduction.experiment import Documents, Experiment, JudgedCall, Outcome, Record, TopicResult
from eval.reproduction.materials import Materials
from eval.reproduction.retrieving import Retrieved, open_topic, retrieve, run_name, whole_compounds
from eval.reproduction.variants import (
    NOTE,
    VARIANTS,
    main_shares,
    variant_record,
    variants_table,
)
from eval.runs import Ranking
from generator.errors import ModelAnswerInvalid
from generator.keywords import by_language, keywords_step
from generator.llm import LanguageModel
from indexer.analysis import Analyzer
from indexer.corpora.papers import Language, language_of
from retriever.keywords.given import rank, words_of_each
from retriever.queries.keywords import Keyword, merge
from retriever.settings import KeywordRanking

LANGUAGES: tuple[Language, Language] = ("ko", "en")
LEAST, MOST = 2, 5  # keywords of each language in the paper's prompts


class ModelKeywords(JudgedCall):
    """How many documents."""

    k: Documents = 15


@dataclass(frozen=True, slots=True)
class Lists:
    """The keywords of a model by language, most important first."""

    ko: tuple[str, ...] = ()
    en: tuple[str, ...] = ()

    def first(self, count: int) -> "Lists":
        """Keep the first keywords of each language."""
        return Lists(self.ko[:count], self.en[:count])

    def only(self, language: Language) -> "Lists":
        """Keep the keywords of one language."""
        return Lists(self.ko if language == "ko" else (), self.en if language == "en" else ())


@dataclass(frozen=True, slots=True)
class Variant:
    """A row of the table."""

    name: str
    each: int = MOST  # keywords of each language
    language: Language | None = None
    separate: bool = False  # whether each language has a prompt and a call of its own
    whole: bool = False  # whether compounds are phrases
    importance: KeywordRanking | None = None  # in place of the model's order


STATISTICS = "keywords from statistics"
ROWS = (
    Variant("split compounds, at most five of each language"),
    *(Variant(f"at most {count} of each language", each=count) for count in range(MOST - 1, LEAST - 1, -1)),
    Variant("compounds whole", whole=True),
    Variant("Korean keywords only", language="ko"),
    Variant("English keywords only", language="en"),
    Variant("importance by TF-IDF", importance="tf-idf"),
    Variant("importance by entropy", importance="entropy"),
    Variant("one prompt for each language", separate=True),
)
NAMES = (*(variant.name for variant in ROWS), STATISTICS)


async def lists_of_model(
    question: str, model: LanguageModel, analyzer: Analyzer, prompt_language: Language
) -> Lists:
    """Ask a model for keywords; empty lists if the answer is unusable.

    Raises:
        ModelFailed: the model is unreachable, too slow, or refuses.
    """
    settings = model.settings.model_copy(update={"keywords_least": LEAST, "keywords_most": MOST})
    step = keywords_step(question, settings, analyzer, prompt_language=prompt_language)
    try:
        reply = (await step.call(model)).reply
    except ModelAnswerInvalid:
        return Lists()
    return Lists(*map(tuple, by_language(reply.value, MOST)))


def chosen_keywords(
    lists: Lists, first: Language, analyzer: Analyzer, *, whole: bool, most: int | None
) -> tuple[Keyword, ...]:
    """Merge the keywords of both languages, the `first` language before the other at each rank.

    Compounds are split into words, or kept `whole`; at most `most` keywords are returned, None for all.
    """
    made = _whole_keywords if whole else words_of_each
    own, other = (lists.ko, lists.en) if first == "ko" else (lists.en, lists.ko)
    return rank(merge(made(own, analyzer), made(other, analyzer)), most)


def _whole_keywords(texts: Sequence[str], analyzer: Analyzer) -> list[Keyword]:
    analysed = (
        Keyword(text, language_of(text), tuple(dict.fromkeys(token[0] for token in analyzer.analyze(text))))
        for text in texts
    )
    return [keyword for keyword in analysed if keyword.tokens]


async def variants_of_topic(
    call: ModelKeywords, materials: Materials, query_id: str, question: str
) -> TopicResult:
    """Ask for the keywords of a topic, and retrieve its documents in each variant.

    Raises:
        InvalidCall: the call uses no language model.
    """
    if materials.model is None:
        raise InvalidCall("model-keywords compares keywords of a language model", remedy="add --model")
    analyzer, relevant = materials.index.analyzer, materials.relevant(query_id)
    own: Language = "ko" if language_of(question) == "ko" else "en"
    lists = {
        language: await lists_of_model(question, materials.model, analyzer, language)
        for language in LANGUAGES
    }
    separate = Lists(lists["ko"].ko, lists["en"].en)
    records: dict[str, Any] = {}
    rankings: dict[str, Ranking] = {}
    for variant in ROWS:
        given = (separate if variant.separate else lists[own]).first(variant.each)
        given = given.only(variant.language) if variant.language else given
        changes = {"ranking": variant.importance, "keywords_ranked": True} if variant.importance else {}
        options = materials.settings.retriever.model_copy(update=changes)
        most = None if options.keywords_ranked else options.keywords
        keywords = chosen_keywords(given, own, analyzer, whole=variant.whole, most=most)
        found = Retrieved([], frozenset())
        if keywords:
            topic = await open_topic(question, call.k, materials, settings=options, keywords=keywords)
            found = await retrieve(topic, materials, plan=whole_compounds if variant.whole else None)
        rankings[run_name(variant.name)] = found.ranking
        records[variant.name] = variant_record(found, relevant)
    without_model = replace(materials, model=None)
    found = await retrieve(await open_topic(question, call.k, without_model), without_model)
    rankings[run_name(STATISTICS)] = found.ranking
    records[STATISTICS] = variant_record(found, relevant)
    keywords_of = {language: {"ko": each.ko, "en": each.en} for language, each in lists.items()}
    return TopicResult(
        {"relevant": len(relevant), "keywords by language of the prompt": keywords_of, VARIANTS: records},
        rankings,
    )


def summary(call: ModelKeywords, materials: Materials, topics: Sequence[Record]) -> Outcome:
    """Compare the variants with the first one."""
    return Outcome(
        (variants_table(f"Keywords of a language model, {call.k} documents for each topic", NAMES, topics),),
        notes=(NOTE, *materials.notes()),
        main=main_shares(NAMES, topics),
    )


EXPERIMENT = Experiment(
    "Keywords of a language model",
    "SHRAG, equation 2 and section 3.1",
    ModelKeywords,
    variants_of_topic,
    summary,
    requires="a language model (--model)",
)
