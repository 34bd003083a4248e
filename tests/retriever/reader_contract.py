"""Expressions on papers, known items and spellings on every engine; see `engine_contract`."""

import itertools
import random

import pytest

from base.notes import Note
from retriever.search import SearchRequest
from retriever.settings import RetrieverSettings
from retriever.views.facets import facets
from tests.retriever.made_papers import contract_fixture, found, indexed

WORDS = "모래 갯벌 조개 tide shell crab".split()
MIXED = random.Random(5)


def sentences(language):
    """Return a text of several sentences, each with some of the words, so that passages differ."""
    words = WORDS[:3] if language == "ko" else WORDS[3:]
    filler = "밀물이 들어온다" if language == "ko" else "Water comes in"
    return " ".join(f"{filler} {' '.join(MIXED.sample(words, MIXED.randint(0, 2)))}." for _ in range(4))


FLATS = [
    {"id": f"FLAT-{number:02}", "title": f"Record {number}", "abstract": sentences("en"), "lang": "en"}
    | {"abstract2": sentences("ko"), "year": 2000 + number % 3, "body": "\n\n".join(sentences("en") * 30)}
    for number in range(24)
]
SPELLED = [
    {"id": "SIGNS-1", "title": "Parsing C++ code", "abstract": "Code in C++로 쓴 글."},
    {"id": "SIGNS-2", "title": "Parsing C# code", "abstract": "Code in C# alone."},
    {"id": "SIGNS-3", "title": "Parsing C code", "abstract": "Code in C alone."},
    {
        "id": "ACCENT",
        "title": "Naïve façades of Kraków",
        "abstract": "Müller's étude.",
        "doi": "10.5555/acc.1",
    }
    | {"authors": ["Żółć, Łucja", "José Ortega y Gasset"], "journal": "Façade & Étude"},
    {"id": "WIDE", "title": "ＡＩ in ﬁelds of CO₂", "abstract": "Uptake of H₂O₂ at 1,200 sites, m² each."}
    | {"authors": ["강가은(Kang, Ga-eun)"], "url": "https://arxiv.org/abs/2401.01234v2"},
    {
        "id": "HIDDEN",
        "title": "Tu\u00admours and 감염\u200b병",
        "abstract": "Text.",
        "journal": "Hidden Letters",
    },
    {
        "id": "HANJA",
        "title": "女性 賃金의 比率",
        "abstract": "歷史와 理論.",
        "authors": ["김 철수"],
        "lang": "ko",
    },
    {
        "id": "STOP",
        "title": "To be or not to be: a drama",
        "abstract": "Speech acts.",
        "authors": ["B. Gray"],
        "doi": "10.5555/S0140-6736(20)30183-5",
    },
    {"id": "BARE", "title": "A record without abstract", "authors": ["Gray, Barbara"]},
    {"id": "JOINED", "title": "Birthweight in a nonlinear model", "abstract": "Maps."},
    {"id": "PARTED", "title": "Follow-up of e-learning", "abstract": "A year."},
]


@pytest.fixture(scope="module")
def flats(tmp_path_factory, settings_for):
    with indexed(settings_for(tmp_path_factory.mktemp("flats")), FLATS, "flats") as index:
        assert index.manifest.passages > 2 * index.manifest.papers
        yield index


spelled = contract_fixture(SPELLED, "spelled")


def papers(index, expression):
    return {hit.doc_id for hit in found(index, expression, "boolean", k=50).hits}


@pytest.mark.parametrize(("one", "other"), list(itertools.permutations(WORDS, 2)))
def test_operators_are_those_of_sets_of_papers(flats, one, other):
    either = {word: papers(flats, word) for word in (one, other)}
    of_2001 = papers(flats, "year:2001")
    expected = {
        f"{one} AND {other}": either[one] & either[other],
        f"{one} OR {other}": either[one] | either[other],
        f"{one} NOT {other}": either[one] - either[other],
        f"year:2001 NOT {one}": of_2001 - either[one],
        f"({one} NOT {other}) OR ({other} NOT {one})": either[one] ^ either[other],
        f"record NOT ({one} AND {other}) year:2001": of_2001 - (either[one] & either[other]),
        f"({one} AND {other}) OR year:2001": of_2001 | (either[one] & either[other]),
        f"year:2001 OR (year:2000 NOT {one})": of_2001 | (papers(flats, "year:2000") - either[one]),
        f"({one} OR year:2001) NOT {other}": (of_2001 | either[one]) - either[other],
        f"({one} AND nowhere) OR {other}": either[other],
    }

    assert {each: papers(flats, each) for each in expected} == expected
    for expression, wanted in expected.items():
        request = SearchRequest(expression, "boolean")
        counted = facets(flats, request, RetrieverSettings())
        assert not counted.exact or counted.papers == len(wanted)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("C++", "SIGNS-1"),
        ("C#", "SIGNS-2"),
        ("code AND C", "SIGNS-3"),
        ("naive facades krakow MULLER Etude", "ACCENT"),
        ("AI AND ＡＩ AND field", "WIDE"),
        ("CO2 AND CO₂ AND H2O2 AND 1200 AND m2", "WIDE"),
        ("tumours AND 감염병", "HIDDEN"),
        ("여성 AND 임금 AND 비율 AND 역사 AND 이론 AND 女性", "HANJA"),
        ('author:"łucja zolc"', "ACCENT"),
        ("author:Ortega AND author:zolc", "ACCENT"),
        ('author:"L. Zolc"', "ACCENT"),
        ('author:"Ga-Eun Kang" AND 저자:강가은', "WIDE"),
        ("author:김철수", "HANJA"),
        ('journal:"facade étude"', "ACCENT"),
        ("doi:https://doi.org/10.5555/ACC.1", "ACCENT"),
        ("doi:2401.01234", "WIDE"),
        ("doi:10.5555/S0140-6736(20)30183-5", "STOP"),
        ('author:"강가은(Kang, Ga-eun)" AND author:"Kang Ga Eun"', "WIDE"),
        ('author:ortega AND author:"José Ortega"', "ACCENT"),
    ],
)
def test_spellings_do_not_matter(spelled, expression, expected):
    assert papers(spelled, expression) == {expected}


@pytest.mark.parametrize(
    ("question", "expected", "code"),
    [
        ("10.5555/acc.1", ["ACCENT"], "papers_of_doi"),
        ("arXiv:2401.01234v1", ["WIDE"], "papers_of_doi"),
        ("NAÏVE FACADES OF KRAKOW.", ["ACCENT"], "papers_of_title"),
        ("to be or not to be", ["STOP"], "papers_of_title"),
        ("A Record Without Abstract", ["BARE"], "papers_of_title"),
        ("Łucja Żółć", ["ACCENT"], "papers_of_author"),
        ("강가은", ["WIDE"], "papers_of_author"),
        ("김철수", ["HANJA"], "papers_of_author"),
        ("B. Gray", ["BARE", "STOP"], "papers_of_author"),
    ],
)
def test_known_items_are_first(spelled, question, expected, code):
    result = found(spelled, question, k=5)

    assert [hit.doc_id for hit in result.hits][: len(expected)] == expected
    assert not result.unknown_words
    assert code in {note.code for note in result.notes if isinstance(note, Note)}


@pytest.mark.parametrize(
    ("question", "expression"),
    [
        *((f'record "{one} {other}"', f'"{one} {other}"') for one, other in itertools.permutations(WORDS, 2)),
        ("record “모래 갯벌” and “tide shell”", '"모래 갯벌" AND "tide shell"'),
        ('record -"crab shell" "tide crab"', '"tide crab"'),
    ],
)
def test_quoted_phrases_choose_papers_if_some_contain_them(flats, question, expression):
    with_phrases, result = papers(flats, expression), found(flats, question, k=50)
    codes = {note.code for note in result.notes if isinstance(note, Note)}
    listed = {hit.doc_id for hit in result.hits}

    assert listed == (with_phrases or {paper["id"] for paper in FLATS})
    assert ("phrases_only" in codes) == bool(with_phrases) == ("phrases_unknown" not in codes)
    counted = facets(flats, SearchRequest(question), RetrieverSettings())
    assert not counted.exact or counted.papers == len(listed)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("author:Ortega", ["ACCENT"]),
        ("AUTHOR:Ortega etude", ["ACCENT"]),
        ("etude author:Gray", []),
        ('speech 저자:"B. Gray"', ["STOP"]),
        ("doi:10.5555/acc.1", ["ACCENT"]),
        ('code journal:"facade etude"', []),
        ('naive journal:"facade etude"', ["ACCENT"]),
        ("code title:C++", ["SIGNS-1"]),
        ("임금 언어:한국어", ["HANJA"]),
        ("lang:en 임금", []),
        ("id:WIDE", ["WIDE"]),
        ("etude NOT author:Ortega", []),
        ("임금 저자:김철수 제외하고", []),
        ("naive author:Nobody", ["ACCENT"]),
        ("code author:Nobody id:SIGNS-1", ["SIGNS-1"]),
        ("author:Ortega OR author:Nobody", ["ACCENT"]),
        ("(author:Ortega) etude, journal:Nowhere.", ["ACCENT"]),
        ("birth weight lang:en", ["JOINED"]),
        ("non-linear lang:en", ["JOINED"]),
        ("followup lang:en", ["PARTED"]),
        ("elearning lang:en", ["PARTED"]),
    ],
)
def test_fields_of_a_question_are_filters(spelled, question, expected):
    result = found(spelled, question, k=5)
    counted = facets(spelled, SearchRequest(question), RetrieverSettings())

    assert [hit.doc_id for hit in (*result.hits, *result.title_only)] == expected
    assert counted.papers == len(expected)


@pytest.mark.parametrize(
    "question", ["ISO:9001 of code", "year:soon code", "https://a.org code", "time: code"]
)
def test_other_words_with_a_colon_are_words(spelled, question):
    assert {hit.doc_id for hit in found(spelled, question, k=5).hits} >= {"SIGNS-1", "SIGNS-2", "SIGNS-3"}
