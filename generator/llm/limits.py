"""Time limits of calls and the settings that define them."""

import asyncio
from dataclasses import dataclass

from base.amounts import plain
from generator.settings import LanguageModelSettings

# The setting that limits each stage, by the name of its calls; other stages have only `deadline_s`.
STAGES = {
    **dict.fromkeys(("keywords", "question", "queries", "hypotheses", "housekeeping"), "keywords_s"),
    **dict.fromkeys(("rewrite", "sub_answer"), "keywords_s"),
    **dict.fromkeys(("understanding", "query-writing", "judgement", "evolver"), "keywords_s"),
    **dict.fromkeys(("answer", "check"), "answer_s"),
}


@dataclass(frozen=True, slots=True)
class Limit:
    """A deadline on the event loop's clock: `seconds` after the start, from `setting`."""

    at: float
    seconds: float
    setting: str

    @property
    def left(self) -> float:
        """Remaining seconds, 0 after the deadline."""
        return max(0.0, self.at - now())

    def or_sooner(self, seconds: float, setting: str) -> "Limit":
        """Return this limit, or the one in `seconds` from now if that is sooner."""
        at = now() + seconds
        return Limit(at, seconds, setting) if at < self.at else self

    def __str__(self) -> str:
        return f"{plain(self.seconds)} s (SHRAG_LLM__{self.setting.upper()})"


def now() -> float:
    """Return the time of the running event loop, in seconds."""
    return asyncio.get_running_loop().time()


def limit_of(stage: str, settings: LanguageModelSettings) -> Limit:
    """Return the limit of a stage that starts now; `deadline_s` limits every stage."""
    whole = Limit(now() + settings.deadline_s, settings.deadline_s, "deadline_s")
    setting = STAGES.get(stage)
    return whole.or_sooner(getattr(settings, setting), setting) if setting else whole
