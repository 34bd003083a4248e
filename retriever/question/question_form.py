"""Detection of questions that need several steps, from their form, before any search.

A question of several steps names a thing by a clause about another ("the studio that made the film in
which …", "그 영화를 감독한 사람이 태어난 …"), or compares two. The score is a logistic regression over counts
of such signs (`python -m eval.experiments.hops --fit`), the same for English and Korean.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from base.letters import HANGUL
from base.logistic import likelihood
from indexer.analysis import Analyzer
from indexer.analysis.names import names_in
from indexer.analysis.tokens import TaggedWord

# Fitted on HotpotQA's hundred questions and the training questions of tydi's English; 2 % of the latter reach
# the threshold.
WEIGHTS: Mapping[str, float] = {
    "bias": -6.7,
    "clauses": 3.93,
    "participles": 1.7,
    "links": 0.58,
    "comparison": 4.12,
    "names": 1.37,
}
THRESHOLD = 0.15

MOST_CHARACTERS, MOST_WORDS = 1_000, 60  # a longer text was pasted in
MOST_COUNTED = 3  # of each sign

# An English clause has a relative pronoun, or a participle and its preposition. A question word that is not
# at the beginning counts too, since a statement precedes it.
ASKING = r"(?:who|whom|whose|which|that|where|when|what|how)"
RELATIVE = re.compile(rf"\b{ASKING}(?:'s|m)?\b", re.IGNORECASE)
ASKS_FIRST = re.compile(
    rf"\W*(?:(?:about|after|at|before|by|during|for|from|in|of|on|since|through|to|under|until|with)\s+)?{ASKING}\b",
    re.IGNORECASE,
)
PARTICIPLE = re.compile(
    r"\b(?!(?:did|used|called|located|need|speed|breed)\b)"
    r"(?:\w{2,}ed|built|born|held|known|made|sung|shot|set|won|written)\s+(?:by|in|from|for|on|at|of|as|with)\b",
    re.IGNORECASE,
)
LINK = re.compile(r"\bof\b|['’]s\b", re.IGNORECASE)
COMPARISON = re.compile(
    r"\bboth\b|\bin common\b|\bcompared? (?:to|with)\b|\b(?:versus|vs)\b|\bthe same\b|^\W*between\b"
    r"|,[^,]+\bor\b"
    r"|\b(?:\w+er|more|less|first|oldest|youngest)\b.+\bor\b"
    r"|둘\s*다|모두|(?:중|가운데)(?:에서)?\s+(?:어느|누가|무엇이|어떤|더|먼저)|보다\s+(?:더|먼저)|공통",
    re.IGNORECASE,
)
# Sejong's tags. A clause about the requested thing itself does not count: 한글을 만든 왕은 누구인가.
ADNOMINAL, GENITIVE, SUBJECT, TOPIC, ADJECTIVE = "ETM", "JKG", "JKS", "JX", "VA"
NOUNS = frozenset({"NNG", "NNP", "NNB", "NNBC", "NR", "SL", "SN", "XSN", "XPN"})
CASES = frozenset({"JKG", "JKS", "JKO", "JKB", "JC", "SSO"})
# Heads of clauses that name no thing: the way in which, the effect that.
LIGHT_HEADS = frozenset("것 때 수 영향 방법 방식 효과 경우 연구 정도 이유 데 일 중 과정 문제 점 동안".split())


@dataclass(frozen=True, slots=True)
class QuestionForm:
    """Counts of the signs of several steps in a question, each at most three."""

    clauses: float  # that identify a thing
    participles: float  # instead of clauses, in English
    links: float  # from one thing to another
    comparison: float  # 1 if two things are compared
    names: float

    @property
    def likelihood(self) -> float:
        """The likelihood that several steps are needed, 0 to 1."""
        return self.likelihood_by(WEIGHTS)

    @property
    def has_several_steps(self) -> bool:
        """Whether the question is one of several steps."""
        return self.likelihood >= THRESHOLD

    def likelihood_by(self, weights: Mapping[str, float]) -> float:
        """Return the likelihood by other weights."""
        return likelihood(weights, self.values())

    def values(self) -> dict[str, float]:
        """Return the signs by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def relates_things(question: str, analyzer: Analyzer) -> bool:
    """Check whether a question asks for one thing through another: "the founder of X", "X를 만든 감독이 …".

    A Korean genitive alone ("X의 수도는?") mostly asks for a single fact, so Korean needs more signs.
    """
    form = question_form(question, analyzer)
    if HANGUL.search(question):
        return form.has_several_steps
    return form.clauses + form.participles + form.links + form.comparison > 0


def question_form(question: str, analyzer: Analyzer) -> QuestionForm:
    """Count the signs of several steps; zero for a text that was pasted in."""
    text = question if len(question) <= MOST_CHARACTERS and len(question.split()) <= MOST_WORDS else ""
    tagged = analyzer.tagged_tokens(text)
    names = names_in(text, tagged)
    korean = HANGUL.search(text) is not None
    words = analyzer.tagged_words(text) if korean else []
    clauses = _korean_clauses(words, text) if korean else _relative_clauses(text)
    participles = 0 if korean else len(PARTICIPLE.findall(text))
    links = sum(tag == GENITIVE for tag, *_ in words) if korean else len(LINK.findall(text))
    return QuestionForm(
        clauses=float(min(clauses, MOST_COUNTED)),
        participles=float(min(participles, MOST_COUNTED)),
        links=float(min(links, MOST_COUNTED)),
        comparison=float(COMPARISON.search(text) is not None),
        names=float(min(len(names), MOST_COUNTED)),
    )


def _relative_clauses(text: str) -> int:
    """Count the question words, except one at the beginning."""
    return len(RELATIVE.findall(text)) - (ASKS_FIRST.match(text) is not None)


def _korean_clauses(words: Sequence[TaggedWord], text: str) -> int:
    """Count clauses before a noun that links to another: 한글을 만든 왕의 아버지, 왕이 세운 나라의 수도.

    A clause before the requested thing counts if its subject is described by another clause: 그 영화를 감독한
    사람이 태어난 도시는.
    """
    count, has_actor = 0, False
    for place, (tag, *_) in enumerate(words):
        if tag.endswith(ADNOMINAL):
            case = _case_of_head(words[place + 1 :], text)
            count += case in CASES or (has_actor and case == TOPIC)
            has_actor = has_actor or (case == SUBJECT and not tag.startswith(ADJECTIVE))
    return count


def _case_of_head(after: Sequence[TaggedWord], text: str) -> str:
    """Return the tag after the noun that follows a clause; "" if the noun names no thing."""
    head = ""
    for tag, start, end in after:
        if tag not in NOUNS:
            return tag if head and head not in LIGHT_HEADS else ""
        head = text[start:end]
    return ""
