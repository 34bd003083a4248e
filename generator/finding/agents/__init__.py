"""The agents that find papers, a file each: what it asks a language model for, and what takes its place.

Each is a step or several of the loop in `generator/finding/loop.py`. The retrieval is always on; the others
can be switched off by these names.
"""

# Of each, what goes on where it is switched off.
AGENTS = (
    "understanding",  # the question alone is searched for, within the years that it names
    "query-writing",  # the words of each query are searched for in every source
    "judgement",  # papers are judged by relevance without a model
    "refchain",  # no references are followed
    "evolver",  # no further queries are made of what was found
    "reranking",  # papers are ordered by their judgement alone
)
# What the project adds to the paper's method.
ADDITIONS = (
    "cited-by",  # papers that refer to relevant ones are judged too
    "specific-intent",  # a question for one certain paper is not widened
    "own-words",  # a query whose terms by the model bring no paper is searched for by its own words too
    "links",  # without a model, a paper counts as relevant too where several relevant ones refer to it
)
PURE = frozenset(ADDITIONS)  # what the pure mode leaves out
