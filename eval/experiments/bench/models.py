"""What the pipeline adds to a language model, measured against a running server.

    python -m eval.experiments.bench.models --url http://localhost:8000/v1 --model NAME

Two figures are held: the time of a question that is not the model's, and the throughput of many questions at
once beside the same prompts sent bare. Further settings of the model come from the variables `SHRAG_LLM__…`.
"""

import asyncio
import tempfile
from pathlib import Path

import click

from eval.experiments.bench.figures import Figure, machine, report
from eval.experiments.bench.model_overhead import measure_overhead
from eval.experiments.bench.model_throughput import measure_throughput
from eval.progress import question_bar
from eval.topics import read_topics
from generator.pipeline import Settings
from generator.settings import LanguageModelSettings
from indexer.ingest import IngestRequest, build_index
from indexer.options import json_option
from indexer.requests import Progress
from indexer.settings import IndexerSettings
from retriever.index import SearchIndex, open_index

SAMPLE = Path("sample")
NAME = "bench-models"


@click.command()
@click.option("--url", help="Where the API begins; SHRAG_LLM__BASE_URL by default.")
@click.option("--model", help="The model's name at that server; SHRAG_LLM__MODEL by default.")
@click.option("--corpus", type=click.Path(exists=True, path_type=Path), default=SAMPLE / "papers.jsonl")
@click.option("--topics", type=click.Path(exists=True, path_type=Path), default=SAMPLE / "topics.jsonl")
@click.option("--questions", type=click.IntRange(1), default=20, show_default=True, help="At once.")
@click.option("--rounds", type=click.IntRange(1), default=5, show_default=True, help="How often to measure.")
@click.option("--max-tokens", type=click.IntRange(16), help="Tokens of an answer, at most.")
@click.option("--strict", is_flag=True, help="Exit with 1 where a bar is not met.")
@json_option
def main(  # noqa: PLR0913 - as many options
    url: str | None,
    model: str | None,
    corpus: Path,
    topics: Path,
    questions: int,
    rounds: int,
    max_tokens: int | None,
    *,
    strict: bool,
    as_json: bool,
) -> None:
    """Measure what the pipeline adds to a language model."""
    given = {"base_url": url, "model": model, "max_tokens": max_tokens}
    settings = settings_with({name: value for name, value in given.items() if value is not None})
    facts = machine()
    asked = list(read_topics(topics).values())[:questions]
    with tempfile.TemporaryDirectory(prefix="shrag-bench-") as home, question_bar() as progress:
        indexer = IndexerSettings(home=Path(home))
        build_index(IngestRequest(name=NAME, paths=[str(corpus)]), indexer, progress)
        with open_index(indexer, NAME) as index:
            figures = asyncio.run(measure(index, asked, settings, rounds, progress))
    report(figures, facts, as_json=as_json, strict=strict)


def settings_with(changed: dict[str, object]) -> Settings:
    """Return the settings of the environment, with those of the language model changed.

    Raises:
        click.UsageError: they name no model.
    """
    settings = Settings.from_environment()
    llm = LanguageModelSettings.model_validate(settings.generator.llm.model_dump() | changed)
    if not llm.configured:
        raise click.UsageError("name a server: --url http://localhost:8000/v1 --model NAME")
    generator = settings.generator.model_copy(update={"llm": llm})
    return Settings(settings.indexer, settings.retriever, generator)


async def measure(
    index: SearchIndex, questions: list[str], settings: Settings, rounds: int, progress: Progress
) -> list[Figure]:
    """Measure one question after the other, then all at once."""
    figures = await measure_overhead(index, questions, settings, rounds, progress)
    return figures + await measure_throughput(index, questions, settings, rounds, progress)


if __name__ == "__main__":
    main()
