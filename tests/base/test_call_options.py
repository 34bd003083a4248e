"""Options of a command made from the fields of a call."""

from typing import Annotated, Literal

import click
import pytest
from click.testing import CliRunner
from pydantic import Field

from base.calls import Call, Flag, Section, observer
from base.errors import InvalidCall
from base.terminal.call_options import call_options
from base.terminal.parameters import SectionedCommand


class Example(Call):
    """A call with a field of each kind."""

    text: Annotated[str, Flag(argument=True), Field(description="A text.")]
    count: Annotated[int, Flag("-c", Section.LIMITS), Field(ge=1, le=9, description="A number.")] = 3
    share: Annotated[float | None, Field(gt=0, description="A share.")] = None
    kind: Annotated[Literal["one", "two"] | None, Field(description="A choice.")] = None
    names: Annotated[tuple[str, ...], Flag("--name", commas=True), Field(description="A name.")] = ()
    whole: Annotated[bool, Field(description="A switch.")] = False
    cited: Annotated[bool, Flag("--no-cited", help="Switch citations off."), Field(description="On.")] = True
    hidden: Annotated[str, Flag(hidden=True), Field(max_length=3)] = ""


made: list[Example] = []


@click.command(cls=SectionedCommand)
@call_options(Example)
@click.option("--json", "as_json", is_flag=True)
def command(call: Example, *, as_json: bool) -> None:
    """Keep the call."""
    del as_json
    made.append(call)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["a"], {"text": "a"}),
        (["a", "-c", "9", "--json"], {"text": "a", "count": 9}),
        (["a", "--count", "1", "--share", "0.5"], {"text": "a", "count": 1, "share": 0.5}),
        (["a", "--kind", "two", "--whole"], {"text": "a", "kind": "two", "whole": True}),
        (["a", "--name", "b, c", "--name", "d"], {"text": "a", "names": ["b", "c", "d"]}),
        (["a", "--no-cited"], {"text": "a", "cited": False}),
    ],
)
def test_a_command_gets_a_call_of_the_given_options_only(arguments, named):
    assert CliRunner().invoke(command, arguments, catch_exceptions=False).exit_code == 0
    assert made.pop().given_values() == named


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ([], "TEXT"),
        (["a", "-c", "10"], "1<=x<=9"),
        (["a", "--share", "0"], "x>0"),
        (["a", "--kind", "three"], "'one', 'two'"),
        (["a", "--name", " , "], "--name"),
        (["a", "--hidden", "x"], "--hidden"),
        (["\udcff"], "TEXT: is not valid Unicode"),
    ],
)
def test_a_wrong_option_exits_with_2_and_names_the_option(arguments, word):
    result = CliRunner().invoke(command, arguments)
    assert (result.exit_code, word in result.output) == (2, True), result.output


class Named(Call):
    """A call with an option without a default."""

    name: Annotated[str, Field(description="A name.")]


def test_an_option_without_a_default_is_required():
    named = click.command()(call_options(Named)(lambda call: click.echo(call.name)))
    assert CliRunner().invoke(named, ["--name", "kim"]).output == "kim\n"
    result = CliRunner().invoke(named, [])
    assert (result.exit_code, "Missing option '--name'" in result.output) == (2, True)


def test_the_help_lists_sections_bounds_and_repeatable_options():
    text = CliRunner().invoke(command, ["--help"]).output
    assert "Limits:\n  -c, --count INTEGER RANGE  A number.  [default: 3; 1<=x<=9]" in text
    assert "A name. Repeatable." in text
    assert "Switch citations off." in text
    assert "hidden" not in text


def test_changed_values_are_checked_and_the_others_stay():
    call = Example(text="a", count=2)
    assert call.changed(kind="one").given_values() == {"text": "a", "count": 2, "kind": "one"}
    with pytest.raises(ValueError, match="kind"):
        call.changed(kind="three")


def test_the_observer_gets_valid_calls_of_its_task():
    seen: list[Call] = []
    token = observer.set(seen.append)
    try:
        call = Example(text="a")
        with pytest.raises(InvalidCall):
            Example.of(text="a", count=0)
    finally:
        observer.reset(token)
    Example(text="b")
    assert seen == [call]


class Parts(Example):
    """A call with values of further types."""

    share: Annotated[float, Field(ge=0, le=1)] = 0.5
    chosen: frozenset[Literal["one", "two"]] = frozenset()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"share": "x"}, "share: must be a number"),
        ({"share": None}, "share: must be a number"),
        ({"share": float("nan")}, "share: must be a finite number"),
        ({"share": 2}, "share: must be at most 1"),
        ({"chosen": "one"}, "chosen: must be a list"),
        ({"chosen": ["two", "x\n"]}, "chosen.1: must be 'one' or 'two', not 'x\\n'"),
        ({"": 1}, "'': unknown field"),
        ({"counts": 2}, "counts: unknown field; did you mean count?"),
        ({"count": 0}, "count: must be at least 1"),
        ({"count": 10**5000}, "count: must be at most 9"),
        ({"names": ["a", "\ud800"]}, "names: is not valid Unicode: it contains a lone surrogate"),
        ({"text": b"\xff"}, "text: is not valid UTF-8"),
        ({"a\n\x1b[31mb": 1}, "a\\n\\x1b[31mb: unknown field"),
    ],
)
def test_a_refusal_is_one_line_in_plain_words(values, message):
    with pytest.raises(InvalidCall) as raised:
        Parts.of(**{"text": "a"} | values)
    assert str(raised.value) == message
