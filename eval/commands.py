"""The command `eval` with its subcommands."""

import click

from base.terminal.lazy_commands import LazyGroup

COMMANDS = {
    "compare": ("eval.score_commands:compare_command", "Compare two runs, with a paired test."),
    "judgements": ("eval.judgements_command:judgements_command", "Make qrels of readers' judgements."),
    "run": ("eval.run_command:run_command", "Rank every question of a topics file."),
    "score": ("eval.score_commands:score_command", "Score a run by judgements."),
}


@click.group("eval", cls=LazyGroup, locations=COMMANDS)
def evaluate() -> None:
    """Make runs from topics, score them with judgements, compare them."""
