"""Analysis in several processes gives what analysis in one gives, in the same order."""

import subprocess
import sys
from typing import NamedTuple

import pytest

from indexer.analysis.pool import BATCH, analyse_in_order


class Texts(NamedTuple):
    title: str
    text: str
    title2: str = ""


def characters(texts, analyzer):
    return len(texts.text)


def analysed(items, workers):
    return [
        (item, list(of.tokens.text.unpack()), list(of.tokens.title.unpack()), of.names, beside)
        for item, of, beside in analyse_in_order(
            items,
            lambda item: Texts(*item),
            characters,
            analyzer="bilingual",
            decompound="discard",
            workers=workers,
        )
    ]


@pytest.mark.parametrize("count", [0, 1, BATCH, BATCH + 1, 5 * BATCH + 3])
def test_two_processes_give_the_same_in_the_same_order(count):
    items = [(f"제목 {number}", f"methane of Marta Quillon {number} 배출량") for number in range(count)]

    assert analysed(items, workers=2) == analysed(items, workers=1)


def test_what_the_source_raises_comes_through():
    def items():
        yield from [("", "word")] * (3 * BATCH)
        raise LookupError("the end of the world")

    with pytest.raises(LookupError, match="the end of the world"):
        analysed(items(), workers=2)


def test_a_script_that_its_workers_import_is_told_where_to_start_the_work(tmp_path):
    script = tmp_path / "make.py"
    script.write_text(
        "from indexer.analysis.pool import analyse_in_order\n"
        "from types import SimpleNamespace\n"
        "items = [SimpleNamespace(title='a', text='b', title2='') for _ in range(200)]\n"
        "options = {'analyzer': 'english', 'decompound': 'none', 'workers': 2}\n"
        "list(analyse_in_order(items, lambda item: item, len, **options))\n"
    )
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)

    assert ended.returncode != 0
    assert "__name__ == '__main__'" in ended.stderr.splitlines()[-1]
