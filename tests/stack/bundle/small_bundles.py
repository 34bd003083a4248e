"""What bundles of the tests are made of: a lock of small wheels, a model of a few bytes."""

import json

from stack.bundle.source import CHECKOUT

SMALL = ("click", "colorama", "defusedxml")


GIT = ("git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main")


def small_lock(*others):
    """Return the lines of the project's lock for a few small wheels, and for others."""
    text = (CHECKOUT / "requirements" / "base.txt").read_text("utf-8")
    blocks = ("\n" + text).split("\n")
    kept, keep = [], False
    for line in blocks:
        if line and not line[0].isspace() and not line.startswith("#"):
            keep = line.partition("==")[0] in {*SMALL, *others}
        if keep and not line.lstrip().startswith("#"):
            kept.append(line)
    return "\n".join(kept) + "\n"


def write_model(folder, *, shards=()):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text('{"model_type": "tiny"}')
    (folder / "tokenizer.json").write_text("{}")
    if shards:
        weights = {f"layer{number}": name for number, name in enumerate(shards)}
        (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weights}))
    for name in shards or ("model.safetensors",):
        (folder / name).write_bytes(b"weights of " + name.encode())
    return folder
