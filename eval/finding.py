"""A question ranked by the papers found for it, as in `shrag find-papers`."""

from eval.ranking import RankedTopic
from eval.runs import as_written
from generator.finding.finding import OpenedSources, find_in_sources
from generator.finding.request import FindRequest
from generator.llm import LanguageModel
from generator.pipeline import Settings


async def find_for_topic(
    opened: OpenedSources,
    request: FindRequest,
    settings: Settings,
    *,
    model: LanguageModel | None = None,
) -> RankedTopic:
    """Find papers for a question from scratch, best first.

    The deviations contain notes if a budget ended the search or something failed.
    """
    found = await find_in_sources(opened, request, settings, model=model)
    ranking = as_written([(ranked.paper_id, ranked.score) for ranked in found.papers])
    failures = tuple(part.error for part in found.step.walk() if part.failure)
    prompts = {name: list(versions) for name, versions in found.state.prompts.items()}
    if not ranking:
        return RankedTopic(ranking, found.notes[-1], failures=failures, prompts=prompts)
    differs = {"complete": found.complete, "notes": list(found.notes)} if found.notes else {}
    return RankedTopic(ranking, deviations=differs, failures=failures, prompts=prompts)
