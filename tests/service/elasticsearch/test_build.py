"""Building the server: what is missing is named, and nothing half done is ever used."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.service.elasticsearch import build, jdk
from tests.service.errors import BuildFailed, ServerUnavailable

ROOT = Path(__file__).parents[3]


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "shrag-tests"


@pytest.fixture
def any_jdk(monkeypatch, tmp_path):
    monkeypatch.setattr(build, "find_jdk", lambda: tmp_path)


def servers(cache):
    return [path.name for path in cache.iterdir() if path.is_dir()]


def test_a_missing_maven_is_named(cache, any_jdk, monkeypatch):
    monkeypatch.setenv("PATH", "")

    with pytest.raises(ServerUnavailable, match="no Maven found"):
        build.installed_server()


def test_a_missing_jdk_is_named(monkeypatch, tmp_path):
    for variable in ("ES_JAVA_HOME", "JAVA_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(jdk, "INSTALLED", tmp_path)

    with pytest.raises(ServerUnavailable, match="no JDK 21 or later found"):
        jdk.find_jdk()


@pytest.mark.parametrize(("version", "taken"), [("17.0.15", False), ("21", True), ("25.0.3", True)])
def test_a_jdk_is_taken_by_what_it_says_of_itself(monkeypatch, tmp_path, version, taken):
    home = tmp_path / "some-jdk"
    (home / "bin").mkdir(parents=True)
    for name in ("java", "javac"):
        (home / "bin" / name).write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
        (home / "bin" / name).chmod(0o755)
    monkeypatch.setenv("ES_JAVA_HOME", str(home))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(jdk, "INSTALLED", tmp_path / "nothing")

    if taken:
        assert jdk.find_jdk() == home
    else:
        with pytest.raises(ServerUnavailable):
            jdk.find_jdk()


def test_a_broken_off_download_is_refused_and_leaves_nothing(cache, any_jdk, monkeypatch):
    def fetch_half(command):
        folder = command[-2].removeprefix("-DoutputDirectory=")
        for name in build.SUMS:
            (Path(folder) / name).write_bytes(b"PK\x03\x04")

    monkeypatch.setattr(build, "run_tool", fetch_half)
    monkeypatch.setattr(shutil, "which", lambda name: name)

    with pytest.raises(BuildFailed, match="has not the SHA-256"):
        build.installed_server()

    assert servers(cache) == []


def test_a_download_that_fails_makes_the_server_unavailable(cache, any_jdk, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: "/bin/false")

    with pytest.raises(ServerUnavailable, match="Maven could not fetch Elasticsearch"):
        build.installed_server()


@pytest.mark.slow
@pytest.mark.usefixtures("elasticsearch")
def test_two_builds_at_once_make_one_server(cache):
    left = cache / f"building-{build.KIND}-killed"
    left.mkdir(parents=True)
    builds = [
        subprocess.Popen(
            [sys.executable, "-m", build.__name__],
            cwd=ROOT,
            env={**os.environ, "XDG_CACHE_HOME": str(cache.parent)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]

    printed = {build_.communicate(timeout=200)[0].strip() for build_ in builds}

    assert [build_.returncode for build_ in builds] == [0, 0]
    assert servers(cache) == [Path(path).name for path in printed]
