"""Real processes: kills while a model judges."""

import json
import signal
import subprocess
import threading

import pytest

from eval.judging.benchmark import Benchmark
from tests.generator.finding_model import FindingModel
from tests.generator.sample_index import shrag
from tests.http_server import Handler, serving
from tests.indexer.made_corpora import command, environment_of
from tests.interrupts import interrupts_heeded

pytest_plugins = ["tests.generator.sample_index"]
pytestmark = pytest.mark.slow

ENDS_S = 120  # on a machine with other work


@pytest.fixture
def folder(sample_home, tmp_path):
    """Pool ten papers for a question."""
    (tmp_path / "seeds").write_text("1\tmethane of rice paddies and thermal runaway of batteries\n")
    for arguments in (
        ("questions", tmp_path / "made", tmp_path / "seeds"),
        ("pool", tmp_path / "made", "--method", "or", "--depth", 10),
    ):
        assert shrag("benchmark", *arguments, home=sample_home).returncode == 0
    return tmp_path / "made"


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_judgements_of_a_model_before_an_interruption_are_not_repeated(sample_home, folder, sent):
    model, reached, ended = FindingModel(), threading.Event(), threading.Event()
    counting = threading.Lock()

    class Server(Handler):
        def post(self):
            with counting:
                answer = model.answer_to(self.asked())
                last = len(model.prompts) == 6
            if last:
                reached.set()
                ended.wait(ENDS_S)
                self.close_connection = True
                return
            content = {"role": "assistant", "content": json.dumps(answer)}
            self.answer(200, {"model": "m", "choices": [{"message": content, "finish_reason": "stop"}]})

    with serving(Server) as url:
        settings = {"llm__base_url": f"{url}/v1", "llm__model": "m", "llm__concurrency": 1, "llm__retries": 0}
        judge = ("benchmark", "judge", folder, "coarse", "--by", "brief")
        with interrupts_heeded():
            process = subprocess.Popen(
                command(*judge),
                env=environment_of(sample_home, **settings),
                stderr=subprocess.PIPE,
                text=True,
            )
        try:
            assert reached.wait(ENDS_S)
            process.send_signal(sent)
            _, said = process.communicate(timeout=ENDS_S)
        finally:
            ended.set()
            process.kill()
        assert process.returncode in {-sent, 130}, said
        assert len(Benchmark(folder).judged) == 5
        assert shrag(*judge, home=sample_home, **settings).returncode == 0
    assert len(Benchmark(folder).judged) == 10
    assert len(model.prompts) == 11  # the interrupted one is repeated
