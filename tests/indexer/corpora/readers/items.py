"""Items of a corpus, whose types differ from line to line."""

from indexer.corpora.papers import Paper
from indexer.corpora.readers import DeadLetter


def items_of(corpus):
    return list(corpus)


def ids(corpus):
    return [item.id for item in corpus if isinstance(item, Paper)]


def dead(corpus):
    return [item for item in corpus if isinstance(item, DeadLetter)]
