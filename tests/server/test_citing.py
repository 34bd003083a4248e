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


def test_an_answer_is_returned_as_a_document_with_its_references(api):
    asked = api.post("/api/v1/ask", json={"question": KOREAN}).json()
    answer = asked["answer"] | {"question": KOREAN}
    call = {"format": "docx", "cite": "korean", "answer": answer, "evidence": asked["evidence"]}
    title, question, first, *_ = texts = paragraphs(api.post("/api/v1/export", json=call))

    assert (title, question) == ("도움이 될 만한 구절", KOREAN)
    assert first.startswith(f"“{asked['answer']['sentences'][0]['text']}” (")
    assert "참고 문헌" in texts


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
