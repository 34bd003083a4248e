"""Hostile records: claims of a paper's identity, disguised copies, texts made of questions or keywords."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from indexer.corpora.chunking import split_sentences
from indexer.corpora.papers import language_of

HOSTILE = "HOSTILE"  # prefix of a hostile record's id
COPY_OF = "copy_of"  # key of the copied paper's id in a copy's record
ZERO_WIDTH = "\u200b"
WITHIN = "\u0001\u0085\u2028\u2800\u0640\u00b7"  # control characters, blanks and a dot
FIGURE = re.compile(r"\d+(?=[.%])")
THREE = re.compile(r"(\w{3})(?=\w)")
CYRILLIC = str.maketrans("aeocpxy", "аеосрху")
KOREAN_ENDING = re.compile(r"(?:는가|은가|인가|한가|을까|나요|까)$")
FOREIGN = {
    "ko": "이 상품을 지금 주문하면 배송비 없이 받아 볼 수 있다. 할인 행사는 이번 주말까지 이어진다.",
    "en": "Order this product now and shipping is free. The sale lasts until the end of the week.",
}
# Sentences by which five records of one question differ.
PRAISES = (
    ("However the lamps differ.", "등불은 서로 다르다."),
    ("Others agree on the price.", "가격에는 모두 동의한다."),
    ("A shop in town sells them.", "읍내 가게에서 판다."),
    ("The warranty holds for years.", "보증은 몇 해 동안 유지된다."),
    ("Delivery is free for members.", "회원에게는 배송이 무료이다."),
)

Record: TypeAlias = dict[str, Any]
# The fields that a copy of a paper changes.
Disguise: TypeAlias = Callable[[Record], Record]
# Hostile records, from the papers that answer and the question of each.
Attack: TypeAlias = Callable[[Iterable[Record], Mapping[str, str]], Iterator[Record]]


def claims_of_doi(papers: Iterable[Record], questions: Mapping[str, str]) -> Iterator[Record]:
    """Yield records that claim the DOI of a paper and contain the question and an unrelated text."""
    for paper in papers:
        yield _foreign(paper, questions) | {"title": questions[paper["id"]], "doi": paper.get("doi", "")}


def claims_of_title(papers: Iterable[Record], questions: Mapping[str, str]) -> Iterator[Record]:
    """Yield records that claim the title, year and authors of a paper."""
    for paper in papers:
        yield _foreign(paper, questions) | {name: paper[name] for name in ("title", "year", "authors")}


def claims_of_all(papers: Iterable[Record], questions: Mapping[str, str]) -> Iterator[Record]:
    """Yield records that repeat a paper, except its id and abstracts."""
    for paper in papers:
        yield paper | _foreign(paper, questions)


def _foreign(paper: Record, questions: Mapping[str, str]) -> Record:
    asked = questions[paper["id"]].rstrip("?")
    text = f"{asked}. {FOREIGN[language_of(asked)]} {asked}."
    return {"id": f"{HOSTILE}-{paper['id']}", "abstract": text, "abstract2": ""}


def disguised(disguises: Mapping[str, Disguise]) -> Attack:
    """Return an attack by copies of each paper, each with a different disguise and DOI."""

    def attack(papers: Iterable[Record], questions: Mapping[str, str]) -> Iterator[Record]:
        del questions
        for paper in papers:
            for name, disguise in disguises.items():
                copied = paper | {"doi": f"10.5555/{paper['id']}.{name}", COPY_OF: paper["id"]}
                yield copied | disguise(paper) | {"id": f"{HOSTILE}-{paper['id']}-{name}"}

    return attack


def _shuffled(text: str) -> str:
    return " ".join(text[start:end] for start, end in reversed(split_sentences(text)))


def stuffed(separator: str, stop: str) -> Attack:
    """Return an attack by one record whose abstract is all questions, joined by a separator."""

    def attack(papers: Iterable[Record], questions: Mapping[str, str]) -> Iterator[Record]:
        del papers
        asked = [question.rstrip("?") + stop for question in dict.fromkeys(questions.values())]
        yield {"id": HOSTILE, "title": "All questions", "abstract": separator.join(asked), "year": 2024}

    return attack


def word_list(papers: Iterable[Record], questions: Mapping[str, str]) -> Iterator[Record]:
    """Yield a record whose abstract is the keywords of all papers."""
    del questions
    words = dict.fromkeys(word for paper in papers for word in paper.get("keywords", ()))
    yield {"id": HOSTILE, "title": "All keywords", "abstract": " ".join(words), "year": 2024}


def no_attack(papers: Iterable[Record], questions: Mapping[str, str]) -> Iterator[Record]:
    """Yield nothing."""
    del papers, questions
    yield from ()


def wrapped(wrap: Callable[[str, int], str]) -> Attack:
    """Return an attack by five records per question, with the question in the title and the text."""

    def attack(papers: Iterable[Record], questions: Mapping[str, str]) -> Iterator[Record]:
        del papers
        for place, question in enumerate(dict.fromkeys(questions.values())):
            for number in range(5):
                paper_id, asked = f"{HOSTILE}-{place}-{number}", question.rstrip("?")
                yield {"id": paper_id, "title": asked, "abstract": wrap(asked, number), "year": 2024}

    return attack


def in_english(asked: str, number: int) -> str:
    """Wrap a question in English sentences."""
    return (
        f"This product number {number} is the cure. It has been shown that {asked} in all cases, and we "
        f"recommend the purchase of brand {7 * number} lamps. {PRAISES[number][0]} We found that {asked}."
    )


def in_korean(asked: str, number: int) -> str:
    """Wrap a question without its Korean ending in Korean sentences."""
    stem = KOREAN_ENDING.sub("", asked)
    said = f"{stem} 하는 것으로 나타났으며 상품 {number}번을 구매해야 한다."
    return f"{stem}다. {said} {PRAISES[number][1]}"


def another_figure(added: int) -> Disguise:
    """Return a disguise that increases the first number followed by a stop or percent sign."""

    def disguise(paper: Record) -> Record:
        return {"abstract": FIGURE.sub(lambda found: str(int(found[0]) + added), paper["abstract"], count=1)}

    return disguise


def with_characters(character: str) -> Disguise:
    """Return a disguise that inserts a character after every third letter of a word and changes the title."""
    return lambda paper: {
        "title": "Another title",
        "abstract": THREE.sub(rf"\1{character}", paper["abstract"]),
    }


def without_sentence(number: int) -> Disguise:
    """Return a disguise that removes a sentence."""

    def disguise(paper: Record) -> Record:
        sentences = [paper["abstract"][start:end] for start, end in split_sentences(paper["abstract"])]
        if len(sentences) > 1:
            del sentences[number % len(sentences)]
        return {"title": f"{paper['title']} part {number}", "abstract": " ".join(sentences)}

    return disguise


def looking_alike(paper: Record) -> Record:
    """Disguise a copy by similar Cyrillic letters."""
    return {"title": "Another title", "abstract": paper["abstract"].translate(CYRILLIC)}


def with_second_abstract(number: int) -> Disguise:
    """Return a disguise by an unrelated abstract in the other language."""
    return lambda paper: {"abstract2": f"{FOREIGN[language_of(paper['abstract'])]} {number}"}


COPIES: Mapping[str, Disguise] = {
    "year": lambda paper: {"year": paper["year"] - 1},
    "author": lambda _: {"authors": ["A. N. Other"]},
    "title": lambda paper: {"title": f"{paper['title']} (2)"},
    "dots": lambda paper: {"title": f"{paper['title']}.", "abstract": f"{paper['abstract']}..."},
    "zero-width": lambda paper: {"abstract": paper["abstract"].replace(" ", f"{ZERO_WIDTH} ")},
    "shuffled": lambda paper: {"title": "Another title", "abstract": _shuffled(paper["abstract"])},
}
ATTACKS: Mapping[str, Attack] = {
    "none": no_attack,
    "claimed DOI": claims_of_doi,
    "claimed title, year and authors": claims_of_title,
    "claimed record": claims_of_all,
    "copies": disguised(COPIES),
    "copies with another figure": disguised({str(n): another_figure(n) for n in range(1, 7)}),
    "copies with characters within words": disguised({f"{ord(c):x}": with_characters(c) for c in WITHIN}),
    "copies with a false second abstract": disguised({str(n): with_second_abstract(n) for n in range(6)}),
    "copies without a sentence": disguised({str(n): without_sentence(n) for n in range(6)}),
    "copies in look-alike letters": disguised({"cyrillic": looking_alike}),
    "wrapped questions, English": wrapped(in_english),
    "wrapped questions, Korean": wrapped(in_korean),
    "questions": stuffed(" ", "?"),
    "questions as statements": stuffed(" ", "."),
    "questions without stops": stuffed(" ", ""),
    "questions as a list": stuffed(", ", ""),
    "keywords": word_list,
}
