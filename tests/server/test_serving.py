"""The server answers."""

from tests.generator.sample_index import ENGLISH, NAME


def test_a_process_finds_papers_of_the_sample(served):
    answer = served.post("/api/v1/search", json={"question": ENGLISH})

    assert answer.status_code == 200
    assert answer.json()["index"] == NAME
    assert answer.json()["hits"]


def test_so_does_the_application_in_this_process(client):
    answer = client.get("/api/v1/search", params={"question": ENGLISH, "k": 3})

    assert answer.status_code == 200
    assert len(answer.json()["hits"]) == 3
