"""A bundle for a machine without internet: the source, the wheels of locks, models and container images.

`make_bundle` collects it in OUT.partial with git, pip, the hub's client and docker or podman, and renames the
folder at the end; the same command resumes. `verify_bundle` checks it where it will be used; before anything
is installed, `sha256sum --check SHA256SUMS` does.
"""

import hashlib
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from shlex import quote
from typing import NamedTuple
from urllib.parse import quote as percent_encoded

from pydantic import TypeAdapter, ValidationError

from base.errors import InvalidCall, ShragError
from base.extras import extra_remedy

Report = Callable[[str], None]
CHECKOUT = Path(__file__).parents[1]
MANIFEST, SUMS = "bundle.json", "SHA256SUMS"
SOURCE, WHEELS, MODELS, IMAGES = "source", "wheels", "models", "images"
PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"  # as in names of wheels
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input")
BY_THE_LOCK = ("--quiet", "--require-hashes", "--only-binary=:all:", "--requirement")
# Other formats of the same weights; with safetensors neither vLLM nor sentence-transformers reads them.
OTHER_FORMS = ["onnx/*", "openvino/*", "*.onnx", "*.h5", "*.msgpack", "*.ot", "*.gguf", "original/*"]
WEIGHTS = ("*.safetensors", "pytorch_model*.bin")
IMAGE_LINE = re.compile(r"^\s*image:\s*([^\s#]+)", re.MULTILINE)
BUILT_HERE = "shrag-"  # an image of this prefix is built by docker compose build, and in no registry
# Docker's client is often installed without its engine, so each is called.
ENGINES = {"docker": ("version", "--format", "{{.Server.Version}}"), "podman": ("info",)}


class BundleIncomplete(ShragError):
    """A requested part could not be collected; the collected parts are kept for the next run."""


class BundleDamaged(ShragError):
    """The folder is not a bundle, or its manifest is unreadable."""


class ModelSource(NamedTuple):
    """A model: OWNER/NAME at a revision of the hub, or a folder with its name in the bundle."""

    name: str
    revision: str = ""
    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class Manifest:
    """The table of contents of a bundle."""

    shrag: str
    commit: str  # of the source, with a + for changes that are not committed
    python: str  # Python version of the wheels, like 3.11
    platforms: tuple[str, ...]
    extras: tuple[str, ...]
    models: dict[str, str]  # name → revision, "" of a folder
    images: dict[str, str]  # name → digest in the registry
    files: int
    bytes: int


class Verified(NamedTuple):
    """The manifest of a bundle, its faults as lines, and the commands that install from it."""

    manifest: Manifest
    faults: list[str]
    commands: list[str]


def parse_model(text: str) -> ModelSource:
    """Parse OWNER/NAME@REVISION, or FOLDER=OWNER/NAME; raise InvalidCall for anything else."""
    folder, equals, in_bundle = text.partition("=")
    name, _, revision = (in_bundle if equals else text).partition("@")
    is_name = name.count("/") == 1 and all(part and part[0] != "." for part in name.split("/"))
    if is_name and equals and not revision and folder and Path(folder).is_dir():
        return ModelSource(name, folder=Path(folder))
    if not is_name or equals or not revision:
        forms = "OWNER/NAME@REVISION (a commit of the hub), or FOLDER=OWNER/NAME"
        raise InvalidCall(f"--model {text}: write {forms}")
    return ModelSource(name, revision)


def images_of(compose: str) -> tuple[str, ...]:
    """Return the distinct images of a compose file, in order."""
    return tuple(dict.fromkeys(IMAGE_LINE.findall(compose)))


def make_bundle(
    out: Path,
    *,
    extras: Sequence[str] = ("base",),
    platforms: Sequence[str] = (),
    models: Sequence[ModelSource] = (),
    images: Sequence[str] = (),
    checkout: Path = CHECKOUT,
    report: Report = lambda _: None,
) -> Manifest:
    """Collect a bundle in `out`.

    Raises:
        InvalidCall: `out` exists, its folder does not, two models have the same name, or no git clone.
        BundleIncomplete: wheels, a model or an image are not available; the next run resumes.
    """
    out = out.absolute()
    if out.exists() or not out.parent.is_dir():
        why = "exists already" if out.exists() else "cannot be created, as its folder does not exist"
        raise InvalidCall(f"{out} {why}; choose another folder")
    named = {model.name: model.revision for model in models}
    if len(named) < len(models):
        raise InvalidCall("two models have the same name; give each a different one")
    if not (checkout / ".git").exists():
        raise InvalidCall(f"{checkout} is not a git clone: run shrag bundle in a clone")
    partial = out.with_name(f"{out.name}.partial")
    partial.mkdir(exist_ok=True)
    commit = _collect_source(partial / SOURCE, checkout)
    report("wheels")
    other = [f"--python-version={PYTHON}", "--implementation=cp", "--no-deps"] if platforms else []
    other += [f"--platform={tag}" for tag in platforms]
    for extra in extras:
        command = [*PIP, "download", *BY_THE_LOCK, _lock_of(partial, extra), *other]
        _run([*command, f"--dest={partial / WHEELS}"], f"wheels of {extra}")
    shutil.rmtree(partial / MODELS, ignore_errors=True)
    for model in models:
        report(f"model {model.name}")
        _collect_model(model, partial / MODELS / model.name)
    shutil.rmtree(partial / IMAGES, ignore_errors=True)  # podman does not replace an archive
    digests = _collect_images(images, partial, report) if images else {}
    report("hashes")
    sums = {name: _sha256_of(partial / name) for name in _files_below(partial) if name != MANIFEST}
    size = sum((partial / name).stat().st_size for name in sums)
    contents = version("shrag"), commit, PYTHON, tuple(platforms), tuple(extras), named, digests
    manifest = Manifest(*contents, len(sums), size)
    (partial / MANIFEST).write_text(f"{json.dumps(asdict(manifest), indent=1)}\n", "utf-8")
    sums[MANIFEST] = _sha256_of(partial / MANIFEST)
    (partial / SUMS).write_text("".join(f"{digest}  {name}\n" for name, digest in sums.items()), "utf-8")
    partial.replace(out)
    return manifest


def verify_bundle(folder: Path, report: Report = lambda _: None) -> Verified:
    """Verify a bundle; raise BundleDamaged if its manifest or its list of hashes cannot be read."""
    folder = folder.absolute()
    try:
        manifest = TypeAdapter(Manifest).validate_json((folder / MANIFEST).read_bytes())
        lines = (folder / SUMS).read_text("utf-8", "replace").splitlines()
    except (OSError, ValidationError) as error:
        raise BundleDamaged(
            f"{folder} is not a bundle: {MANIFEST} or {SUMS} cannot be read ({type(error).__name__}); an "
            "unfinished bundle is called ….partial, and the same shrag bundle command resumes it"
        ) from error
    report(f"{manifest.files:,} files")
    sums = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    faults = [*_file_faults(folder, sums)]
    report("wheels")
    faults += _wheel_faults(folder, manifest)
    return Verified(manifest, faults, [*_commands(folder, manifest)])


def _collect_source(target: Path, checkout: Path) -> str:
    """Write the files of the last commit to `target`, and return the commit's id."""
    git, purpose = ["git", "-C", str(checkout)], f"the source in {checkout}"
    commit = _run([*git, "rev-parse", "HEAD"], purpose)
    shutil.rmtree(target, ignore_errors=True)
    archive = target.with_suffix(".tar")
    _run([*git, "archive", "--format=tar", f"--output={archive}", commit], purpose)
    shutil.unpack_archive(archive, target, filter="data")
    archive.unlink()
    return commit + ("+" if _run([*git, "status", "--porcelain"], purpose) else "")


def _collect_model(source: ModelSource, target: Path) -> None:
    fault = ""
    try:
        folder = source.folder
        if folder is None:
            import huggingface_hub

            folder = huggingface_hub.snapshot_download(
                source.name, revision=source.revision, ignore_patterns=OTHER_FORMS
            )
        # Files with a dot may contain keys (.env). The hub's cache has links to its files.
        shutil.copytree(folder, target, ignore=shutil.ignore_patterns(".*"))
        if not any(path for pattern in WEIGHTS for path in target.glob(pattern)):
            fault = f"it has no weights ({', '.join(WEIGHTS)})"
    except ModuleNotFoundError:
        fault = f"the hub's client is not installed; {extra_remedy('models')}"
    except Exception as error:  # noqa: BLE001 - the client's errors have no common base
        line = str(error).strip().partition("\n")[0]
        fault = f"{type(error).__name__}: {line}; the same command resumes"
    if fault:
        raise BundleIncomplete(f"model {source.name}: {fault}")


def _collect_images(images: Sequence[str], partial: Path, report: Report) -> dict[str, str]:
    """Save images by the first engine that works; return the digest of each."""
    engine = next((name for name, probe in ENGINES.items() if _works([name, *probe])), None)
    if engine is None:
        names = " and ".join(ENGINES)
        raise BundleIncomplete(f"images: neither {names} works here; start one, or leave out the images")
    digests = {}
    (partial / IMAGES).mkdir()
    for name in images:
        purpose, shown = f"image {name}", "{{.Id}}"
        report(purpose)
        if not name.startswith(BUILT_HERE):
            shown = "{{index .RepoDigests 0}}"
            _run([engine, "pull", "--quiet", name], purpose)
        found = _run([engine, "image", "inspect", "--format", shown, name], purpose)
        digests[name] = found.rpartition("@")[2]
        _run([engine, "save", "--output", str(_archive_of(partial, name)), name], purpose)
    return digests


def _file_faults(folder: Path, sums: dict[str, str]) -> Iterator[str]:
    """Yield the missing, damaged and unexpected files."""
    there = {*_files_below(folder)}
    for name in sorted({*sums, *there}):
        if name not in sums:
            yield f"{name}: does not belong to the bundle"
        elif name not in there:  # or a damaged line
            yield f"{name}: is missing"
        elif _sha256_of(folder / name) != sums[name]:
            yield f"{name}: is damaged (its hash differs)"


def _wheel_faults(folder: Path, manifest: Manifest) -> Iterator[str]:
    """Let pip resolve each lock from the wheels without installing."""
    if manifest.python != PYTHON:
        yield f"wheels: they are for Python {manifest.python}, and this is {PYTHON}"
        return
    offline = ["install", "--dry-run", "--ignore-installed", "--no-index", f"--find-links={folder / WHEELS}"]
    for extra in manifest.extras:
        try:
            _run([*PIP, *offline, *BY_THE_LOCK, _lock_of(folder, extra)], f"wheels of {extra}")
        except BundleIncomplete as error:
            yield str(error)


def _commands(folder: Path, manifest: Manifest) -> Iterator[str]:
    """Yield the shell commands that install from the bundle."""
    targets = " ".join("install" if extra == "base" else f"install-{extra}" for extra in manifest.extras)
    yield f"cp -r {quote(str(folder / SOURCE))} shrag && cd shrag"
    wheels = quote((folder / WHEELS).as_uri())  # a URI, as pip ends a path at a space
    yield f"PIP_NO_INDEX=1 PIP_FIND_LINKS={wheels} make {targets} PYTHON=python{manifest.python}"
    if manifest.models:
        yield f"echo {quote(f'MODELS_FOLDER={folder / MODELS}')} >>.env  # after cp .env.example .env"
    for name, digest in manifest.images.items():
        yield f"docker load --input {quote(str(_archive_of(folder, name)))}  # {name}, {digest}"
    yield ".venv/bin/shrag doctor --offline"


def _run(command: Sequence[str], purpose: str) -> str:
    """Return the output of a program; raise BundleIncomplete with the end of its error output."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    except FileNotFoundError:
        raise BundleIncomplete(f"{purpose}: {command[0]} is not installed") from None
    if done.returncode == 0:
        return done.stdout.strip()
    complaint = " ".join(done.stderr.split()) or f"{command[0]} ended with {done.returncode}"
    raise BundleIncomplete(f"{purpose}: {complaint}; fix that, and the same command resumes")


def _works(command: Sequence[str]) -> bool:
    try:
        _run(command, "")
    except BundleIncomplete:
        return False
    return True


def _files_below(folder: Path) -> Iterator[str]:
    """Yield all files of a bundle except the list of hashes, in order."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name != SUMS:
            yield name


def _lock_of(bundle: Path, extra: str) -> str:
    return str(bundle / SOURCE / "requirements" / f"{extra}.txt")


def _archive_of(bundle: Path, image: str) -> Path:
    return bundle / IMAGES / f"{percent_encoded(image, safe='')}.tar"


def _sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
