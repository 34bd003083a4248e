"""A bundle is collected in OUT.partial, with which the same command goes on, and becomes OUT when whole."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from stack.bundle.images import collect_image, why_not_here
from stack.bundle.manifest import (
    PLAN,
    LeftOut,
    Manifest,
    clear_unfinished,
    entries,
    unfinished_of,
    write_manifest,
    write_whole,
)
from stack.bundle.models import OTHER_FORMS, ModelSource, collect_model, resolve_model
from stack.bundle.source import CHECKOUT, collect_source, has_changes
from stack.bundle.wheels import LOCKS, collect_wheels, python_version
from stack.errors import BundleBusy, BundleCallError, BundleIncomplete

SOURCE, WHEELS, MODELS, IMAGES = "source", "wheels", "models", "images"
ALWAYS_LEFT_OUT = (
    LeftOut("indexes", "copy SHRAG_HOME, or index there", asked_for=False),
    LeftOut("Python itself, make, Docker and GPU drivers", "of the operating system", asked_for=False),
    LeftOut(f"other forms of weights ({', '.join(OTHER_FORMS)})", "nothing here reads them", asked_for=False),
)

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class BundleRequest:
    """What is to be in a bundle."""

    out: Path
    extra: str = "base"
    platforms: tuple[str, ...] = ()
    models: tuple[ModelSource, ...] = ()
    images: tuple[str, ...] = ()
    checkout: Path = CHECKOUT

    def plan(self) -> dict[str, Any]:
        """Return all that decides what is in the bundle but the source, which is always written anew."""
        return {
            "extra": self.extra,
            "platforms": list(self.platforms),
            "models": [[one.name, one.revision, str(one.folder or "")] for one in self.models],
            "images": list(self.images),
        }


def make_bundle(request: BundleRequest, tell: Tell = lambda _: None) -> Manifest:
    """Collect a bundle; images that no tool here can save are listed in the manifest as left out.

    Raises:
        BundleCallError: `out` is there, or was begun with other options, or two models have one name.
        BundleBusy: another process is making it.
        BundleIncomplete: wheels, a model or an image cannot be had; what is there is kept for the next run.
    """
    out = request.out.absolute()
    if out.exists():
        raise BundleCallError(
            f"{out} is there already: check it (shrag bundle verify), or name another folder"
        )
    names = [one.name for one in request.models]
    if twice := sorted({one for one in names if names.count(one) > 1}):
        raise BundleCallError(f"two models are called {', '.join(twice)}; give each a name of its own")
    partial = out.with_name(f"{out.name}.partial")
    out.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(out.with_name(f".{out.name}.lock"))
    try:
        with lock.acquire(timeout=0):
            resolved = replace(request, models=tuple(map(resolve_model, request.models)))
            manifest = _collected(resolved, partial, tell)
            partial.replace(out)
            (out / PLAN).unlink()
    except Timeout:
        raise BundleBusy(f"another process is making {out}; wait for it, or end it") from None
    Path(lock.lock_file).unlink(missing_ok=True)
    return manifest


def _collected(request: BundleRequest, partial: Path, tell: Tell) -> Manifest:
    _begin(request, partial)
    tell("source")
    commit = collect_source(partial / SOURCE, request.checkout)
    lock = LOCKS[request.extra]
    tell(f"wheels of {lock}")
    complaint = collect_wheels(partial / SOURCE / "requirements" / lock, partial / WHEELS, request.platforms)
    if complaint:
        raise BundleIncomplete(f"wheels of {lock}: {complaint}; mend that, and the same command goes on")
    models, images = [], []
    for model in request.models:
        tell(f"model {model.name}")
        models.append(collect_model(model, partial / MODELS / model.name))
    left_out = [
        LeftOut(f"image {image}", reason, asked_for=True)
        for image in request.images
        if (reason := why_not_here(image))
    ]
    if has_changes(request.checkout):
        left_out.append(
            LeftOut("changes that are not committed", "the source is the commit's", asked_for=False)
        )
    for image in request.images:
        if not any(one.what == f"image {image}" for one in left_out):
            tell(f"image {image}")
            images.append(collect_image(image, partial / IMAGES))
    tell("hashes")
    manifest = Manifest(
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        shrag=version("shrag"),
        commit=commit,
        python=python_version(),
        platforms=request.platforms,
        lock=lock,
        models=tuple(models),
        images=tuple(images),
        left_out=(*left_out, *ALWAYS_LEFT_OUT),
        files=entries(partial),
    )
    write_manifest(partial, manifest)
    return manifest


def _begin(request: BundleRequest, partial: Path) -> None:
    """Go on with what is there if it was begun alike; all that was written there is told by its plan."""
    partial.mkdir(exist_ok=True)
    plan = partial / PLAN
    unfinished_of(plan).unlink(missing_ok=True)
    wanted = json.dumps(request.plan(), ensure_ascii=False)
    begun = plan.read_text("utf-8") if plan.is_file() else None
    if begun is None and any(partial.iterdir()):
        raise BundleCallError(f"{partial} is no bundle that was begun; move it away, or name another folder")
    if begun is not None and begun != wanted:
        raise BundleCallError(
            f"{partial} was begun with other options ({begun}; now {wanted}); give the same again, with the "
            "commit of a model whose branch has moved, or delete it"
        )
    clear_unfinished(partial)
    write_whole(plan, wanted.encode())
