"""The strategist by a language model: keywords by language, exclusions, years and steps of a question.

As in the paper (appendix A.1), one call with its own prompt asks for the keywords of each language; with
SHRAG_LLM__STRATEGY_CALLS=one, a single call asks for all languages. Each reply has the JSON of a strategy.
"""

import re
import unicodedata
from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema, create_model

from base.letters import HANGUL, LATIN
from base.notes import Note
from generator.budgets import Allowance
from generator.errors import ModelNotConfigured
from generator.llm import LanguageModel
from generator.model_step import ModelStep
from generator.prompts import load_prompt
from generator.request import AskRequest, Resources, Settings
from generator.tracing import Step, all_of
from indexer.corpora.papers import FIRST_YEAR, LAST_YEAR, Language, language_of_question
from retriever.conditions import find_conditions, without_fields
from retriever.index import OpenIndex, SearchIndex
from retriever.methods import method_named
from retriever.question import has_words
from retriever.request import SearchRequest, check_question
from retriever.search import open_search, run_stages
from retriever.settings import RetrieverSettings
from retriever.strategy import (
    LANGUAGES,
    MAX_CHARACTERS,
    MAX_EXCLUSIONS,
    MAX_STEPS,
    Strategist,
    Strategy,
    language_of_text,
    languages_from,
)

FALLBACK = "strategy from statistics"
MAX_ABBREVIATION = 12  # characters
MAX_STEP_CHARACTERS = 1_000
MARKS_AROUND = " \t\n\"'“”‘’`*•-,;."
BETWEEN = re.compile(r"[,，、;\n]")  # keywords in one text


def _things(value: Any) -> list[dict[str, str]]:
    """Return things by language; a text stands in its own language."""
    listed = value if isinstance(value, list) else BETWEEN.split(value) if isinstance(value, str) else [value]
    things = [{language_of_text(each): each} if isinstance(each, str) else each for each in listed]
    cleaned: list[dict[str, str]] = [
        {name: text for name in LANGUAGES if (text := clean(str(thing.get(name) or "")))}
        for thing in things
        if isinstance(thing, Mapping)
    ]
    return list(filter(None, cleaned))


def _years(value: Any) -> Any:
    """Return the first and the last year, an unreadable one as open; None without a known year."""
    texts = [str(each).strip().removesuffix(".0") for each in value] if isinstance(value, list) else []
    years = [int(each) if each.isdecimal() else None for each in texts]
    known = [year for year in years if year is not None]
    in_order = known == sorted(known) and all(FIRST_YEAR <= year <= LAST_YEAR for year in known)
    return years if known and in_order and len(years) == 2 else None  # noqa: PLR2004 - first, last


Steps = Annotated[list[str], Field(json_schema_extra={"maxItems": MAX_STEPS})]
Things = Annotated[list[dict[str, str]], BeforeValidator(_things)]
Years = Annotated[
    Annotated[list[int | None], Field(json_schema_extra={"minItems": 2, "maxItems": 2})] | None,
    BeforeValidator(_years),
]


class StrategyReply(BaseModel):
    """Reply schema of a call: fields of a strategy, keywords first, of some languages."""

    if TYPE_CHECKING:
        exclude: Things
        years: Years
        steps: Steps


@cache
def reply_schema(languages: tuple[Language, ...], least: int, most: int) -> type[StrategyReply]:
    """Return the schema of a call for some languages; only servers that enforce it respect the limits.

    Excluded things are texts in the schema of one language, else objects by language.
    """
    texts = Annotated[list[str], Field(json_schema_extra={"minItems": least, "maxItems": most})]
    text = {"type": "string"}
    thing = text if len(languages) == 1 else {"type": "object", "properties": dict.fromkeys(languages, text)}
    listed = WithJsonSchema({"type": "array", "items": thing, "maxItems": MAX_EXCLUSIONS})
    fields: dict[str, Any] = dict.fromkeys(languages, (texts, ...))
    fields |= {"exclude": (Annotated[Things, listed], []), "years": (Years, None), "steps": (Steps, [])}
    return create_model("StrategyReply", __base__=StrategyReply, **fields)


async def with_strategy(
    parent: Step,
    request: SearchRequest,
    strategist: Strategist | None,
    settings: Settings,
    model: LanguageModel | None = None,
) -> SearchRequest:
    """Return a request with the strategy of the model, if the strategist is the model.

    A request with a strategy is unchanged. If the model fails, or if the method uses no strategy, the request
    has none, and the step has a note. Without an open model, one is opened.

    Raises:
        BadQuestion: the question is empty or too long.
        ModelNotConfigured: the settings name no model.
    """
    if strategist != "model" or request.strategy:
        return request
    check_strategist(strategist, settings)
    check_question(request.question)
    if not method_named(request.method).uses_strategy:
        parent.notes.append(Note("strategist_unused", method=request.method))
        return request
    async with settings.opened_model(model) as opened:
        return replace(request, strategy=await model_strategy(parent, request, opened))


def check_strategist(strategist: Strategist | None, settings: Settings) -> None:
    """Raise ModelNotConfigured if the strategist is the model and the settings name none."""
    if strategist == "model" and not settings.generator.llm.configured:
        raise ModelNotConfigured(
            "strategist 'model' needs a language model: set SHRAG_LLM__BASE_URL, like "
            "http://localhost:8000/v1, and SHRAG_LLM__MODEL, or choose strategist 'statistics'"
        )


async def strategy_of(
    index: OpenIndex, request: SearchRequest, settings: RetrieverSettings
) -> Strategy | None:
    """Return the strategy that a search uses; None if its method uses none, or the question has no words."""

    def of_version(version: SearchIndex) -> Strategy | None:
        terms = run_stages(open_search(version, request, settings), upto="terms").terms
        return terms.strategy if terms else None

    return await index.run(of_version)


async def ask_for_strategy(parent: Step, request: AskRequest, resources: Resources) -> AskRequest:
    """Return a request for an answer with the strategy of its strategist; the model is asked at most once.

    A strategy or keywords of a person are kept. Statistics choose if the request has no strategy.

    Raises:
        BadQuestion: the question cannot be searched for.
    """
    check_question(request.question)
    if request.strategist != "model" or request.strategy or request.keywords:
        return request
    index = resources.index
    tokens = await index.run(lambda version: version.analyzer.analyze(request.question))
    model = resources.model if has_words(tokens) else None
    strategy = await model_strategy(parent, request.search(), model)
    return replace(request, strategy=strategy, strategist="model" if strategy else "statistics")


async def model_strategy(
    parent: Step, request: SearchRequest, model: LanguageModel | None, budget: Allowance | None = None
) -> Strategy | None:
    """Ask the model for the strategy of a request; None leads to a strategy from statistics.

    It is None without a model, for a method without strategies, and if all calls fail or give no keyword.
    Explicit conditions of the question are added, and its years replace the model's.
    """
    if model is None or not method_named(request.method).uses_strategy:
        return None
    question = without_fields(unicodedata.normalize("NFC", request.question).strip())
    settings = model.settings
    language, least, most = language_of_question(question), settings.keywords_least, settings.keywords_most
    groups: list[tuple[Language, ...]] = [LANGUAGES]  # the question's language first
    if settings.strategy_calls != "one":
        groups = [(each,) for each in languages_from(language)]
    with parent.step("strategy", question=request.question) as step:
        calls: list[ModelStep[StrategyReply, StrategyReply]] = [
            ModelStep(
                "keywords",
                load_prompt("strategy", language)
                if group is LANGUAGES
                else load_prompt("keywords", group[0]),
                {"terms": f"{least}–{most}" if least < most else str(least), "question": question},
                reply_schema(group, least, most),
                read=lambda reply: reply.value,
                fallback=f"no keywords in {' and '.join(group)}",
                inputs={"languages": list(group)},
            )
            for group in groups
        ]
        replies = await all_of(call.run(step, model, budget) for call in calls)
        strategy = joined([reply for reply in replies if reply], question, most)
        if strategy.has_keywords:
            strategy = _with_conditions(strategy, request)
            step.output = strategy.as_record()
            return strategy
        failures = [child.failure for child in step.children if child.failure]
        for child in step.children:
            child.notes.clear()  # this note replaces the notes on each language
        step.failure, step.fallback = next(iter(failures), None), FALLBACK
        failed = Note("model_failed", fallback=FALLBACK, error=str(failures[0])) if failures else None
        step.notes.append(failed or Note("no_usable_keyword"))
    return None


def joined(replies: Sequence[StrategyReply], question: str, most: int) -> Strategy:
    """Join the replies to a question, that of its language first, into one strategy.

    The same things in several languages are joined; of lists of other lengths, the first is used.
    """
    lists = {language: list[str]() for language in LANGUAGES}
    for reply, language in product(replies, LANGUAGES):
        lists[language] += getattr(reply, language, [])
    things = [reply.exclude for reply in replies if reply.exclude]
    alike = [each for each in things if len(each) == len(things[0])]
    return Strategy(origin="model").changed(
        **by_language(lists, most),
        exclude=[dict(ChainMap(*parts)) for parts in zip(*alike, strict=True)][:MAX_EXCLUSIONS],
        years=next((reply.years for reply in replies if reply.years), None),
        steps=next((steps for reply in replies if (steps := usable_steps(reply.steps, question))), ()),
    )


def by_language(lists: Mapping[Language, Iterable[str]], most: int) -> dict[Language, list[str]]:
    """Return the keywords of each language, each once, at most `most` in each.

    A keyword in the wrong list moves to the end of the right one; one in no language is dropped.
    Abbreviations and numbers stay in their list: papers in all languages use them.
    """
    found: dict[Language, dict[str, str]] = {language: {} for language in lists}
    moved: list[tuple[Language, str]] = []
    for listed, texts in lists.items():
        for text in (clean(part) for several in texts for part in BETWEEN.split(several)):
            language = "ko" if HANGUL.search(text) else "en" if LATIN.search(text) else "other"
            if text and (language == listed or is_shared(text)):
                found[listed].setdefault(text.casefold(), text)
            elif language in found:
                moved.append((language, text))
    for language, text in moved:
        found[language].setdefault(text.casefold(), text)
    return {language: list(texts.values())[:most] for language, texts in found.items()}


def clean(text: str) -> str:
    """Compose a text (NFC), as in the index, and strip quotes and bullets."""
    return unicodedata.normalize("NFC", text).strip(MARKS_AROUND)[:MAX_CHARACTERS].rstrip()


def is_shared(text: str) -> bool:
    """Check for an abbreviation or a number without Hangul: mRNA, GPT-4, 2019."""
    if HANGUL.search(text) or len(text) > MAX_ABBREVIATION or re.search(r"\s|[a-z]{2}", text):
        return False
    return bool(LATIN.search(text)) or (text.isascii() and any(map(str.isdigit, text)))


def normalised(question: str) -> str:
    """Return the words of a question in a normal form, to recognise repeated questions."""
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", question).casefold()))


def usable_steps(steps: Iterable[str], question: str) -> tuple[str, ...]:
    """Return the steps that can be searched for, each once, without the question; none if one is left."""
    kept = {normalised(step): step.strip() for step in steps if len(step) <= MAX_STEP_CHARACTERS}
    kept = {words: step for words, step in kept.items() if words not in {"", normalised(question)}}
    return tuple(kept.values())[:MAX_STEPS] if len(kept) > 1 else ()


def _with_conditions(strategy: Strategy, request: SearchRequest) -> Strategy:
    """Add the explicit conditions of the question, or remove the model's if the request wants none.

    Years of a filter replace the model's.
    """
    if not request.conditions:
        return strategy.changed(exclude=(), years=None)
    found = find_conditions(request.question)
    new = [text for text in found.exclude if text not in strategy.excluded_texts]
    explicit = Strategy().excluding(new).exclude
    given = request.filters.years or request.filters.years_if_known
    years = found.years or (None if given else strategy.years)
    return strategy.changed(exclude=[*explicit, *strategy.exclude][:MAX_EXCLUSIONS], years=years)
