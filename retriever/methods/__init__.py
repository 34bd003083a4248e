"""The methods of ranking, a file each: what `--method` names.

A new method is a new file here that holds `METHOD`; its name is the file's, without a closing underscore. A
file that begins with an underscore is no method.
"""

import pkgutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from retriever.errors import BadFilter

if TYPE_CHECKING:  # the names of the methods are read before anything is searched
    from retriever.index import SearchIndex
    from retriever.keywords.choice import KeywordChoice
    from retriever.keywords.plan import QueryPlan
    from retriever.question.analysis import AnalysedQuestion
    from retriever.requests.context import SearchContext
    from retriever.settings import RetrieverSettings
    from retriever.stages.pool import CandidatePool
    from retriever.stages.ranking import Ranking

    Analyse = Callable[[SearchIndex, str], AnalysedQuestion]
    ChooseKeywords = Callable[[SearchContext, AnalysedQuestion], Awaitable[KeywordChoice]]
    PlanQueries = Callable[[SearchContext, AnalysedQuestion, KeywordChoice | None], QueryPlan]
    Rank = Callable[
        [SearchContext, AnalysedQuestion, KeywordChoice | None, QueryPlan, CandidatePool], Awaitable[Ranking]
    ]


@dataclass(frozen=True, slots=True)
class Method:
    """The stages of a method. Each makes one value from those before it.

    The first query of its plan is the one whose BM25 explains a passage's place. `order` and
    `order_by_vectors` say in words how hits are ordered.
    """

    plan: "PlanQueries"
    rank: "Rank"
    order: str
    order_by_vectors: str = ""
    keywords: "ChooseKeywords | None" = None
    analyse: "Analyse | None" = None  # None: the question is text
    title_weight: "Callable[[RetrieverSettings], float] | None" = None  # None: it has no title clause
    synonyms: bool = True  # whether words may stand for their synonyms
    plain_words: bool = False  # whether everyday words may stand for scholarly ones
    uses: frozenset[str] = frozenset()  # the options that have an effect on it, of those not all methods have
    reranks: bool = False  # whether a cross-encoder may read the first hits again
    later: tuple[str, ...] = ()  # names of queries that it may send after those of its plan


def method_names() -> tuple[str, ...]:
    """Name the methods there are."""
    return tuple(_modules())


@cache
def method_named(name: str) -> Method:
    """Return a method; BadFilter, with those there are, where none has that name."""
    if module := _modules().get(name):
        method: Method = import_module(f"{__name__}.{module}").METHOD
        return method
    raise BadFilter(f"no method {name!r}; there are {', '.join(method_names())}")


def _modules() -> dict[str, str]:
    """Return the module of each method."""
    modules = (module.name for module in pkgutil.iter_modules(__path__))
    return {module.rstrip("_"): module for module in modules if not module.startswith("_")}
