"""Prompts of the language model: one text file per prompt and language, with its version in the first line.

The constant part comes first, so that a server keeps it in its prefix cache. The values come last, each
between tags of its name, so that instructions inside a question or a passage stay data.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from string import Template
from typing import cast

from generator.errors import InvalidPrompt
from indexer.corpora.papers import Language

VERSION_LINE = re.compile(r"version: (\d+)")
# Marks of turns in chat templates: some servers interpret them even inside a question.
TURN_MARKS = r"[<\[](?=\|)|<(?=/?s>|(?:start|end)_of_turn>)|\[(?=/?INST\])"
DEFUSED = {"<": "‹", "[": "［"}


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt with variables; each change of the text increases `version`, which is 0 without a file."""

    name: str
    language: Language
    version: int
    text: str

    @classmethod
    def of_text(cls, name: str, language: Language, text: str) -> "Prompt":
        """Return a prompt of a caller's text, which has no variables."""
        return cls(name, language, 0, text.replace("$", "$$"))

    @property
    def variables(self) -> frozenset[str]:
        """Names of the variables."""
        return frozenset(Template(self.text).get_identifiers())

    def render(self, **values: str | Sequence[str]) -> str:
        """Insert the values, each between tags; the items of a sequence are numbered from 1.

        Values are unchanged, except that the first character of text that looks like one of the tags, or like
        a mark of a chat template, is replaced.

        Raises:
            InvalidPrompt: a value is missing, or the prompt has no such variable.
        """
        variables = self.variables
        if variables != values.keys():
            needed, given = ", ".join(sorted(variables)), ", ".join(sorted(values))
            raise InvalidPrompt(f"prompt {self.name}.{self.language} needs {needed}, and got {given}")
        marks = _marks(variables)
        rendered = {name: _fence(name, values[name], marks) for name in variables}
        return Template(self.text).substitute(rendered)


def item_of(name: str) -> str:
    """Return the singular of the name of a sequence: passages to passage, queries to query."""
    return f"{name.removesuffix('ies')}y" if name.endswith("ies") else name.removesuffix("s")


def _marks(variables: Iterable[str]) -> re.Pattern[str]:
    tags = "|".join(sorted({re.escape(form) for name in variables for form in (name, item_of(name))}))
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
    """Load a prompt; languages other than Korean and English use the English prompt.

    Raises:
        InvalidPrompt: no such prompt, or its file does not begin with `version: N`.
    """
    language = "ko" if language == "ko" else "en"
    file = resources.files("generator.prompts") / f"{name}.{language}.txt"
    if not file.is_file():
        raise InvalidPrompt(f"no prompt {name}.{language}; there are {', '.join(prompt_files())}")
    first, _, text = file.read_text(encoding="utf-8").partition("\n")
    version = VERSION_LINE.fullmatch(first.strip())
    if not version:
        raise InvalidPrompt(f"prompt {name}.{language} does not begin with 'version: N'")
    return Prompt(name, language, int(version[1]), text.strip())


def prompt_versions() -> dict[str, int]:
    """Return the versions of all prompts by name, such as keywords.ko."""
    names = (name.rpartition(".") for name in prompt_files())
    return {
        f"{name}.{language}": load_prompt(name, cast("Language", language)).version
        for name, _, language in names
    }


def prompt_files() -> list[str]:
    """Return the names of all prompts, such as keywords.ko."""
    names = (entry.name for entry in resources.files("generator.prompts").iterdir())
    return sorted(name.removesuffix(".txt") for name in names if name.endswith(".txt"))
