"""The words of a paper's titles and abstracts, and the words of a question among them."""

from dataclasses import dataclass

from indexer.analysis import Analyzer
from indexer.corpora.papers import Paper
from retriever.constraints.exclusions import Writing
from retriever.question.asked_words import AskedWord

READ_CHARACTERS = 4_000  # of a title, and of an abstract


@dataclass(frozen=True, slots=True)
class PaperWords:
    """The tokens and the texts of a paper's titles and abstracts."""

    tokens: frozenset[str]
    title: Writing
    text: Writing

    @classmethod
    def of(cls, paper: Paper, analyzer: Analyzer) -> "PaperWords":
        """Analyse a paper."""
        title, abstract = texts_of(paper)
        titles, texts = ([token[0] for token in analyzer.analyze(text)] for text in (title, abstract))
        written = Writing.of(titles, title), Writing.of(texts, abstract)
        return cls(frozenset([*titles, *texts]), *written)

    def held(self, word: AskedWord) -> str:
        """Return a word of a question if the paper contains it, else with the counterpart found, else ""."""
        for keyword in (word.keyword, *word.others):
            if keyword.tokens and self.tokens.issuperset(keyword.tokens):
                own = word.keyword.text
                return own if keyword is word.keyword else f"{own} ({keyword.text})"
        return ""


def texts_of(paper: Paper) -> tuple[str, str]:
    """Return a paper's titles, and its abstracts."""
    title = f"{paper.title}\n{paper.title2}".strip()
    return title[:READ_CHARACTERS], f"{paper.abstract}\n{paper.abstract2}".strip()[:READ_CHARACTERS]
