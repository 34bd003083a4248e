"""Images of a bundle: saved by whatever tool there is, by their digest."""

import os
import shutil

import pytest

from stack.bundle.images import images_of
from stack.bundle.making import BundleRequest, make_bundle
from stack.bundle.manifest import Image
from stack.bundle.source import CHECKOUT
from stack.bundle.verifying import verify_bundle
from stack.errors import BundleIncomplete


def test_the_images_are_those_of_the_compose_file():
    images = images_of((CHECKOUT / "docker-compose.yml").read_text("utf-8"))
    assert "vllm/vllm-openai:v0.32.0" in images
    assert len(images) == len(set(images))


DOCKER = """#!/bin/sh
echo "$0 $*" >>"$CALLS"
case "$1" in
version|info|--version) echo 29 ;;
pull) ;;
image) echo "docker.io/some/image@sha256:1111" ;;
inspect) echo "sha256:2222" ;;
save) echo archive >"$3" ;;
copy) f=${4#docker-archive:}; echo archive >"${f%%:*}" ;;
esac
"""


def tools(folder, monkeypatch, *names, text=DOCKER):
    """Put small programs on the path that are called as the real ones, and nothing else that saves images."""
    folder.mkdir()
    for name in names:
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    for name in ("git", "sh", "rm"):
        (folder / name).symlink_to(shutil.which(name))
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("CALLS", str(folder / "calls"))


def made(tmp_path, checkout, monkeypatch, *images):
    monkeypatch.setattr("stack.bundle.making.collect_wheels", lambda *_: "")
    return make_bundle(BundleRequest(tmp_path / "out", checkout=checkout, images=images))


def test_docker_saves_an_image_with_the_digest_of_its_registry(tmp_path, checkout, monkeypatch):
    tools(tmp_path / "bin", monkeypatch, "docker", "skopeo")
    manifest = made(tmp_path, checkout, monkeypatch, "some/image:1")
    assert manifest.images == (Image("some/image:1", "sha256:1111", "images/some%2Fimage%3A1.tar"),)
    assert (tmp_path / "out" / "images" / "some%2Fimage%3A1.tar").read_text() == "archive\n"
    calls = [line.partition("/docker ")[2] for line in (tmp_path / "bin" / "calls").read_text().splitlines()]
    assert [line for line in calls if line.startswith("pull")] == ["pull --quiet some/image:1"]


def test_images_of_like_names_have_an_archive_each(tmp_path, checkout, monkeypatch):
    tools(tmp_path / "bin", monkeypatch, "docker")
    manifest = made(tmp_path, checkout, monkeypatch, "a/b:1", "a_b:1", "a%2Fb:1")
    assert len({image.file for image in manifest.images}) == 3
    assert all((tmp_path / "out" / image.file).is_file() for image in manifest.images)


def test_an_image_whose_digest_could_not_be_written_is_saved_again(tmp_path, checkout, monkeypatch):
    tools(tmp_path / "bin", monkeypatch, "docker")
    real = os.replace

    def refuse(source, target, **options):  # as by a process that ends before the digest is whole
        if str(target).endswith(".digest"):
            raise KeyboardInterrupt
        return real(source, target, **options)

    monkeypatch.setattr("os.replace", refuse)
    with pytest.raises(KeyboardInterrupt):
        made(tmp_path, checkout, monkeypatch, "some/image:1")
    monkeypatch.setattr("os.replace", real)
    (tmp_path / "out.partial" / "images" / ".1.0.partial").write_text("half")

    made(tmp_path, checkout, monkeypatch, "some/image:1")

    calls = (tmp_path / "bin" / "calls").read_text().splitlines()
    assert sum("/docker save" in call for call in calls) == 2
    assert {path.name for path in (tmp_path / "out" / "images").iterdir()} == {
        "some%2Fimage%3A1.tar",
        "some%2Fimage%3A1.digest",
    }


def test_an_image_that_is_built_here_is_not_pulled(tmp_path, checkout, monkeypatch):
    tools(tmp_path / "bin", monkeypatch, "docker")
    made(tmp_path, checkout, monkeypatch, "shrag-elasticsearch:9.2.0")
    assert " pull " not in (tmp_path / "bin" / "calls").read_text()


def test_skopeo_copies_by_digest_where_there_is_no_engine(tmp_path, checkout, monkeypatch):
    tools(tmp_path / "bin", monkeypatch, "skopeo")
    manifest = made(tmp_path, checkout, monkeypatch, "some/image:1")
    assert manifest.images[0].digest == "sha256:2222"
    assert "docker://docker.io/some/image@sha256:2222" in (tmp_path / "bin" / "calls").read_text()


def test_without_a_tool_that_works_an_image_is_left_out_and_that_is_told(tmp_path, checkout, monkeypatch):
    tools(tmp_path / "bin", monkeypatch, "docker", text="#!/bin/sh\nexit 1\n")
    manifest = made(tmp_path, checkout, monkeypatch, "some/image:1")
    assert "works here" in manifest.missing["image some/image:1"]
    faults = verify_bundle(tmp_path / "out").faults
    assert any(fault.startswith("image some/image:1: ") for fault in faults)


def test_a_tool_that_fails_ends_the_bundle_and_keeps_what_is_there(tmp_path, checkout, monkeypatch):
    failing = DOCKER.replace("pull) ;;", "pull) echo toomanyrequests >&2; exit 1 ;;")
    tools(tmp_path / "bin", monkeypatch, "docker", text=failing)
    with pytest.raises(BundleIncomplete, match="toomanyrequests"):
        made(tmp_path, checkout, monkeypatch, "some/image:1")
    assert (tmp_path / "out.partial" / "source").is_dir()
