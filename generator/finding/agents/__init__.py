"""Agents of paper finding, one per file, each with its model call and its fallback.

Each agent is one or more steps of the loop in `generator/finding/finding.py`. Retrieval is always on; the
other agents can be switched off by name.
"""

# The comments describe the search without each agent.
AGENTS = (
    "understanding",  # only the question is searched for, within the years that it names
    "query-writing",  # every source is searched with the words of each query
    "judgement",  # papers are judged by relevance without a model
    "refchain",  # no references are followed
    "evolver",  # no further queries are derived from relevant papers
    "reranking",  # papers are ordered by their judgement
)
# Additions of this project to SPAR.
ADDITIONS = (
    "cited-by",  # papers that cite relevant papers are judged too
    "specific-intent",  # a question for one specific paper is not expanded
    "own-words",  # a query whose model terms find no paper is repeated with its own words
    "links",  # without a model, links from several relevant papers make a paper relevant
)
PURE = frozenset(ADDITIONS)  # switched off in the pure mode
