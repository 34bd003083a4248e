"""A language model of rules: it answers every agent of SHRAG in the form that its call demands.

The answers are made from the words of the prompt, the same for the same prompt, seed and temperature. They
let every experiment run without a real model; their quality says nothing.
"""

import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tests.http_server import Handler, serving

MODEL = "fixture"
WORDS = re.compile(r"[가-힣]{2,}|[A-Za-z][A-Za-z-]{3,}")
QUESTION_WORDS = frozenset(
    "what which does how when where who why about from with between into that than this there have there "
    "무엇 무엇인가 어떻게 어떤 얼마나 언제 누가 어디 있는가 하는가 되는가 대한 관한".split()
)
PARTICLES = re.compile(r"(?:에서|으로|에게|까지|부터|이나|보다|은|는|이|가|을|를|의|에|와|과|로|도)$")
STEP_WORDS = 4  # fewest words of a step
RELATED = 0.34  # share of the question's words in a paper that the model calls relevant

Draw = random.Random | None  # None at temperature 0
Answer = Callable[[str, Draw], Any]


def value_of(name: str, prompt: str) -> str:
    """Return the last text between tags of a name."""
    found = re.findall(rf"<{name}>\n(.*?)\n</{name}>", prompt, re.DOTALL)
    return found[-1] if found else ""


def items_of(name: str, prompt: str) -> dict[int, str]:
    """Return the numbered texts of a name."""
    found = re.findall(rf'<{name} number="(\d+)">\n(.*?)\n</{name}>', prompt, re.DOTALL)
    return {int(number): text for number, text in found}


def words_of(text: str) -> list[str]:
    """Return the content words of a text in their order, Korean ones without their last particle."""
    found = (PARTICLES.sub("", word) if word[0] >= "가" else word.lower() for word in WORDS.findall(text))
    return list(dict.fromkeys(word for word in found if len(word) > 1 and word not in QUESTION_WORDS))


def overlap(question: str, text: str) -> float:
    """Return the share of the question's words that a text contains."""
    words = words_of(question)
    return sum(word in text.lower() for word in words) / len(words) if words else 0.0


def keywords(prompt: str, draw: Draw) -> dict[str, Any]:
    """Choose words of the question, in a random order if the temperature is above 0; a long one has steps."""
    words = words_of(value_of("question", prompt)) or ["연구", "research"]
    half = len(words) // 2
    steps = [f"{' '.join(part)}?" for part in (words[:half], words[half:])] if half >= STEP_WORDS else []
    if draw:
        draw.shuffle(words)
    korean = [word for word in words if word[0] >= "가"][:5]
    english = [word for word in words if word[0] < "가"][:5]
    by_language = {"ko": _padded(korean, "연구"), "en": _padded(english, "research")}
    return by_language | {"exclude": [], "years": None, "steps": steps}


def _padded(words: Sequence[str], filler: str) -> list[str]:
    return [*words, *(f"{filler} {number}" for number in range(1, 3 - len(words)))]


def answer(prompt: str, _: Draw) -> dict[str, Any]:
    """Quote the first sentence of each passage."""
    quoted = list(_quoted(prompt))
    return {
        "title": value_of("question", prompt)[:80],
        "introduction": quoted[:1],
        "body": quoted[:10],
        "conclusion": quoted[-1:],
        "answered": bool(quoted),
    }


def _quoted(prompt: str) -> Iterator[dict[str, Any]]:
    for number, passage in items_of("passage", prompt).items():
        sentence = re.split(r"(?<=[.!?다])\s", passage.partition("\n")[2].strip(), maxsplit=1)[0]
        if sentence:
            yield {"text": sentence[:400], "citations": [number]}


def judgement(prompt: str, _: Draw) -> dict[str, Any]:
    """Judge by the share of the question's words; the reply has the fields of both prompts."""
    share = overlap(value_of("question", prompt), value_of("title", prompt) + value_of("abstract", prompt))
    related = share >= RELATED
    return {
        "reason": "Judged by shared words.",
        "score": round(min(1.0, share + 0.2 * related), 3),
        **dict.fromkeys(("shares_subject", "shares_domain", "shares_intent"), related),
        "topic": round(0.6 * share, 3),
        "context": round(0.3 * share, 3),
        "depth": 0.05 if related else 0.0,
        **dict.fromkeys(("stuffed_with_keywords", "misleading"), False),
    }


def two_texts(prompt: str, _: Draw) -> dict[str, Any]:
    """Return two texts of the question's words: further queries, or hypothetical answers."""
    words = words_of(value_of("question", prompt)) or ["research"]
    return {"texts": [" ".join(words), " ".join(reversed(words)) + " results"]}


def same_question(prompt: str, _: Draw) -> dict[str, Any]:
    """Leave a question unchanged."""
    return {"question": value_of("question", prompt), "depends": False}


def benchmark_questions(prompt: str, _: Draw) -> dict[str, Any]:
    """Derive questions from a seed: its words, each time without another one."""
    words = words_of(value_of("question", prompt)) or ["research", "methods"]
    shortened = (words[:place] + words[place + 1 :] for place in range(len(words)))
    texts = [" ".join(some) or "research" for some in shortened]
    return {"questions": texts[: int(value_of("count", prompt))]}


def accuracy(prompt: str, _: Draw) -> dict[str, Any]:
    """Call an answer correct that contains enough words of a reference."""
    answered, references = value_of("answer", prompt), items_of("reference", prompt).values()
    best = max((overlap(reference, answered) for reference in references), default=0.0)
    return {"reason": "Judged by shared words.", "verdict": "correct" if best >= RELATED else "incorrect"}


ANSWERS: Mapping[str, Answer] = {
    "accuracy": accuracy,
    "answer": answer,
    "benchmark-questions": benchmark_questions,
    "judgement": judgement,
    "keywords": keywords,
    "queries": two_texts,
    "question": same_question,
    "rewrite": same_question,
}


def reply_to(body: Mapping[str, Any]) -> Any:
    """Return the reply to a chat call, as JSON; an agent without a rule gets the smallest valid reply."""
    form = body["response_format"]["json_schema"]
    prompt = "\n".join(message["content"] for message in body["messages"])
    draw = random.Random(f"{body.get('seed')} {prompt}" if body.get("temperature") else "")
    schema = form["schema"]
    if form["name"] not in ANSWERS:
        return smallest(schema, schema.get("$defs", {}))
    made = ANSWERS[form["name"]](prompt, draw)
    known = schema.get("properties", {})
    return {name: value for name, value in made.items() if name in known}


def smallest(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Any:
    """Return a small value that a JSON schema permits."""
    if "$ref" in schema:
        return smallest(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    for choice in ("anyOf", "oneOf", "allOf"):
        if choice in schema:
            return smallest(schema[choice][0], definitions)
    if "const" in schema or "enum" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    of_type: Mapping[str, Callable[[], Any]] = {
        "object": lambda: {
            name: smallest(schema["properties"][name], definitions) for name in schema.get("required", [])
        },
        "array": lambda: [smallest(schema["items"], definitions)] * schema.get("minItems", 1),
        "string": lambda: "text".ljust(schema.get("minLength", 0), "."),
        "integer": lambda: schema.get("minimum", 0),
        "number": lambda: schema.get("minimum", 0),
        "boolean": lambda: True,
    }
    return of_type.get(schema.get("type", ""), lambda: None)()


class FixtureModel(Handler):
    """The endpoint /v1/chat/completions."""

    def post(self) -> None:
        """Answer a call."""
        body = self.asked()
        if not self.path.endswith("/chat/completions"):
            self.answer(404, {})
            return
        message = {"role": "assistant", "content": json.dumps(reply_to(body), ensure_ascii=False)}
        usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        self.answer(200, {"model": MODEL, "choices": [choice], "usage": usage})


@contextmanager
def fixture_model() -> Iterator[dict[str, str]]:
    """Run the model on a free port; yield the variables that configure it."""
    with serving(FixtureModel) as url:
        yield {"SHRAG_LLM__BASE_URL": f"{url}/v1", "SHRAG_LLM__MODEL": MODEL}
