"""A bundle is collected in OUT.partial, where the same command resumes, and renamed to OUT at the end."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from base.files.durable import write_durably
from base.files.locks import lock_file
from stack.bundle.images import collect_image, find_tool, why_not_here
from stack.bundle.manifest import (
    IMAGES,
    MODELS,
    PLAN,
    SOURCE,
    WHEELS,
    Extra,
    Manifest,
    hashes_below,
    write_sums_and_manifest,
)
from stack.bundle.models import ModelSource, collect_model, resolve_model
from stack.bundle.source import CHECKOUT, collect_source
from stack.bundle.wheels import PYTHON, collect_wheels, lock_of
from stack.errors import BundleBusy, BundleCallError

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class BundleRequest:
    """The requested content of a bundle."""

    out: Path
    extras: tuple[Extra, ...] = ("base",)
    platforms: tuple[str, ...] = ()
    models: tuple[ModelSource, ...] = ()
    images: tuple[str, ...] = ()
    checkout: Path = CHECKOUT

    def plan(self) -> str:
        """Return the request as JSON, without the source, which is always written again."""
        asked = {name: value for name, value in asdict(self).items() if name not in {"out", "checkout"}}
        return json.dumps(asked, ensure_ascii=False, default=str)


def make_bundle(request: BundleRequest, tell: Tell = lambda _: None) -> Manifest:
    """Collect a bundle; images that no tool can save are listed in the manifest as missing.

    Raises:
        BundleCallError: `out` exists, or was started with other options, or two models have the same name.
        BundleBusy: another process is making the bundle.
        BundleIncomplete: wheels, a model or an image are not available; the next run resumes.
    """
    out = request.out.absolute()
    _check_free(out)
    if not out.parent.is_dir():
        raise BundleCallError(
            f"{out} cannot be created: the folder {out.parent} does not exist; create it first"
        )
    names = [model.name for model in request.models]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise BundleCallError(f"two models are called {', '.join(repeated)}; give each a different name")
    partial = out.with_name(f"{out.name}.partial")
    busy = BundleBusy(f"another process is making {out}; wait for it, or stop it")
    with lock_file(out.with_name(f".{out.name}.lock"), busy):
        _check_free(out)  # another process may just have finished
        resolved = replace(request, models=tuple(map(resolve_model, request.models)))
        _begin(resolved, partial)
        manifest = _collect(resolved, partial, tell)
        partial.replace(out)
        (out / PLAN).unlink()
    return manifest


def _check_free(out: Path) -> None:
    if out.exists() or out.is_symlink():
        raise BundleCallError(
            f"{out} exists already: verify it (shrag bundle verify), or choose another folder"
        )


def _begin(request: BundleRequest, partial: Path) -> None:
    """Start a bundle, or resume one that was started with the same options."""
    partial.mkdir(exist_ok=True)
    plan, wanted = partial / PLAN, request.plan()
    if not any(partial.iterdir()):
        write_durably(plan, wanted)
    if not plan.is_file():
        raise BundleCallError(
            f"{partial} is not an unfinished bundle; move it away, or choose another folder"
        )
    if (begun := plan.read_text("utf-8")) != wanted:
        raise BundleCallError(
            f"{partial} was started with other options ({begun}; now {wanted}); repeat them, with the old "
            "commit of a model whose branch has moved, or delete it"
        )
    for folder in (partial, partial / IMAGES):
        for unfinished in folder.glob(".*.partial"):  # of a killed process
            unfinished.unlink()


def _collect(request: BundleRequest, partial: Path, tell: Tell) -> Manifest:
    commit = collect_source(partial / SOURCE, request.checkout)
    tell("wheels")
    locks = [lock_of(partial, extra) for extra in request.extras]
    collect_wheels(locks, partial / WHEELS, request.platforms)
    models, images, missing = [], [], {}
    for model in request.models:
        tell(f"model {model.name}")
        models.append(collect_model(model, partial / MODELS / model.name))
    tool = find_tool() if request.images else None
    for image in request.images:
        tell(f"image {image}")
        if reason := why_not_here(tool, image):
            missing[f"image {image}"] = reason
        elif tool:
            images.append(collect_image(tool, image, partial / IMAGES))
    tell("hashes")
    sums = hashes_below(partial)
    manifest = Manifest(
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        shrag=version("shrag"),
        commit=commit,
        python=PYTHON,
        platforms=request.platforms,
        extras=request.extras,
        models=tuple(models),
        images=tuple(images),
        missing=missing,
        files=len(sums),
        bytes=sum((partial / name).stat().st_size for name in sums),
    )
    write_sums_and_manifest(partial, sums, manifest)
    return manifest
