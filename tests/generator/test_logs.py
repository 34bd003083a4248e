"""`shrag -v`: a line of JSON for each step, on standard error, and nothing of the question in it."""

import json
import os
import subprocess
import sys

from tests.generator.language_model import answers_with, served
from tests.generator.sample_index import KOREAN, NAME
from tests.generator.test_pipeline import KEYWORDS
from tests.indexer.made_corpora import ROOT, environment_of


def ask(sample_home, *options):
    """Ask with a model that fails to answer; return the lines of standard error that are JSON."""
    with served(answers_with(KEYWORDS), answers_with({"error": KOREAN}, status=400)) as model:
        given = {"llm__base_url": model.base_url, "llm__model": "tiny-writer", "llm__retries": 0}
        given |= {"llm__strategy_calls": "one"}
        done = subprocess.run(
            [sys.executable, str(ROOT / "shrag.py"), *options, "ask", KOREAN, "--name", NAME, "--json"],
            env=os.environ | environment_of(sample_home, **given),
            capture_output=True,
            text=True,
            timeout=240,
            check=True,
        )
    assert json.loads(done.stdout)["answer"]["written_by"] == "extractive"
    return [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]


def test_each_step_is_a_line_with_time_and_tokens_under_one_request_id(sample_home):
    lines = [line for line in ask(sample_home, "-v") if line["event"] == "step"]
    steps = "keywords strategy search answer quotation ask"
    assert [line["step"] for line in lines] == steps.split()
    assert len({line["request_id"] for line in lines}) == 1
    assert all(line["milliseconds"] > 0 and line["timestamp"] for line in lines)
    keywords, answer = lines[0], lines[3]
    assert (keywords["model"], keywords["prompt_tokens"]) == ("tiny-writer-7b", 100)
    assert (answer["error"], answer["fallback"]) == ("ModelRefusedCall", "extractive answer")
    assert KOREAN not in json.dumps(lines, ensure_ascii=False)
