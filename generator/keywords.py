"""Keywords from a language model: one call for both languages, at most ten keywords."""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Annotated, Any

from pydantic import BaseModel, Field, StringConstraints, create_model

from base.letters import HANGUL, LATIN
from generator.llm import Reply
from generator.model_calls.model_step import ModelStep, UnusableReply, constant
from generator.prompts import load_prompt
from generator.request import Resources
from generator.settings import LanguageModelSettings
from generator.tracing.steps import Step
from indexer.analysis import Analyzer
from indexer.corpora.papers import Language, language_of
from retriever.keywords.given import rank, words_of_each
from retriever.methods import method_named
from retriever.queries.keywords import KEYWORDS, Keyword, merge
from retriever.requests.request import SearchRequest

ABBREVIATION_CHARACTERS = 12
MARKS_AROUND = " \t\n\"'“”‘’`*•-,;."

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]


class KeywordLists(BaseModel):
    """The model's search terms in each language, most important first."""

    korean: list[Text]
    english: list[Text]


@lru_cache
def keyword_lists(least: int, most: int) -> type[KeywordLists]:
    """Return the schema of `least` to `most` keywords in each language."""
    texts = Annotated[list[Text], Field(min_length=least, max_length=most)]
    return create_model("KeywordLists", __base__=KeywordLists, korean=(texts, ...), english=(texts, ...))


async def model_keywords(
    parent: Step, request: SearchRequest, resources: Resources
) -> tuple[Keyword, ...] | None:
    """Return the model's keywords; None for keywords from statistics, or if the method uses none."""
    model, settings = resources.model, resources.settings.retriever
    if model is None or method_named(request.method).keywords is None:
        return None
    most = None if settings.keywords_ranked else settings.keywords
    step = keywords_step(request.question, model.settings, resources.index.analyzer, most=most)
    return await step.run(parent, model)


def keywords_step(
    question: str,
    settings: LanguageModelSettings,
    analyzer: Analyzer,
    *,
    most: int | None = KEYWORDS,
    prompt_language: Language | None = None,
) -> ModelStep[KeywordLists, tuple[Keyword, ...] | None]:
    """Return the step that asks for keywords of `question` in both languages, the question's language first.

    At most `most` are returned, with weight 1 / rank; None returns all, for callers that rank them. The reply
    is unusable if it has no word that `analyzer` keeps. The value is None if keywords come from statistics.
    The prompt is in the question's language unless `prompt_language` names another.
    """
    text = unicodedata.normalize("NFC", question).strip()
    language = language_of(text)
    least, most_of_each = settings.keywords_least, settings.keywords_most

    async def read(reply: Reply[KeywordLists]) -> tuple[Keyword, ...]:
        korean, english = by_language(reply.value, most_of_each)
        own, other = (korean, english) if language == "ko" else (english, korean)
        keywords = rank(merge(words_of_each(own, analyzer), words_of_each(other, analyzer)), most)
        if not keywords:
            raise UnusableReply("gave no usable keyword for the question")
        return keywords

    return ModelStep(
        "keywords",
        load_prompt("keywords", prompt_language or language),
        {
            "terms": f"{least}–{most_of_each}" if least < most_of_each else str(least),
            "question": text,
        },
        keyword_lists(least, most_of_each),
        read=read,
        fallback="keywords from statistics",
        otherwise=constant(None),
        inputs={"question": question},
        output=lambda keywords: keyword_records(keywords or ()),
    )


def keyword_records(keywords: Iterable[Keyword]) -> list[dict[str, Any]]:
    """Return keywords as JSON."""
    return [{"text": keyword.text, "language": keyword.language} for keyword in keywords]


def by_language(lists: KeywordLists, most: int) -> tuple[list[str], list[str]]:
    """Return the Korean and the English keywords, each once, at most `most` in each language.

    A keyword in the wrong list moves to the end of the right one; one in neither language is dropped.
    Abbreviations and numbers stay in their list: papers in both languages use them.
    """
    korean: dict[str, str] = {}
    english: dict[str, str] = {}
    moved: list[tuple[dict[str, str], str]] = []
    for listed, texts in ((korean, lists.korean), (english, lists.english)):
        for text in map(clean, texts):
            belongs = korean if HANGUL.search(text) else english if LATIN.search(text) else None
            if belongs is listed or is_shared(text):
                listed.setdefault(text.casefold(), text)
            elif belongs is not None:
                moved.append((belongs, text))
    for belongs, text in moved:
        belongs.setdefault(text.casefold(), text)
    return list(korean.values())[:most], list(english.values())[:most]


def clean(text: str) -> str:
    """Normalise a keyword to NFC, as in the index, and strip quotes and bullets."""
    return unicodedata.normalize("NFC", text).strip(MARKS_AROUND)


def is_shared(text: str) -> bool:
    """Check for an abbreviation or a number without Hangul: mRNA, GPT-4, 2019."""
    if HANGUL.search(text) or len(text) > ABBREVIATION_CHARACTERS or re.search(r"\s|[a-z]{2}", text):
        return False
    return bool(LATIN.search(text)) or (text.isascii() and any(map(str.isdigit, text)))
