"""Prompts of the language model: one text file a prompt and language, its version in the first line.

The part that never changes comes first, so that a server keeps it in its prefix cache. The values come last,
each between tags of its name, so that instructions inside a question or a passage stay data.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from string import Template

from indexer.corpora.papers import Language

VERSION_LINE = re.compile(r"version: (\d+)")
# What chat templates mark turns with: some servers read these as marks even inside a question.
TURN_MARKS = r"[<\[](?=\|)|<(?=/?s>|(?:start|end)_of_turn>)|\[(?=/?INST\])"
DEFUSED = {"<": "‹", "[": "［"}


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt with places for values; `version` counts up with every change of the text."""

    name: str
    language: Language
    version: int
    text: str

    @property
    def places(self) -> frozenset[str]:
        """The names of the values that it asks for."""
        return frozenset(Template(self.text).get_identifiers())

    def render(self, **values: str | Sequence[str]) -> str:
        """Put the values in, each between tags; of a sequence each item, numbered from 1.

        Values are not changed, except that the first character of what reads like one of the tags, or like a
        mark of a chat template, is replaced.

        Raises:
            ValueError: a value is missing, or one that the prompt does not ask for.
        """
        places = self.places
        for problem, names in (
            ("needs", places - values.keys()),
            ("does not ask for", values.keys() - places),
        ):
            if names:
                raise ValueError(f"prompt {self.name}.{self.language} {problem} {', '.join(sorted(names))}")
        marks = _marks(places)
        return Template(self.text).substitute({name: _fence(name, values[name], marks) for name in places})


def item_of(name: str) -> str:
    """Return the singular of the name of a sequence: passages to passage, queries to query."""
    return f"{name.removesuffix('ies')}y" if name.endswith("ies") else name.removesuffix("s")


def _marks(places: Iterable[str]) -> re.Pattern[str]:
    tags = "|".join(sorted({re.escape(form) for name in places for form in (name, item_of(name))}))
    return re.compile(rf"{TURN_MARKS}|<(?=\s*/?\s*(?:{tags})s?\b)", re.IGNORECASE)


def _fence(name: str, value: str | Sequence[str], marks: re.Pattern[str]) -> str:
    if not isinstance(value, str):
        item = item_of(name)
        fenced = (
            f'<{item} number="{number}">\n{_defuse(text, marks)}\n</{item}>'
            for number, text in enumerate(value, 1)
        )
        return f"<{name}>\n" + "\n".join(fenced) + f"\n</{name}>"
    return f"<{name}>\n{_defuse(value, marks)}\n</{name}>"


def _defuse(text: str, marks: re.Pattern[str]) -> str:
    return marks.sub(lambda mark: DEFUSED[mark[0]], text)


@lru_cache
def load_prompt(name: str, language: Language) -> Prompt:
    """Read the prompt of that name; a question neither Korean nor English gets the English one.

    Raises:
        ValueError: no such prompt, or its file does not begin with `version: N`.
    """
    language = "ko" if language == "ko" else "en"
    file = resources.files("generator.prompts") / f"{name}.{language}.txt"
    if not file.is_file():
        raise ValueError(f"no prompt {name}.{language}; there are {', '.join(prompt_files())}")
    first, _, text = file.read_text(encoding="utf-8").partition("\n")
    version = VERSION_LINE.fullmatch(first.strip())
    if not version:
        raise ValueError(f"prompt {name}.{language} does not begin with 'version: N'")
    return Prompt(name, language, int(version[1]), text.strip())


def prompt_versions() -> dict[str, int]:
    """Return the version of each prompt by its name, like keywords.ko."""
    languages: tuple[Language, ...] = ("en", "ko")
    return {
        name: load_prompt(name.removesuffix(f".{language}"), language).version
        for name in prompt_files()
        for language in languages
        if name.endswith(f".{language}")
    }


def prompt_files() -> list[str]:
    """Name the prompts there are, like keywords.ko."""
    names = (entry.name for entry in resources.files("generator.prompts").iterdir())
    return sorted(name.removesuffix(".txt") for name in names if name.endswith(".txt"))
