"""The commands around the services: `doctor` and `bundle`."""

import json

import click

from indexer.commands import json_option


@click.command()
@click.option("--name", help="The index to look at; all there are by default.")
@click.option(
    "--offline",
    is_flag=True,
    help="Refuse every address that the settings do not name, ask a whole question, and tell what was tried.",
)
@json_option
def doctor(name: str | None, offline: bool, as_json: bool) -> None:
    """Tell what is configured and reachable, what is wrong, and how to mend it.

    Exit code 1 where something is wrong; what is not configured is no fault.
    """
    from generator.pipeline import Settings
    from stack.doctor.checks import examine
    from stack.doctor.findings import Examined, all_is_well
    from stack.doctor.showing import as_record, show_findings

    examined = Examined(Settings.from_environment(), name)
    if offline:
        from stack.doctor.rehearsal import examine_offline

        findings = examine_offline(examined)
    else:
        findings = list(examine(examined))
    if as_json:
        click.echo(json.dumps(as_record(findings), ensure_ascii=False))
    else:
        show_findings(findings)
    if not all_is_well(findings):
        raise SystemExit(1)
