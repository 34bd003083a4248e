"""The expert language: what a person types is the query."""

from retriever.index import SearchIndex
from retriever.keywords.choice import KeywordChoice
from retriever.methods import Method, or_
from retriever.queries.expert import parse_expression
from retriever.query_plan import EXPRESSION, NamedQuery, QueryPlan
from retriever.question.analysis import AnalysedQuestion
from retriever.requests.context import SearchContext


def analyse(index: SearchIndex, expression: str) -> AnalysedQuestion:
    """Parse the expression, and add synonyms of its words."""
    query = parse_expression(expression, index.analyzer)
    return AnalysedQuestion(expression, expression=query and index.synonyms.expanded(query))


def plan(context: SearchContext, question: AnalysedQuestion, _: KeywordChoice | None) -> QueryPlan:
    """Plan the query of the expression."""
    if question.expression is None:
        return QueryPlan()
    return QueryPlan((NamedQuery(EXPRESSION, question.expression, context.request.k),))


METHOD = Method(
    analyse=analyse,
    plan=plan,
    rank=or_.rank,
    order="BM25 of the expression's words",
)
