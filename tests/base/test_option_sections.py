"""Options below headings in a command's help."""

import click
from click.testing import CliRunner

from base.terminal.parameters import SectionedCommand, option_section


@click.command(cls=SectionedCommand)
@click.argument("what")
@click.option("--early")
@option_section("Fruit", click.option("--apple"), click.option("--pear"))
@option_section("Trees", click.option("--oak"))
def garden(**_):
    """Plant."""


def test_help_lists_each_option_below_its_heading():
    lines = [line.split() for line in CliRunner().invoke(garden, ["--help"]).output.splitlines()]
    told = [words[0] for words in lines[4:] if words]
    assert told == ["Options:", "--early", "Fruit:", "--apple", "--pear", "Trees:", "--oak", "--help"]


def test_options_of_sections_are_options_like_others():
    done = CliRunner().invoke(garden, ["x", "--pear", "2", "--oak", "3"])
    assert (done.exit_code, done.output) == (0, "")
