"""What follows an answer: a further question, and judgements."""

import json

import pytest
from playwright.sync_api import expect

from server.store import Store
from tests.generator.sample_index import NAME
from tests.server.page.browser import NO_LIMITS, Reader
from tests.server.page.model import writing
from tests.server.page.walking import QUESTIONS, address, answered, documents, settled
from tests.server.running import serving

OK = 200
FIRST = "How much does alternate wetting and drying reduce methane from rice paddies?"


def test_a_further_question_is_searched_with_the_subject_of_the_first(reader):
    page = reader.open(address(FIRST, ask=1))
    answered(page)
    page.locator("[data-further] input").fill("And the yield?")
    page.locator("[data-further] button").click()
    expect(page.locator("[data-meant] q")).to_contain_text("methane")
    settled(page)
    assert documents(page)[0] == "SAMPLE-AGR-002"
    assert "after=How+much" in page.url

    page.reload()
    expect(page.locator("[data-meant] q")).to_contain_text("methane")


def test_an_answer_by_another_model(browser, sample_home, tmp_path):
    settings = {"llm__other_models": "small-writer", **NO_LIMITS}
    with writing() as writer, serving(sample_home, tmp_path / "log", **writer.settings, **settings) as server:
        reader = Reader(browser, server.url)
        page = reader.open(address(QUESTIONS["ko"], ask=1, model="small-writer"))
        answered(page)
        assert writer.asked == {"small-writer"}
        expect(page.locator("#model")).to_have_value("small-writer")
        reader.close()

        [index] = server.get("/api/v1/indexes").json()["indexes"]
        assert (index["language_model"], index["other_models"]) == ("tiny-writer", ["small-writer"])
        writer.asked.clear()
        call = {"question": QUESTIONS["ko"], "model": "small-writer"}
        assert server.post("/api/v1/ask", json=call).status_code == OK
        assert writer.asked == {"small-writer"}


@pytest.fixture
def judged_home(sample_home, tmp_path):
    (tmp_path / NAME).symlink_to(sample_home / NAME)
    return tmp_path


def test_a_judgement_is_kept_and_can_be_changed(browser, judged_home, tmp_path):
    settings = {"server__judgements": True, **NO_LIMITS}
    with writing() as writer, serving(judged_home, tmp_path / "log", **settings, **writer.settings) as server:
        reader = Reader(browser, server.url)
        page = reader.open(address("And the yield?", after=FIRST, ask=1))
        answered(page)
        settled(page)
        first = page.locator("#hits > li").first
        for verdict in ("helpful", "not helpful"):
            first.locator(f'[data-verdict="{verdict}"]').click()
            expect(first.locator(f'[data-verdict="{verdict}"]')).to_have_attribute("aria-pressed", "true")
        page.locator('[data-judge-answer] [data-verdict="helpful"]').click()
        expect(page.locator('[data-judge-answer] [aria-pressed="true"]')).to_have_count(1)
        page.locator('[data-judge-sentence] [data-verdict="not supported"]').first.click()
        expect(page.locator('[data-judge-sentence] [aria-pressed="true"]')).to_have_count(1)
        reader.close()
    rows = Store(judged_home).rows("SELECT record FROM judgements ORDER BY id")
    kept = [json.loads(record) for (record,) in rows]
    verdicts = [record["verdict"] for record in kept]
    assert verdicts == ["helpful", "not helpful", "helpful", "not supported"]
    assert kept[0]["paper"] == kept[1]["paper"] is not None
    assert kept[3]["written_by"] == "tiny-writer-7b"
    assert len({(record["reader"], record["question"]) for record in kept}) == 1
