"""Exclusions of a question, the papers that it excludes, and the NOT clauses for them."""

import re
from collections.abc import Sequence
from dataclasses import replace

from eval.reproduction.retrieving import ChangePlan
from retriever.constraints.exclusions import Exclusion
from retriever.constraints.parsing import Constraints, find_constraints
from retriever.queries.boolean import And, Not, Or, pattern_clause
from retriever.query_plan import QueryPlan

WRITTEN, WITHOUT = "written exclusions", "without X"
WITHOUT_X = re.compile(
    r"\bwithout\s+(?:(?:any|an?|the|using)\s+)*(?P<english>[\w-]+(?:\s+(?!(?:in|on|for|with|by|from|to|at|and|or"
    r"|is|are|was|were|after|before|during)\b)[\w-]+){0,2})"
    r"|(?<!\S)(?P<korean>(?!(?:수|끊임|틀림|상관|관계|변함)\s)\S+)\s없이",
    re.IGNORECASE,
)


def exclusions_of(question: str, year: int) -> tuple[str, Constraints] | None:
    """Return the exclusions of a question and their kind; None without any."""
    written = find_constraints(question, year).exclusions
    if written:
        return WRITTEN, Constraints(written)
    without = tuple(
        Exclusion(found["english"] or found["korean"], "without", found.start(), found.end())
        for found in WITHOUT_X.finditer(question)
    )
    return (WITHOUT, Constraints(without)) if without else None


def without_names(names: Sequence[str], *, title: bool = False) -> ChangePlan:
    """Return a change of a plan: each query leaves out documents with a name, or with a name in the title."""
    anywhere = [pattern_clause(name, tuple(enumerate(name.split()))) for name in names]
    clauses = tuple(replace(clause, field="title") if title else clause for clause in anywhere)

    def change(plan: QueryPlan) -> QueryPlan:
        if not clauses:
            return plan
        return replace(
            plan,
            queries=tuple(
                replace(named, query=And((named.query, Not(Or(clauses))))) for named in plan.queries
            ),
        )

    return change
