"""Exclusions and years of a strategy: papers about an excluded thing lose most of their score."""

import pytest

from indexer.analysis import make_analyzer
from indexer.glossary.given import read_glossary
from retriever.exclusions import Excluded, loss_of_text
from retriever.strategy import Strategy
from tests.retriever.made_papers import found, ids, index_of, run_of

QUESTION = "battery fires"
# Each paper answers the question; the first five name the anode somewhere else.
PAPERS = [
    {"id": "TITLE", "title": "Battery fires at the anode", "abstract": "Battery fires."},
    {"id": "KEYWORD", "title": "Battery fires", "abstract": "Battery fires are hot.", "keywords": ["Anodes"]},
    {"id": "TEXT", "title": "Battery fires", "abstract": "Battery fires, one near an anode.", "year": 2012},
    {
        "id": "OFTEN",
        "title": "Battery fires",
        "abstract": "Battery fires: anode, anodes, the anode, an anode.",
    },
    {"id": "KOREAN", "title": "음극과 battery fires", "abstract": "Battery fires, 배터리 화재."},
    {"id": "OTHER", "title": "Battery fires", "abstract": "Battery fires in a tunnel.", "year": 2020},
    *({"id": f"F{n}", "title": f"Rice {n}", "abstract": f"Paddy fields of season {n}."} for n in range(9)),
]
ANODES = Excluded("anodes", (((0, "anod"),),))
ANODE = Strategy(en=("battery", "fires"), exclude=({"en": "anode"},))


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    home = tmp_path_factory.mktemp("exclusions")
    (home / "glossary.tsv").write_text("음극\tanode\n냉각판\tcooling plate\n", encoding="utf-8")
    with index_of(home, *PAPERS, glossary=read_glossary(home / "glossary.tsv")) as index:
        yield index


def scores(index, question=QUESTION, **request):
    return dict(run_of(index, question, "shrag", **request))


def test_a_paper_about_an_excluded_thing_keeps_a_tenth_of_its_score(index):
    full, less = (scores(index, strategy=of) for of in (ANODE.changed(exclude=[]), ANODE))
    shares = {name: less[name] / full[name] for name in full}

    assert shares == pytest.approx(
        {
            "TITLE": 0.1,
            "KEYWORD": 0.1,
            "KOREAN": 0.1,
            "OTHER": 1,
            "TEXT": 1,
            "OFTEN": 1,
        }
    )
    assert set(list(less)[:3]) == {"OTHER", "TEXT", "OFTEN"}


@pytest.mark.parametrize(
    ("question", "request_"),
    [
        ("battery fires -anode", {}),
        ("battery fires NOT anodes", {}),
        ("battery fires, except anodes", {}),
        ("음극을 제외한 battery fires", {}),
        ("battery fires", {"exclude": ("anode",)}),
        ("battery fires", {"exclude": ("음극",)}),
        ("battery fires", {"strategy": ANODE}),
        ("battery fires, and skip the anodes please", {"strategy": ANODE}),
        ("battery fires", {"strategy": ANODE.changed(exclude=[]), "exclude": ("anode",)}),
    ],
)
def test_an_exclusion_of_question_call_or_strategy_ranks_the_paper_lower(index, question, request_):
    result = found(index, question, **request_)

    assert {hit.doc_id for hit in result.hits[-3:]} == {"TITLE", "KEYWORD", "KOREAN"}
    [excluded] = result.strategy.exclude
    text = next(iter(excluded.values()))
    assert f"papers about {text} are ranked lower; 3 of 6 hits are about {text}" in result.notes


@pytest.mark.parametrize("excluded", ["battery", "the", "배터리"])
def test_what_the_search_asks_for_excludes_nothing_and_a_note_says_so(index, excluded):
    strategy = Strategy(en=("battery",), ko=("배터리",))

    result = found(index, QUESTION, strategy=strategy, exclude=(excluded,))

    assert [(hit.doc_id, hit.score) for hit in result.hits] == [
        (hit.doc_id, hit.score) for hit in found(index, QUESTION, strategy=strategy).hits
    ]
    note = f"nothing is excluded by {excluded}: the search asks for it, or it has no words"
    assert note in result.notes


def test_years_of_a_strategy_filter_and_papers_without_a_year_are_kept(index):
    strategy = ANODE.changed(exclude=[], years=(2015, None))

    kept = set(ids(index, QUESTION, strategy=strategy))
    assert kept == {"OTHER", "TITLE", "KEYWORD", "OFTEN", "KOREAN"}
    assert set(ids(index, "battery fires since 2015")) == kept
    assert "TEXT" in ids(index, "battery fires since 2015", conditions=False)


@pytest.mark.parametrize(
    ("title", "keywords", "loss"),
    [
        ("The anode", [], 0.9),
        ("Fires", ["anodes"], 0.9),
        ("Fires", ["cathodes"], 0),
    ],
)
def test_a_paper_outside_an_index_loses_alike(title, keywords, loss):
    analyzer = make_analyzer("bilingual")

    assert loss_of_text([ANODES], title, keywords, analyzer) == pytest.approx(loss)
    assert loss_of_text([], title, keywords, analyzer) == 0
