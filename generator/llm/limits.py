"""Until when a call may take, and which setting says so."""

import asyncio
from dataclasses import dataclass

from base.amounts import plain
from generator.settings import LanguageModelSettings

# The setting that bounds each stage, by the name of its calls; the others have `deadline_s` alone.
STAGES = {
    "keywords": "keywords_s",
    "answer": "answer_s",
    "question": "keywords_s",
    "queries": "keywords_s",
    "hypotheses": "keywords_s",
    **dict.fromkeys(("decompose", "chain", "rewrite", "sub_answer"), "keywords_s"),
    "housekeeping": "keywords_s",
    **dict.fromkeys(("understanding", "query-writing", "judgement", "evolver"), "keywords_s"),
}


@dataclass(frozen=True, slots=True)
class Limit:
    """A point of the event loop's clock; `seconds` after the beginning, as the setting has it."""

    at: float
    seconds: float
    setting: str

    @property
    def left(self) -> float:
        """Seconds that are left, 0 where it has passed."""
        return max(0.0, self.at - now())

    def or_sooner(self, seconds: float, setting: str) -> "Limit":
        """Return this limit, or that many seconds from now where that is sooner."""
        at = now() + seconds
        return Limit(at, seconds, setting) if at < self.at else self

    def __str__(self) -> str:
        return f"{plain(self.seconds)} s (SHRAG_LLM__{self.setting.upper()})"


def now() -> float:
    """Return the time of the running event loop, in seconds."""
    return asyncio.get_running_loop().time()


def limit_of(stage: str, settings: LanguageModelSettings) -> Limit:
    """Return the limit of a stage that begins now; `deadline_s` bounds every stage."""
    whole = Limit(now() + settings.deadline_s, settings.deadline_s, "deadline_s")
    setting = STAGES.get(stage)
    return whole.or_sooner(getattr(settings, setting), setting) if setting else whole
