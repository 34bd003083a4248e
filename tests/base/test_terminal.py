"""The command line: options made from the fields of a call, tables, and remedies in words."""

from typing import Annotated, Literal

import click
import pytest
from click.testing import CliRunner
from pydantic import Field

from base.amounts import plain
from base.calls import Call, Flag, Section
from base.errors import InvalidCall, Remedy
from base.terminal.call_options import call_options
from base.terminal.columns import table, wrapped_table
from base.terminal.parameters import SectionedCommand
from indexer.errors import IndexMismatch


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


class Parts(Example):
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


def test_words_stand_to_the_left_and_numbers_to_the_right():
    assert table([("measure", "A"), ("RR", "0.5"), ("재현율", "12.5")], words=1) == [
        "measure     A",
        "RR        0.5",
        "재현율   12.5",
    ]


def test_a_table_that_is_too_wide_is_cut_in_its_widest_column():
    header, row = wrapped_table([("id", "title"), ("P1", "word " * 50)])

    assert header == ["id  title"]
    assert len(row) == 2
    assert all(line.startswith(begin) for line, begin in zip(row, ("P1  word", "    word"), strict=True))


@pytest.mark.parametrize(
    ("number", "written"),
    [(1800.0, "1,800"), (0.35, "0.35"), (1e-7, "0.0000001"), (1e6, "1,000,000"), (2, "2"), (0.0, "0")],
)
def test_numbers_have_no_exponent(number, written):
    assert plain(number) == written


def test_an_error_says_which_commands_fix_it():
    error = IndexMismatch("why", remedy=(Remedy.REBUILD, "set back"), index="papers")

    assert str(error) == "why; build it again (shrag index PATH --name papers --rebuild), or set back"
