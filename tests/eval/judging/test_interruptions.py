"""Real processes: keys at a terminal, and kills while an assessor or a model judges."""

import json
import os
import pty
import re
import signal
import subprocess
import threading
from contextlib import contextmanager, suppress

import pytest

from eval.judging.state import Benchmark
from tests.generator.finding_model import FindingModel
from tests.generator.sample_index import shrag
from tests.http_server import Handler, serving
from tests.indexer.made_corpora import command, environment_of
from tests.interrupts import interrupts_heeded

pytest_plugins = ["tests.generator.sample_index"]
pytestmark = pytest.mark.slow

ENDS_S = 120  # on a machine with other work
CODES = re.compile(r"\x1b\[[\d;]*m")


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


class Terminal:
    """A process at a terminal; `until` reads its output to a text."""

    def __init__(self, outer, process):
        self._outer, self.process, self._said = outer, process, ""

    def until(self, text):
        while text not in self._said:
            self._said += CODES.sub("", os.read(self._outer, 65_536).decode("utf-8", "replace"))
        before, _, self._said = self._said.partition(text)
        return before + text

    def type(self, keys):
        os.write(self._outer, keys.encode())


@contextmanager
def at_a_terminal(home, *arguments):
    outer, inner = pty.openpty()
    with interrupts_heeded():
        process = subprocess.Popen(
            ["setsid", "--ctty", "--wait", *command("benchmark", *arguments)],
            env=environment_of(home) | {"TERM": "xterm", "COLUMNS": "100"},
            stdin=inner,
            stdout=inner,
            stderr=inner,
        )
    os.close(inner)
    try:
        yield Terminal(outer, process)
    finally:
        process.kill()
        process.wait()
        os.close(outer)


def test_keys_need_no_enter_and_are_kept_after_a_kill(sample_home, folder):
    confirm = ("confirm", folder, "--assessor", "kim")
    with at_a_terminal(sample_home, *confirm) as terminal:
        terminal.until("1 of 10, 10 left")
        terminal.type("2")
        terminal.until("2 of 10, 9 left")
        terminal.process.kill()
    with at_a_terminal(sample_home, *confirm) as terminal:
        terminal.until("2 of 10, 9 left")
        terminal.type("\x1b[D")  # the left arrow
        terminal.until("1 of 10")
        terminal.until("your grade: 2")
        terminal.type("31q")  # typed ahead
        assert "2 of 10 papers graded by kim" in terminal.until("by kim")
        assert terminal.process.wait(ENDS_S) == 0
    grades = [each.grade for each in Benchmark(folder).assessments["kim"].values()]
    assert grades == [3, 1]


@pytest.mark.parametrize(("key", "code"), [("\x03", 130), ("\x04", 0)])
def test_ctrl_c_and_ctrl_d_end_a_session(sample_home, folder, key, code):
    with at_a_terminal(sample_home, "confirm", folder, "--assessor", "kim") as terminal:
        terminal.until("quit")
        terminal.type("1")
        terminal.until("2 of 10")
        terminal.until("quit")
        terminal.type(key)
        with suppress(OSError):  # the end of the terminal
            terminal.until("no such text")
        assert terminal.process.wait(ENDS_S) == code
    assert [each.grade for each in Benchmark(folder).assessments["kim"].values()] == [1]


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
