"""The ranking methods for `--method`, one file each.

A new method is a new file here with a constant `METHOD`. Its name is that of the file, without a closing
underscore. Files whose names start with an underscore are ignored.
"""

import pkgutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from retriever.errors import BadFilter

if TYPE_CHECKING:  # only names are needed before a search
    from retriever.index import SearchIndex
    from retriever.keywords.choice import KeywordChoice
    from retriever.query_plan import QueryPlan
    from retriever.question.analysis import AnalysedQuestion
    from retriever.requests.context import SearchContext
    from retriever.settings import RetrieverSettings
    from retriever.stages.pool import CandidatePool
    from retriever.stages.stages import Ranking

    Analyse = Callable[[SearchIndex, str], AnalysedQuestion]
    ChooseKeywords = Callable[[SearchContext, AnalysedQuestion], Awaitable[KeywordChoice]]
    PlanQueries = Callable[[SearchContext, AnalysedQuestion, KeywordChoice | None], QueryPlan]
    Rank = Callable[
        [SearchContext, AnalysedQuestion, KeywordChoice | None, QueryPlan, CandidatePool], Awaitable[Ranking]
    ]


@dataclass(frozen=True, slots=True)
class Method:
    """The stages of a method. Each computes one value from earlier ones.

    The BM25 of the plan's first query explains a passage's place. `order` and `order_by_vectors` describe the
    order of hits in words.
    """

    plan: "PlanQueries"
    rank: "Rank"
    order: str
    order_by_vectors: str = ""
    keywords: "ChooseKeywords | None" = None
    analyse: "Analyse | None" = None  # None: the question is text
    title_weight: "Callable[[RetrieverSettings], float] | None" = None  # None: it has no title clause
    synonyms: bool = True  # whether synonyms are searched for
    plain_words: bool = False  # whether scholarly equivalents of everyday words are searched for
    uses: frozenset[str] = frozenset()  # method-specific options
    reranks: bool = False  # whether a cross-encoder may rerank the first hits
    later: tuple[str, ...] = ()  # names of queries sent after the plan


def method_names() -> tuple[str, ...]:
    """Return the names of all methods."""
    return tuple(_modules())


@cache
def method_named(name: str) -> Method:
    """Return a method; BadFilter, with all names, if none has that name."""
    if module := _modules().get(name):
        method: Method = import_module(f"{__name__}.{module}").METHOD
        return method
    raise BadFilter(f"no method {name!r}; there are {', '.join(method_names())}")


def _modules() -> dict[str, str]:
    """Return the module of each method."""
    modules = (module.name for module in pkgutil.iter_modules(__path__))
    return {module.rstrip("_"): module for module in modules if not module.startswith("_")}
