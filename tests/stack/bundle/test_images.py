"""Images of a bundle: saved by whatever tool there is, by their digest."""

import shutil

import pytest

from stack.bundle.images import file_name, images_of
from stack.bundle.making import BundleRequest, make_bundle
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


def made(tmp_path, checkout, monkeypatch, image):
    monkeypatch.setattr("stack.bundle.making.collect_wheels", lambda *_: "")
    return make_bundle(BundleRequest(tmp_path / "out", checkout=checkout, images=(image,)))


def test_docker_saves_an_image_with_the_digest_of_its_registry(tmp_path, checkout, monkeypatch):
    tools(tmp_path / "bin", monkeypatch, "docker", "skopeo")
    manifest = made(tmp_path, checkout, monkeypatch, "some/image:1")
    name = file_name("some/image:1")
    assert name == "some_image_1.tar"
    assert manifest.images == ({"name": "some/image:1", "digest": "sha256:1111", "file": f"images/{name}"},)
    assert (tmp_path / "out" / "images" / name).read_text() == "archive\n"
    calls = [line.partition("/docker ")[2] for line in (tmp_path / "bin" / "calls").read_text().splitlines()]
    assert [one for one in calls if one.startswith("pull")] == ["pull --quiet some/image:1"]


def test_an_image_that_is_built_here_is_not_pulled(tmp_path, checkout, monkeypatch):
    tools(tmp_path / "bin", monkeypatch, "docker")
    made(tmp_path, checkout, monkeypatch, "shrag-elasticsearch:9.2.0")
    assert " pull " not in (tmp_path / "bin" / "calls").read_text()


def test_skopeo_copies_by_digest_where_there_is_no_engine(tmp_path, checkout, monkeypatch):
    tools(tmp_path / "bin", monkeypatch, "skopeo")
    manifest = made(tmp_path, checkout, monkeypatch, "some/image:1")
    assert manifest.images[0]["digest"] == "sha256:2222"
    assert "docker://docker.io/some/image@sha256:2222" in (tmp_path / "bin" / "calls").read_text()


def test_without_a_tool_that_works_an_image_is_left_out_and_that_is_told(tmp_path, checkout, monkeypatch):
    tools(tmp_path / "bin", monkeypatch, "docker", text="#!/bin/sh\nexit 1\n")
    manifest = made(tmp_path, checkout, monkeypatch, "some/image:1")
    assert "works on this machine" in manifest.missing["image some/image:1"]
    faults = verify_bundle(tmp_path / "out").faults
    assert any(one.startswith("image some/image:1: was asked for and left out (none of") for one in faults)


def test_a_tool_that_fails_ends_the_bundle_and_keeps_what_is_there(tmp_path, checkout, monkeypatch):
    failing = DOCKER.replace("pull) ;;", "pull) echo toomanyrequests >&2; exit 1 ;;")
    tools(tmp_path / "bin", monkeypatch, "docker", text=failing)
    with pytest.raises(BundleIncomplete, match="toomanyrequests"):
        made(tmp_path, checkout, monkeypatch, "some/image:1")
    assert (tmp_path / "out.partial" / "source").is_dir()
