"""Different records of one paper among hits."""

import re
from dataclasses import replace

import pytest

from indexer.corpora.normal_forms import normal_doi, normal_title
from indexer.corpora.papers import language_of
from indexer.files.schema import StoredPassage
from retriever.duplicates.folding import without_duplicates
from retriever.settings import RetrieverSettings
from retriever.stages.hits import Hit
from tests.retriever.made_papers import found, ids, index_of, opened, run_of

FLOOD = (
    "Flooded rice paddies emit methane. We drained 24 plots in midseason for three summers and measured the "
    "gas with closed chambers. Emission fell by 37% and yield stayed the same."
)
SEWER = (
    "Sewer pipes corrode where hydrogen sulfide gathers. We coated 12 pipes of concrete with epoxy resin and "
    "weighed samples every month. Loss of mass fell by half within one year."
)
PADDY = (
    "물이 찬 논은 메탄을 내보낸다. 우리는 세 해 여름 동안 24개 논에서 중간에 물을 떼고 밀폐 상자로 "
    "기체를 쟀다. 메탄 배출량은 37% 줄었고 쌀 수확량은 달라지지 않았다."
)


def hit(passage_id, title="", text="", *, doc_id=None, year=None, sequence=0, score=1.0, **paper):
    passage = StoredPassage(passage_id, doc_id or passage_id, title, text, "en", "abstract", year)
    return Hit(0, replace(passage, sequence=sequence), score, paper=paper)


def shown(*hits):
    """Return the ids of the hits that are shown."""
    return [one.passage_id for one in without_duplicates(hits)]


def same_paper(one, other):
    return len(without_duplicates([one, other])) == 1


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    with opened(tmp_path_factory) as index:
        yield index


@pytest.mark.parametrize(
    "doi",
    [
        "10.5555/ABC.1",
        " 10.5555/abc.1 ",
        "doi:10.5555/abc.1",
        "DOI: 10.5555/abc.1",
        "https://doi.org/10.5555/abc.1",
        "http://dx.doi.org/10.5555/ABC.1",
        "doi.org/10.5555/abc.1",
    ],
)
def test_a_doi_is_the_same_however_it_is_written(doi):
    assert normal_doi(doi) == "10.5555/abc.1"
    assert same_paper(hit("A", "Graphs", doi="10.5555/abc.1"), hit("B", "Graphs", doi=doi))


def test_another_doi_is_another_paper():
    assert not same_paper(hit("A", "Graphs", doi="10.5555/abc.1"), hit("B", "Graphs", doi="10.5555/abc.10"))


def test_a_doi_without_a_name_says_nothing():
    assert not same_paper(hit("A", doi="https://doi.org/"), hit("B"))
    assert not same_paper(hit("A", doi=""), hit("B", doi=""))


def test_a_title_is_its_letters_and_digits_in_one_case():
    assert normal_title("Ｋnowledge-Graphs: A  Survey (2nd)") == "knowledgegraphsasurvey2nd"
    assert normal_title("지식 그래프의 \u1112\u1161\u11ab\u1100\u116e\u11a8 연구") == "지식그래프의한국연구"


def test_one_title_in_one_year_is_one_paper():
    assert same_paper(
        hit("A", "Knowledge graphs: a survey", year=2020), hit("B", "Knowledge Graphs – A Survey", year=2020)
    )


def test_one_title_in_two_years_is_two_papers():
    one, other = hit("A", "Knowledge graphs", year=2020), hit("B", "Knowledge graphs", year=2021)

    assert not same_paper(one, other)


def test_one_title_with_an_author_in_common_is_one_paper():
    one = hit("A", "Knowledge graphs", year=2020, authors=["Kim, A.", "곽소율"])
    other = hit("B", "Knowledge graphs", year=2021, authors=["곽 소율"])

    assert same_paper(one, other)


def test_one_title_without_year_and_authors_is_two_papers():
    assert not same_paper(hit("A", "Knowledge graphs"), hit("B", "Knowledge graphs"))
    assert not same_paper(
        hit("A", "Knowledge graphs", authors=[""]), hit("B", "Knowledge graphs", authors=["-"])
    )


def test_a_short_title_says_nothing():
    assert not same_paper(hit("A", "Preface", year=2020), hit("B", "Preface", year=2020))
    assert same_paper(hit("A", "Prefaces", year=2020), hit("B", "Prefaces", year=2020))


@pytest.mark.parametrize(
    "claimed",
    [
        {"doi": "10.5555/RICE"},
        {"title": "Methane of rice paddies", "year": 2020},
        {"title": "Methane of rice paddies", "authors": ["곽소율"]},
        {"title": "Methane of rice paddies", "year": 2020, "authors": ["곽소율"], "doi": "10.5555/rice"},
    ],
    ids=["DOI", "title and year", "title and author", "all"],
)
@pytest.mark.parametrize("sequence", [0, 2])
def test_a_record_with_another_text_hides_no_paper_whatever_it_claims(claimed, sequence):
    hostile = hit("HOSTILE", **{"title": "Sewers", "text": SEWER, "sequence": sequence, **claimed})
    paper = hit(
        "PAPER",
        "Methane of rice paddies",
        FLOOD,
        year=2020,
        sequence=1,
        doi="10.5555/rice",
        authors=["곽소율"],
    )

    assert shown(hostile, paper) == ["HOSTILE", "PAPER"]


def test_hits_of_one_doi_and_different_texts_name_each_other():
    one, other = hit("A", "Rice", FLOOD, doi="10.1/x"), hit("B", "Sewers", SEWER, doi="10.1/X")

    kept = without_duplicates([one, other, hit("C", "Rain", "It rains.", doi="10.1/y")])

    assert [one.same_doi for one in kept] == [("B",), ("A",), ()]
    assert kept[0].as_record()["same_doi"] == ["B"]
    assert list(kept[0].remarks()) == ["same DOI, different text: B"]
    assert "same_doi" not in kept[2].as_record()


def test_a_shortened_text_of_the_same_doi_is_one_paper():
    shortened = (
        "Flooded rice paddies emit methane. Emission fell by 37% with midseason drainage of the plots."
    )

    assert same_paper(hit("A", "Rice", FLOOD, doi="10.1/x"), hit("B", "Paddies", shortened, doi="10.1/x"))
    assert not same_paper(hit("A", "Rice", FLOOD), hit("B", "Paddies", shortened))


def test_a_text_within_a_much_longer_one_is_another_paper():
    longer = f"{FLOOD} {SEWER} " + " ".join(f"sale{word}" for word in range(60))

    assert not same_paper(hit("A", "Rice", FLOOD, doi="10.1/x"), hit("B", "Rice", longer, doi="10.1/x"))


def test_records_without_texts_are_one_paper_by_doi_if_their_titles_agree():
    titled = hit("A", "Methane of rice paddies", doi="10.1/x")

    assert same_paper(titled, hit("B", "Methane of rice paddies: a review", doi="10.1/x"))
    assert same_paper(titled, hit("B", "논의 메탄", doi="10.1/x", title2="Methane of rice paddies"))
    assert not same_paper(titled, hit("B", "Sewers of cities", doi="10.1/x"))


DISGUISES = {
    "another year, author and title": {"title": "Sewers", "year": 1999, "authors": ["A. N. Other"]},
    "a number behind the title": {"title": "Methane of rice paddies (2)"},
    "dots": {"title": "Methane of rice paddies.", "text": f"{FLOOD}..."},
    "zero-width spaces": {"text": "\u200b".join(FLOOD)},
    "joiners between letters": {"text": "\u2060\u034f".join(FLOOD)},
    "another order of sentences": {"text": " ".join(reversed(FLOOD.split(". "))) + "."},
    "capitals": {"text": FLOOD.upper()},
    "full width": {"text": "".join(chr(ord(one) + 0xFEE0) if "!" <= one <= "~" else one for one in FLOOD)},
    "another space": {"text": FLOOD.replace(" ", "\u3000")},
    "a sentence more": {"text": f"{FLOOD} Order now."},
    "accents": {"text": FLOOD.replace("e", "e\u0301")},
    "Cyrillic letters": {"text": FLOOD.translate(str.maketrans("aeopc", "аеорс"))},
    "Greek letters": {"text": FLOOD.translate(str.maketrans("ov", "ον"))},
    "Arabic digits": {"text": FLOOD.translate(str.maketrans("2347", "٢٣٤٧"))},
    "five unseen characters a letter": {"text": ("\u200b" * 5).join(FLOOD)},
} | {
    f"U+{ord(character):04X} within words": {"text": re.sub(r"(\w{3})(?=\w)", rf"\1{character}", FLOOD)}
    for character in "\u0001\u0085\u2028\u2800\ufff9\u0640\u00b7 "
}


@pytest.mark.parametrize("disguise", DISGUISES.values(), ids=DISGUISES)
def test_copies_of_a_text_are_folded_however_they_are_disguised(disguise):
    paper = hit("PAPER", "Methane of rice paddies", FLOOD, year=2020, doi="10.1/x", sequence=1)
    copy = hit("COPY", **{"title": "Methane of rice paddies", "text": FLOOD, "sequence": 2, **disguise})

    assert shown(copy, paper) == ["PAPER"]


def test_korean_copies_are_folded():
    paper = hit("PAPER", "논의 메탄 배출", PADDY, sequence=1)
    copy = hit("COPY", "하수도", "\u200b".join(reversed(PADDY.split(". "))), sequence=2)
    dotted = hit("DOTTED", "하수도", re.sub(r"(\w{2})(?=\w)", "\\1·", PADDY), sequence=3)

    assert shown(paper, copy, dotted) == ["PAPER"]


def test_words_in_another_order_are_a_copy():
    text = FLOOD.replace("24", "many").replace("37%", "half")
    paper = hit("PAPER", "Rice", text, sequence=1)
    copy = hit("COPY", "Sewers", " ".join(sorted(re.findall(r"\w+", text))), sequence=2)

    assert shown(copy, paper) == ["PAPER"]


@pytest.mark.parametrize("lacking", range(6))
def test_a_text_without_one_of_its_sentences_is_a_copy(lacking):
    sentences = f"{FLOOD} {SEWER}".split(". ")
    part = ". ".join(sentence for number, sentence in enumerate(sentences) if number != lacking)
    paper = hit("PAPER", "Rice and sewers", f"{FLOOD} {SEWER}", sequence=1)
    copy = hit("COPY", f"Rice and sewers part {lacking}", part, sequence=2)

    assert shown(copy, paper) == ["PAPER"]


def test_a_text_of_which_less_than_half_is_left_is_another_one():
    paper = hit("PAPER", "Rice", f"{FLOOD} {SEWER} {FLOOD.replace('rice', 'reed')[::-1]}", sequence=1)

    assert shown(hit("PART", "Rice", FLOOD, sequence=2), paper) == ["PART", "PAPER"]


def test_bibliographies_of_other_years_are_two_works_though_one_description_holds_the_other():
    described = (
        "This bibliography cites studies of methane from flooded rice, of its measurement in the field, "
        "of drainage and of straw, and of what farmers gain and lose by them"
    )
    one = hit("A", "Methane of rice, 1979-1980", f"{described}. It is updated.")
    other = hit("B", "Methane of rice, 1981-1982", f"{described}, with an index of all authors and journals.")

    assert not same_paper(one, other)


def test_the_record_that_was_indexed_first_stands_for_its_copies_at_the_best_place():
    copies = [hit(f"COPY{n}", "Rice", FLOOD, sequence=n, score=9.0 - n) for n in (2, 3)]
    other = hit("OTHER", "Sewers", SEWER, sequence=0, score=5.0)
    paper = hit("PAPER", "Rice", FLOOD, sequence=1, score=4.0)

    kept = without_duplicates([*copies, other, paper])

    assert [(one.passage_id, one.score) for one in kept] == [("PAPER", 7.0), ("OTHER", 5.0)]
    assert kept[0].folded == ("COPY2", "COPY3")
    record = kept[0].as_record()
    assert (record["folded"], record["folded_ids"]) == (2, ["COPY2", "COPY3"])
    assert list(kept[0].remarks()) == ["2 duplicates left out: COPY2, COPY3"]


def test_a_hit_lists_twenty_of_its_copies_and_counts_all():
    kept = without_duplicates([hit(f"P{n}", "Rice", FLOOD, sequence=n) for n in range(31)])

    assert [(one.passage_id, len(one.folded)) for one in kept] == [("P0", 30)]
    assert len(kept[0].as_record()["folded_ids"]) == 20
    assert next(kept[0].remarks()).endswith("P19, P20, …")


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Methane of rice paddies", FLOOD.replace("37%", "3%")),
        ("Methane of rice paddies", FLOOD.replace("24", "37").replace("37%", "24%")),
        ("Ozone of rice paddies", FLOOD.replace("methane", "ozone")),
        ("Methane of rice paddies, part II", SEWER),
    ],
    ids=["a number", "numbers", "the subject", "the text"],
)
def test_texts_that_differ_in_what_they_say_are_two_papers(title, text):
    assert not same_paper(hit("A", "Methane of rice paddies", FLOOD), hit("B", title, text))


def test_a_short_text_alone_says_nothing():
    assert not same_paper(
        hit("A", "Rice", "No abstract available."), hit("B", "Sewers", "No abstract available.")
    )


def record(hit):
    """Return a hit whose passage is its record's abstract."""
    return replace(hit, passage=replace(hit.passage, record="{}"))


def test_another_abstract_with_the_same_one_in_the_other_language_is_another_paper():
    paper = record(hit("A", "논의 메탄 배출", PADDY, doi="10.1/x", abstract2=FLOOD))
    forged = record(hit("B", "논의 메탄 배출", SEWER, doi="10.1/x", abstract2=FLOOD))
    english = hit("C", "Methane of rice paddies", FLOOD, doi="10.1/y", sequence=1)

    assert shown(paper, forged) == ["A", "B"]
    assert shown(paper, english) == ["A"]


def test_a_false_abstract_in_the_other_language_keeps_no_copy_apart():
    paper = record(hit("A", "논의 메탄 배출", PADDY, doi="10.1/x", abstract2=FLOOD))
    copy = record(hit("B", "논의 메탄 배출", PADDY, doi="10.1/y", abstract2=SEWER, sequence=1))

    assert shown(copy, paper) == ["A"]


@pytest.mark.parametrize("sequence", [0, 2])
def test_an_abstract_in_another_language_hides_no_paper_whatever_its_record_claims(sequence):
    claimed = {"year": 2020, "doi": "10.1/x", "authors": ["곽소율"], "title2": "Methane of rice paddies"}
    paper = record(hit("PAPER", "논의 메탄 배출", FLOOD, sequence=1, **claimed))
    hostile = record(hit("HOSTILE", "논의 메탄 배출", PADDY, sequence=sequence, **claimed))

    kept = without_duplicates([hostile, paper])

    assert [(one.passage_id, one.same_doi) for one in kept] == [
        ("HOSTILE", ("PAPER",)),
        ("PAPER", ("HOSTILE",)),
    ]


def test_a_copy_with_a_sentence_in_another_language_is_folded():
    paper = hit("PAPER", "Rice", FLOOD, sequence=1)
    offer = "이 상품을 지금 주문하면 배송비 없이 받아 볼 수 있고 할인 행사는 이번 주말까지 이어진다."
    copy = hit("COPY", "Rice", f"{FLOOD} {offer}", sequence=2)

    assert language_of(copy.passage.text) == "ko"
    assert shown(copy, paper) == ["PAPER"]


def test_chunks_of_papers_with_different_abstracts_are_two_papers():
    one, other = (hit(f"{name}#1", "Part", FLOOD, doc_id=name) for name in "AB")

    assert len(without_duplicates([one, other], {"A": PADDY, "B": SEWER})) == 2
    assert len(without_duplicates([one, other], {"A": SEWER, "B": SEWER})) == 1
    assert len(without_duplicates([one, other])) == 1


def test_passages_of_one_record_are_no_duplicates():
    one = hit("A", "Knowledge graphs", FLOOD, doc_id="A", year=2020, doi="10.1/x")
    other = hit("A#1", "Knowledge graphs", FLOOD, doc_id="A", year=2020, doi="10.1/x")

    assert without_duplicates([one, other]) == [one, other]


def test_a_search_leaves_the_second_record_out_and_counts_it(index):
    result = found(index, "axolotl limbs regrow", "or", RetrieverSettings(drop_incomplete=False))

    assert "DOI-2" not in [one.passage_id for one in result.hits]
    assert result.filtered == {"incomplete": 0, "duplicates": 1}
    assert result.hits[0].as_record()["folded_ids"] == ["DOI-2"]


def test_copies_do_not_take_the_places_of_other_papers(tmp_path):
    copies = [{"id": f"COPY{n}", "title": f"Rice ({n})", "abstract": FLOOD} for n in range(60)]
    others = [
        {"id": f"OTHER{n}", "title": "Rice", "abstract": f"Rice was measured in {2000 + n}."}
        for n in range(3)
    ]
    with index_of(tmp_path, {"id": "PAPER", "title": "Rice", "abstract": FLOOD}, *copies, *others) as index:
        result = found(index, "methane of rice paddies", k=4)

    assert {one.doc_id for one in result.hits} == {"PAPER", "OTHER0", "OTHER1", "OTHER2"}
    assert result.filtered["duplicates"] == len(result.hits[0].folded) > 40


def test_a_record_added_later_does_not_take_the_place_of_its_paper(tmp_path):
    paper = {"id": "Z", "title": "Methane of rice", "abstract": FLOOD}
    index_of(tmp_path, paper).close()
    with index_of(tmp_path, {**paper, "id": "A", "year": 1999}) as index:
        assert [one.doc_id for one in found(index, "methane of rice").hits] == ["Z"]


def test_a_run_keeps_both_records(index):
    assert {"DOI-1", "DOI-2"} <= {one for one, _ in run_of(index, "axolotl limbs regrow")}


def test_equal_texts_without_year_and_author_all_stay(index):
    assert len(ids(index, "quokka", "or", k=20)) == 12


def test_a_flood_of_records_that_claim_one_doi_is_compared_in_time_and_hides_no_copy():
    claims = [
        hit(f"CLAIM{n}", "Sale", " ".join(f"w{n}x{m}" for m in range(40)), doi="10.1/x", sequence=n + 1)
        for n in range(2_000)
    ]
    paper, copy = (
        hit(name, "Rice", FLOOD, doi="10.1/x", sequence=place) for name, place in (("P", 0), ("C", 9_999))
    )

    kept = without_duplicates([*claims, copy, paper])

    assert len(kept) == 2_001
    assert kept[-1].folded == ("C",)
