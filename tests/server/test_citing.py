"""Reference lists, answers and search records as documents of the API."""

import io

import docx
import pytest

from tests.generator.sample_index import ENGLISH, KOREAN

IDS = ["SAMPLE-AGR-002", "SAMPLE-AGR-001"]
APA = (
    "Jang, B. (2023). Alternate wetting and drying in Korean rice paddies: methane, yield and farmer effort "
    "on 64 farms. Paddy and Table. https://doi.org/10.5555/sample.agr.002\n"
    "강가은. (2020). 논물 관리 방법이 벼 재배지의 메탄 배출과 수량에 미치는 영향. 작물환경과 식품. "
    "https://doi.org/10.5555/sample.agr.001\n"
)
SENTENCE = {"text": "It fell.", "section": "body", "citations": [], "check": "supported"}
EVIDENCE = [{"passage_id": "SAMPLE-AGR-002", "doc_id": "SAMPLE-AGR-002"}]
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def paragraphs(response):
    assert response.headers["content-type"] == WORD
    return [paragraph.text for paragraph in docx.Document(io.BytesIO(response.content)).paragraphs]


def test_papers_are_cited_in_a_style(api):
    response = api.get("/api/v1/export", params={"format": "text", "cite": "apa", "ids": IDS})

    assert (response.status_code, response.text) == (200, APA)
    assert response.headers["content-type"] == "text/plain; charset=utf-8"
    assert response.headers["content-disposition"] == 'attachment; filename="sample.txt"'


def test_the_style_of_a_document_is_apa_unless_another_is_chosen(api):
    word = api.post("/api/v1/export", json={"format": "docx", "ids": IDS})

    assert paragraphs(word) == APA.splitlines()


def test_hits_of_a_question_are_cited_in_their_order(api):
    call = {"format": "text", "cite": "vancouver", "question": ENGLISH, "k": 3}
    searched = api.post("/api/v1/search", json={"question": ENGLISH, "k": 3}).json()
    lines = api.post("/api/v1/export", json=call).text.splitlines()

    assert [line.partition(". ")[0] for line in lines] == ["1", "2", "3"]
    for line, hit in zip(lines, searched["hits"], strict=True):
        assert hit["title"] in line


def test_an_answer_is_returned_as_a_document_with_its_references(api):
    asked = api.post("/api/v1/ask", json={"question": KOREAN}).json()
    answer = asked["answer"] | {"question": KOREAN}
    call = {"format": "docx", "cite": "korean", "answer": answer, "evidence": asked["evidence"]}
    title, question, first, *_ = texts = paragraphs(api.post("/api/v1/export", json=call))

    assert (title, question) == ("도움이 될 만한 구절", KOREAN)
    assert first.startswith(f"“{asked['answer']['sentences'][0]['text']}” (")
    assert "참고 문헌" in texts


def test_a_citation_without_evidence_is_left_out(api):
    answer = {"sentences": [SENTENCE | {"citations": ["SAMPLE-AGR-002", "X"]}]}
    call = {"format": "text", "cite": "ieee", "answer": answer, "evidence": EVIDENCE}

    assert "It fell [1]." in api.post("/api/v1/export", json=call).text


@pytest.mark.parametrize(
    ("call", "named"),
    [
        ({"format": "text", "cite": "harvard", "ids": IDS}, "vancouver"),
        ({"format": "pdf", "ids": IDS}, "docx"),
        ({"format": "ris", "cite": "apa", "ids": IDS}, "cite"),
        ({"format": "text", "ids": [str(number) for number in range(201)]}, "200"),
        ({"format": "text", "question": ENGLISH, "k": 201}, "200"),
        ({"format": "ris", "answer": {"sentences": [SENTENCE]}, "evidence": EVIDENCE}, "docx"),
        ({"format": "text", "answer": {"sentences": [SENTENCE]}}, "evidence"),
        ({"format": "text", "answer": {"sentences": [SENTENCE]}, "evidence": EVIDENCE, "ids": IDS}, "answer"),
    ],
)
def test_a_document_that_cannot_be_made_is_refused(api, call, named):
    response = api.post("/api/v1/export", json=call)

    assert response.status_code == 422
    assert named in response.json()["detail"]


def test_a_search_record_is_returned_as_word(api):
    response = api.post("/api/v1/record?form=docx", json={"question": ENGLISH, "k": 2})

    assert paragraphs(response)[0] == "Search record"
    first, *_ = docx.Document(io.BytesIO(response.content)).tables
    items = {row.cells[1].text: (row.cells[0].text, row.cells[2].text) for row in first.rows}
    assert items["Question or expression"] == ("8", ENGLISH)
    assert items["Limits"] == ("9", "none")
    assert items["Papers found"] == ("15", "2")
    assert items["Left out: duplicates"][0] == "16"
