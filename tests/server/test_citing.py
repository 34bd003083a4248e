"""Reference lists, answers and search records as documents of the API."""

import io

import docx

from tests.generator.sample_index import KOREAN

IDS = ["SAMPLE-AGR-002", "SAMPLE-AGR-001"]
APA = (
    "Jang, B. (2023). Alternate wetting and drying in Korean rice paddies: methane, yield and farmer effort "
    "on 64 farms. Paddy and Table. https://doi.org/10.5555/sample.agr.002\n"
    "강가은. (2020). 논물 관리 방법이 벼 재배지의 메탄 배출과 수량에 미치는 영향. 작물환경과 식품. "
    "https://doi.org/10.5555/sample.agr.001\n"
)


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
