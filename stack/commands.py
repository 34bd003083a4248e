"""The commands around the services: `doctor`, `settings` and `bundle`."""

from pathlib import Path
from shlex import quote

import click

from base.terminal.output import echo, echo_json, echo_lines
from base.terminal.parameters import PathParameter
from indexer.options import json_option

EXTRAS = "base elasticsearch models hub parquet pdf citing server plots dev".split()


@click.command()
@click.option("--name", help="The index to check; all indexes by default.")
@click.option(
    "--offline",
    is_flag=True,
    help="Refuse every address that is not in the settings, run a whole question, and report all attempts.",
)
@click.option("--quick", is_flag=True, help="Do not read every file of the indexes.")
@json_option
def doctor(name: str | None, offline: bool, quick: bool, as_json: bool) -> None:
    """Report the configuration, reachable services, problems and their remedies.

    Exit code 1 if there is a problem; a missing configuration is not a problem.
    """
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

    from base.terminal.progress_bar import progress_bar
    from generator.pipeline import Settings
    from stack.doctor.checks import examine
    from stack.doctor.findings import Examined, all_is_well, as_record, show_findings

    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    with progress_bar(*columns) as progress:
        examined = Examined(Settings.from_environment(), name, quick, progress)
        if offline:
            from stack.doctor.offline import examine_offline

            findings = examine_offline(examined)
        else:
            findings = examine(examined)
    if as_json:
        echo_json(as_record(findings))
    else:
        show_findings(findings)
    if not all_is_well(findings):
        raise SystemExit(1)


@click.command()
@click.option(
    "--toml", is_flag=True, help="Print a shrag.toml instead, with all settings and their defaults."
)
@json_option
def settings(toml: bool, as_json: bool) -> None:
    """List every setting with its value, its source and its purpose; keys are hidden.

    A value is from a variable, from the file, or the default. The file is the one in SHRAG_CONFIG, else
    ./shrag.toml, ~/.config/shrag/shrag.toml or /etc/shrag/shrag.toml, the first that exists.
    """
    from base.settings.file import read_settings_file
    from base.terminal.columns import wrapped_table
    from stack.settings_listing import file_lines, listing_rows, settings_in_force

    if toml and as_json:
        raise click.UsageError("--toml and --json exclude each other")
    if toml:
        echo_lines(file_lines())
        return
    file = read_settings_file()
    found = settings_in_force(file)
    if as_json:
        record = {"file": str(file.path) if file else None, "settings": [each.as_record() for each in found]}
        echo_json(record)
        return
    for lines in wrapped_table(listing_rows(found)):
        echo_lines(lines)
    echo(f"file: {file.path}" if file else "there is no settings file", err=True)


class _WithDefault(click.Group):
    """A group with the default command `make`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["make", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_WithDefault)
def bundle() -> None:
    """Collect everything that a machine without internet needs, and verify it there.

    `shrag bundle OUT …` is short for `shrag bundle make OUT …`.
    """


@bundle.command()
@click.argument("out", type=PathParameter())
@click.option(
    "--extra",
    "extras",
    type=click.Choice(EXTRAS),
    multiple=True,
    default=["server", "pdf", "hub"],
    show_default=True,
    help="Extras to include as wheels; repeatable. Every extra includes base, models includes elasticsearch.",
)
@click.option(
    "--platform",
    "platforms",
    multiple=True,
    metavar="TAG",
    help="Platform of the other machine, like manylinux_2_28_x86_64; repeatable. Default: this platform.",
)
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="OWNER/NAME@REVISION",
    help="A model of the hub, or FOLDER=OWNER/NAME; repeatable.",
)
@click.option("--image", "images", multiple=True, metavar="NAME:TAG", help="A container image; repeatable.")
@click.option("--stack-images", is_flag=True, help="All images of docker-compose.yml.")
def make(
    out: Path,
    extras: tuple[str, ...],
    platforms: tuple[str, ...],
    models: tuple[str, ...],
    images: tuple[str, ...],
    stack_images: bool,
) -> None:
    """Collect wheels, models, images and this checkout in the folder OUT; the same command resumes."""
    from stack.bundle import CHECKOUT, images_of, make_bundle, parse_model

    if stack_images:
        images += images_of((CHECKOUT / "docker-compose.yml").read_text("utf-8"))
    manifest = make_bundle(
        out,
        extras=list(dict.fromkeys(extras)),
        platforms=platforms,
        models=[*map(parse_model, models)],
        images=list(dict.fromkeys(images)),
        report=lambda line: echo(f"{line} …", err=True),
    )
    check = f"shrag bundle verify {quote(str(out))}"
    echo(f"{out}: {manifest.files:,} files, {manifest.bytes / 1e6:,.1f} MB; verify it: {check}")


@bundle.command()
@click.argument("folder", type=PathParameter())
@json_option
def verify(folder: Path, as_json: bool) -> None:
    """Verify every file of FOLDER, its wheels for this Python and its models; print how to install.

    Exit code 1 if anything is wrong.
    """
    from stack.bundle import verify_bundle

    verified = verify_bundle(folder, report=lambda line: echo(f"{line} …", err=True))
    if as_json:
        echo_json({"well": not verified.faults, "faults": verified.faults, "commands": verified.commands})
    elif verified.faults:
        echo_lines(verified.faults)
    else:
        echo(f"{verified.manifest.files:,} files are correct. To install from them:")
        echo()
        echo_lines(f"    {line}" for line in verified.commands)
    if verified.faults:
        raise SystemExit(1)
