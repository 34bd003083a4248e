"""What every test can count on: an empty home of its own, and the shared evaluation data where it is."""

import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadFileScheduling

pytest_plugins = ["tests.needs", "tests.generator.sample_index"]

SHARED = Path(__file__).resolve().parents[2] / "shared"

# No limits of time: how long an example takes says more about the machine than about the code.
settings.register_profile(
    "shrag",
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("shrag")


# A process of pytest-xdist gets a file at a time, those that take longest first. The files of vLLM belong to
# one process, which starts it, and so do tests that make models: to load torch takes ten seconds of a core.
VLLM, MODELS = "service/vllm", "models"
WITH_MODELS = {
    *(f"indexer/encoders/test_{name}.py" for name in ("cross_encoder", "local")),
    "generator/answers/test_judging.py",
    "retriever/explaining/test_explaining.py",
    "retriever/relevance/test_relevance.py",
    "retriever/test_reranking.py",
    "retriever/test_vectors.py",
    *(f"{folder}/test_passage_search.py" for folder in ("retriever/views", "service/elasticsearch")),
    "stack/test_doctor.py",
}
LANGUAGES = {"ko", "en"}
BY_NIGHT = bool(os.environ.get("SHRAG_TEST_NIGHTLY"))  # read before the user's settings are hidden
LONGEST = (
    VLLM,
    MODELS,
    "service/elasticsearch/test_versions.py",
    "service/elasticsearch/test_parity.py",
    "tools/test_golden_scores.py",
    "test_kill.py",
    "test_bad_input.py",
    "retriever/test_at_once.py",
)


NAMED = {*LONGEST} - {MODELS} | WITH_MODELS
if missing := [name for name in sorted(NAMED) if not (Path(__file__).parent / name).exists()]:
    raise pytest.UsageError(f"{__file__} names what is not there: {', '.join(missing)}")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave some for the night; sort."""
    for item in items:
        if not BY_NIGHT and (item.get_closest_marker("nightly") or _in_another_language(item)):
            item.add_marker(
                pytest.mark.skip(reason="takes minutes: SHRAG_TEST_NIGHTLY=1, as of .ci/run nightly")
            )
    places = {name: number for number, name in enumerate(LONGEST)}
    groups = dict.fromkeys(_group(item.nodeid) for item in items)
    order = {group: (places.get(group, len(places)), number) for number, group in enumerate(groups)}
    items.sort(key=lambda item: order[_group(item.nodeid)])


def _in_another_language(item: pytest.Item) -> bool:
    """Whether a test of the page runs by day in the other language: half of them in each."""
    if not item.nodeid.startswith("tests/server/page/"):
        return False
    name, _, values = item.name.partition("[")
    languages = LANGUAGES.intersection(values.rstrip("]").split("-"))
    return len(languages) == 1 and sorted(LANGUAGES)[crc32(name.encode()) % 2] not in languages


class ByFile(LoadFileScheduling):  # type: ignore[misc]
    """Keeps the tests of a file together, and those that share a server or load torch."""

    def _split_scope(self, nodeid: str) -> str:
        """Return what a test is kept together with."""
        return _group(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile | None:
    """Take the place of `--dist=loadfile` alone."""
    return ByFile(config, log) if config.getvalue("dist") == "loadfile" else None


def _group(nodeid: str) -> str:
    file = nodeid.partition("::")[0].removeprefix("tests/")
    return VLLM if file.startswith(VLLM) else MODELS if file in WITH_MODELS else file


@pytest.fixture(scope="session", autouse=True)
def _no_settings_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Hide the caller's settings from fixtures of any scope."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("SHRAG_")]:
            patch.delenv(name)
        patch.setenv("SHRAG_HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("SHRAG_CONFIG", "")
        # Scripted models answer the calls that a test is about; tests of the check name its judge.
        patch.setenv("SHRAG_CHECK__JUDGE", "none")
        yield


@pytest.fixture(scope="session")
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Count up folders that are not there yet; `mktemp` would read thousands of names for each."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in count())


@pytest.fixture(autouse=True)
def _own_home(
    _no_settings_of_the_user: None, _homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Give each test an empty home."""
    home = next(_homes)
    home.mkdir()
    monkeypatch.setenv("SHRAG_HOME", str(home))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of real corpora, topics and judgements."""
    return _shared("data")


@pytest.fixture(scope="session")
def shared_golden() -> Path:
    """Return the folder of what a real Elasticsearch made of them."""
    return _shared("golden")


def _shared(name: str) -> Path:
    folder = SHARED / name
    if not folder.is_dir():
        pytest.skip("shared evaluation data not present beside the checkout")
    return folder
