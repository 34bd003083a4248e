"""A real index of the sample corpus, built once a session; a plugin of all tests.

It is imported for its questions too, before it is a plugin: PYTEST_DONT_REWRITE.
"""

import asyncio
import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from generator.answers.extractive import extractive_answer, searched_terms
from generator.pipeline import Settings, answer_question
from generator.settings import EVIDENCE, GeneratorSettings
from generator.ways import make_request
from indexer.files.schema import StoredPassage
from indexer.settings import IndexerSettings
from retriever.index import open_index
from retriever.search import SearchRequest, search
from retriever.settings import RetrieverSettings
from retriever.stages.hits import Hit, SearchResult
from shrag import main
from tests.indexer.made_corpora import ROOT, build, environment_of

NAME = "sample"
# The keys of `search --json`, in order; `ask --json` has `answer` and `evidence` beside them.
SEARCH_KEYS = (
    "question method keywords queries hits filtered milliseconds applied likelihood notes note_codes version "
    "strategy bridges unknown_words order"
).split()
# Of sample/topics.jsonl: S03, S18, S37 and S40 (no evidence).
KOREAN = "갓 입사한 간호사의 회복탄력성은 이직하려는 마음과 어떤 경로로 연결되어 있는가?"
ENGLISH = "How can the spread of thermal runaway from cell to cell in a battery pack be slowed?"
UNANSWERABLE_KOREAN = "고려청자의 비색은 유약의 철 함량과 소성 온도에 따라 어떻게 달라지는가?"
UNANSWERABLE_ENGLISH = "What dose of psilocybin relieves treatment-resistant depression, and for how long?"


@pytest.fixture(scope="session")
def sample_home(tmp_path_factory):
    """Build the index `sample`, and return the folder that holds it."""
    home = tmp_path_factory.mktemp("sample")
    build(home, ROOT / "sample" / "papers.jsonl", name=NAME)
    return home


@pytest.fixture(scope="session")
def sample(sample_home):
    """Open the index."""
    with open_index(IndexerSettings(home=sample_home), NAME) as index:
        yield index


def found(index, question, **request):
    """Search for the evidence as `ask` does."""
    return asyncio.run(search(index, SearchRequest(question, k=EVIDENCE, **request), RetrieverSettings()))


def quoted(index, result, threshold):
    """Quote the evidence of a search."""
    terms = asyncio.run(searched_terms(result, index, RetrieverSettings()))
    return extractive_answer(result, index, terms, threshold)


def result_of(*passages, question, keywords=(), weights=None, likelihood=1.0):
    """Make a result that holds these passages, best first."""
    hits = tuple(Hit(rank, one, score=1.0 / rank) for rank, one in enumerate(passages, 1))
    return SearchResult(
        question=question,
        method="shrag",
        keywords=tuple(keywords),
        queries=(),
        hits=hits,
        filtered={},
        milliseconds={},
        token_weights={token: each.weight for each in keywords for token in each.tokens}
        if weights is None
        else weights,
        likelihood=likelihood,
    )


def passage(passage_id, text, *, lang="en", title="", year=None):
    """Make a stored passage that is a paper of its own."""
    return StoredPassage(passage_id, passage_id, title, text, lang, "abstract", year)


def timeless(value, ignored=frozenset()):
    """Return JSON without times, which differ between runs, and without other ignored keys."""
    if isinstance(value, dict):
        left_out = {"milliseconds", "started", "seconds", *ignored}
        return {name: timeless(each, ignored) for name, each in value.items() if name not in left_out}
    return [timeless(each, ignored) for each in value] if isinstance(value, list) else value


def settings_of(home: Path, **llm):
    """Make the settings of all stages, with a language model where one is given."""
    return Settings(IndexerSettings(home=home), RetrieverSettings(), GeneratorSettings(**llm))


def ask_model(index, question, settings, script, *, listener=None, **request):
    """Ask a question of a model whose replies are scripted."""

    async def ask():
        async with settings.language_model(script.transport) as model:
            asked = make_request(settings, question, **request)
            return await answer_question(index, asked, settings, model=model, listener=listener)

    return asyncio.run(ask())


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    returncode: int
    stdout: str
    stderr: str


def shrag(*arguments, home, **environment):
    """Run the command to its end, in this process."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment_of(home, **environment).items():
            patch.setenv(name, value)
        return called(*arguments)


def called(*arguments):
    """Run the command to its end, in this process and its environment."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["shrag", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
    return Done(int(ended.value.code or 0), out.getvalue(), err.getvalue())
