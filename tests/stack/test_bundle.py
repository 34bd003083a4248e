"""Bundles: made of real wheels and a tiny model, checked, damaged, broken off and gone on with."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import tarfile
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from stack.bundle.images import file_name, images_of
from stack.bundle.making import BundleRequest, make_bundle
from stack.bundle.manifest import entries, files_below, read_manifest
from stack.bundle.models import ModelSource, collect_model, model_faults, parse_model
from stack.bundle.source import CHECKOUT, collect_source
from stack.bundle.verifying import file_faults, verify_bundle
from stack.bundle.wheels import download_command
from stack.errors import BundleBusy, BundleCallError, BundleDamaged, BundleIncomplete

SMALL = ("click", "colorama", "defusedxml")
GIT = ("git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main")


def small_lock():
    """Return those lines of the project's lock that are of a few small wheels."""
    text = (CHECKOUT / "requirements" / "base.txt").read_text("utf-8")
    blocks = ("\n" + text).split("\n")
    kept, keep = [], False
    for line in blocks:
        if line and not line[0].isspace() and not line.startswith("#"):
            keep = line.partition("==")[0] in SMALL
        if keep and not line.lstrip().startswith("#"):
            kept.append(line)
    return "\n".join(kept) + "\n"


@pytest.fixture(scope="session")
def checkout(tmp_path_factory):
    """Return a git clone that stands for the project, with a lock of a few small wheels."""
    folder = tmp_path_factory.mktemp("checkout")
    (folder / "requirements").mkdir()
    (folder / "requirements" / "base.txt").write_text(small_lock())
    (folder / "docker-compose.yml").write_text("services: {}\n")
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "first"]):
        subprocess.run([*GIT, "-C", str(folder), *words], check=True)
    return folder


@pytest.fixture(scope="session")
def registry():
    """Skip, loudly, where no package registry can be reached; in CI that is a failure."""
    done = subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", os.devnull, "defusedxml"],
        capture_output=True,
        text=True,
        check=False,
    )
    if "No matching distribution" in done.stderr or "Could not find" in done.stderr:
        if os.environ.get("CI"):
            pytest.fail(f"no package registry: {done.stderr}")
        pytest.skip("no package registry can be reached: bundles of real wheels are not tested")


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


@pytest.fixture(scope="session")
def whole(checkout, registry, tmp_path_factory):
    """Return a bundle that nobody changes."""
    folder = tmp_path_factory.mktemp("bundle")
    model = write_model(folder / "model", shards=("a.safetensors", "b.safetensors"))
    request = BundleRequest(
        folder / "out", checkout=checkout, models=(ModelSource("owner/tiny", folder=model),)
    )
    make_bundle(request)
    return folder / "out"


@pytest.fixture
def bundle(whole, tmp_path):
    """Return a copy of it, to break."""
    shutil.copytree(whole, tmp_path / "bundle")
    return tmp_path / "bundle"


def test_a_bundle_holds_what_was_asked_for_and_says_so(whole, checkout):
    manifest = read_manifest(whole)
    head = (checkout / ".git" / "refs" / "heads" / "main").read_text("utf-8")
    assert manifest.commit == head.strip()
    assert manifest.models == ({"name": "owner/tiny", "revision": "", "source": "folder"},)
    paths = {one.path for one in manifest.files}
    assert {"source/requirements/base.txt", "models/owner/tiny/b.safetensors"} <= paths
    assert sum(path.endswith(".whl") for path in paths) >= 2
    assert {one.asked_for for one in manifest.left_out} == {False}
    assert not whole.with_name("out.partial").exists()


def test_a_whole_bundle_is_verified_and_tells_how_to_install(whole):
    checked = verify_bundle(whole)
    assert checked.faults == ()
    assert any(
        f"PIP_NO_INDEX=1 PIP_FIND_LINKS=file://{whole}/wheels make install " in one
        for one in checked.commands
    )
    assert any(f"MODELS_FOLDER={whole}/models" in one for one in checked.commands)


def test_the_commands_are_whole_where_a_path_has_a_blank(whole, tmp_path):
    folder = tmp_path / "my disk"
    shutil.copytree(whole, folder)
    commands = [shlex.split(one, comments=True) for one in verify_bundle(folder).commands]
    assert commands[0] == ["cp", "-r", f"{folder}/source", "shrag", "&&", "cd", "shrag"]
    assert commands[1][1] == f"PIP_FIND_LINKS=file://{tmp_path}/my%20disk/wheels"
    assert commands[2][:2] == ["echo", f"MODELS_FOLDER={folder}/models"]
    links = {**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": commands[1][1].partition("=")[2]}
    download = [sys.executable, "-m", "pip", "download", "--quiet", "--dest", str(tmp_path), "defusedxml"]
    subprocess.run(download, env=links, check=True)


def test_the_source_is_written_by_a_python_without_filters_of_archives(checkout, tmp_path, monkeypatch):
    now = tarfile.TarFile.extractall

    def of_then(archive, path):
        now(archive, path, filter="data")

    monkeypatch.delattr("tarfile.data_filter")
    monkeypatch.setattr("tarfile.TarFile.extractall", of_then)
    collect_source(tmp_path / "source", checkout)
    assert sorted(files_below(tmp_path / "source")) == ["docker-compose.yml", "requirements/base.txt"]


def test_sha256sum_verifies_it_where_nothing_is_installed(whole):
    subprocess.run(["sha256sum", "--quiet", "--strict", "--check", "SHA256SUMS"], cwd=whole, check=True)


def change_manifest(folder, **changed):
    record = json.loads((folder / "bundle.json").read_text("utf-8"))
    (folder / "bundle.json").write_text(json.dumps(record | changed))


def told_of(folder):
    """Return what is told of the files alone; pip, which takes its time, is not asked."""
    return list(file_faults(folder, read_manifest(folder)))


def test_a_damaged_file_of_the_same_size_is_found(bundle):
    path = bundle / "models/owner/tiny/a.safetensors"
    path.write_bytes(b"W" + path.read_bytes()[1:])
    assert told_of(bundle) == ["models/owner/tiny/a.safetensors: is damaged (another hash)"]


def test_a_file_that_is_cut_is_found(bundle):
    (bundle / "models/owner/tiny/config.json").write_bytes(b"{}")
    assert told_of(bundle) == ["models/owner/tiny/config.json: has 2 bytes, not 22"]


def test_a_missing_shard_is_found_as_a_file_and_as_a_model_that_cannot_be_loaded(bundle):
    (bundle / "models/owner/tiny/b.safetensors").unlink()
    assert verify_bundle(bundle).faults == (
        "models/owner/tiny/b.safetensors: is missing",
        "model owner/tiny: model.safetensors.index.json names b.safetensors, which is missing",
    )


def test_a_missing_wheel_is_found_by_pip_too(bundle):
    next((bundle / "wheels").glob("defusedxml-*.whl")).unlink()
    faults = verify_bundle(bundle).faults
    assert [one for one in faults if one.startswith("wheels/defusedxml") and one.endswith("is missing")]
    assert [one for one in faults if one.startswith("wheels: ERROR") and "defusedxml" in one]


def test_a_file_that_does_not_belong_is_found(bundle):
    (bundle / "wheels" / "more.whl").write_bytes(b"")
    assert told_of(bundle) == ["wheels/more.whl: does not belong to the bundle"]


def test_a_link_out_of_the_bundle_is_found_whether_it_belongs_or_not(bundle, tmp_path):
    config = bundle / "models/owner/tiny/config.json"
    (tmp_path / "same.json").write_bytes(config.read_bytes())
    config.unlink()
    config.symlink_to(tmp_path / "same.json")
    (bundle / "source" / "link").symlink_to("/etc")
    assert told_of(bundle) == [
        "models/owner/tiny/config.json: is a link out of the bundle",
        "source/link: does not belong to the bundle",
    ]


def test_a_link_to_nowhere_is_missing(bundle):
    config = bundle / "models/owner/tiny/config.json"
    config.unlink()
    config.symlink_to("nowhere.json")
    assert told_of(bundle) == ["models/owner/tiny/config.json: is missing"]


def test_a_link_to_a_folder_is_not_bundled(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    with pytest.raises(BundleIncomplete, match="link is a link that leads to no file"):
        entries(tmp_path)


def test_a_bundle_without_its_sums_is_not_whole(bundle):
    (bundle / "SHA256SUMS").unlink()
    assert told_of(bundle) == ["SHA256SUMS: is missing"]


def test_sums_that_were_changed_are_found(bundle):
    lines = (bundle / "SHA256SUMS").read_text("utf-8").splitlines(keepends=True)
    (bundle / "SHA256SUMS").write_text("".join(lines[1:]))
    assert told_of(bundle) == ["SHA256SUMS: does not fit bundle.json; one of them was changed"]


def test_a_manifest_that_was_changed_is_found_by_its_sum(bundle):
    change_manifest(bundle, commit="0" * 40)
    assert told_of(bundle) == ["SHA256SUMS: does not fit bundle.json; one of them was changed"]


def test_a_lock_that_there_is_not_is_one_error(bundle):
    change_manifest(bundle, lock="other.txt")
    with pytest.raises(BundleDamaged, match=r"no lock is called 'other\.txt'"):
        verify_bundle(bundle)


def test_wheels_for_another_python_are_told(bundle):
    change_manifest(bundle, python="3.99")
    assert any(one.startswith("wheels: they are for Python 3.99") for one in verify_bundle(bundle).faults)


@pytest.mark.parametrize("text", ["", "[]", '{"format": 1}', '{"format": 2}'])
def test_a_manifest_that_cannot_be_read_is_one_error(tmp_path, text):
    (tmp_path / "bundle.json").write_text(text)
    with pytest.raises(BundleDamaged):
        verify_bundle(tmp_path)


def test_a_folder_that_is_no_bundle_is_one_error(tmp_path):
    with pytest.raises(BundleDamaged, match="is no bundle"):
        verify_bundle(tmp_path)


def test_a_killed_bundle_goes_on_and_fetches_no_wheel_again(checkout, registry, tmp_path):
    model = write_model(tmp_path / "model")
    (model / "model.safetensors").write_bytes(os.urandom(1 << 20))
    code = (
        "import sys, pathlib\n"
        "from stack.bundle.making import BundleRequest, make_bundle\n"
        "from stack.bundle.models import ModelSource\n"
        "import stack.bundle.making as making\n"
        "def stop(*_):\n    print('models', flush=True)\n    import time\n    time.sleep(600)\n"
        "out, checkout, model = map(pathlib.Path, sys.argv[1:])\n"
        "making.collect_model = stop\n"
        "make_bundle(BundleRequest(out, checkout=checkout, models=(ModelSource('o/m', folder=model),)))\n"
    )
    words = [sys.executable, "-c", code, str(tmp_path / "out"), str(checkout), str(model)]
    process = subprocess.Popen(words, cwd=CHECKOUT, stdout=subprocess.PIPE, text=True)
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "models\n"
        process.kill()
    partial = tmp_path / "out.partial"
    fetched = {path.name: path.stat().st_mtime_ns for path in (partial / "wheels").iterdir()}
    assert fetched
    assert not (tmp_path / "out").exists()
    half = partial / "models/o/m/.model.safetensors.unfinished"
    half.parent.mkdir(parents=True)
    half.write_bytes(b"half")

    request = BundleRequest(tmp_path / "out", checkout=checkout, models=(ModelSource("o/m", folder=model),))
    make_bundle(request)
    now = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out" / "wheels").iterdir()}
    assert now == fetched
    assert not partial.exists()
    assert verify_bundle(tmp_path / "out").faults == ()


def test_one_that_was_begun_with_other_options_is_not_mixed(checkout, tmp_path):
    (tmp_path / "out.partial").mkdir()
    (tmp_path / "out.partial" / "plan.json").write_text("{}")
    with pytest.raises(BundleCallError, match="begun with other options"):
        make_bundle(BundleRequest(tmp_path / "out", checkout=checkout))


def test_a_bundle_that_is_there_is_not_overwritten(checkout, tmp_path):
    (tmp_path / "out").mkdir()
    with pytest.raises(BundleCallError, match="is there already"):
        make_bundle(BundleRequest(tmp_path / "out", checkout=checkout))


def test_a_folder_that_no_bundle_was_begun_in_is_not_taken(checkout, tmp_path):
    (tmp_path / "out.partial").mkdir()
    (tmp_path / "out.partial" / ".env").write_text("KEY=secret")
    with pytest.raises(BundleCallError, match="no bundle that was begun"):
        make_bundle(BundleRequest(tmp_path / "out", checkout=checkout))
    assert [one.name for one in (tmp_path / "out.partial").iterdir()] == [".env"]


def test_what_is_hidden_in_a_model_s_folder_is_not_carried_away(tmp_path):
    model = write_model(tmp_path / "model")
    for name in (".git/config", ".env", "sub/.netrc"):
        (model / name).parent.mkdir(exist_ok=True)
        (model / name).write_text("token")
    collect_model(ModelSource("o/m", folder=model), tmp_path / "to")
    assert sorted(files_below(tmp_path / "to")) == ["config.json", "model.safetensors", "tokenizer.json"]


def test_a_bundle_that_goes_on_has_the_source_and_the_models_of_now(checkout, tmp_path, monkeypatch):
    clone, model = tmp_path / "clone", write_model(tmp_path / "model")
    shutil.copytree(checkout, clone)
    (model / "old.json").write_text("{}")
    request = BundleRequest(
        tmp_path / "out",
        checkout=clone,
        models=(ModelSource("o/m", folder=model), ModelSource("o/n", folder=tmp_path / "later")),
    )
    monkeypatch.setattr("stack.bundle.making.collect_wheels", lambda *_: "")
    with pytest.raises(BundleIncomplete, match="model o/n"):
        make_bundle(request)
    (model / "old.json").unlink()
    write_model(tmp_path / "later")
    for words in (["mv", "docker-compose.yml", "new.yml"], ["commit", "--quiet", "-m", "second"]):
        subprocess.run([*GIT, "-C", str(clone), *words], check=True)
    paths = {one.path for one in make_bundle(request).files}
    assert {one for one in paths if one.startswith("source/")} == {
        "source/new.yml",
        "source/requirements/base.txt",
    }
    assert "models/o/m/config.json" in paths
    assert "models/o/m/old.json" not in paths
    assert not (tmp_path / "out" / "plan.json").exists()


def test_two_models_of_one_name_are_refused(checkout, tmp_path):
    models = (ModelSource("o/m", revision="1"), ModelSource("o/m", folder=tmp_path))
    with pytest.raises(BundleCallError, match="two models are called o/m"):
        make_bundle(BundleRequest(tmp_path / "out", checkout=checkout, models=models))


@contextmanager
def model_hub(known):
    """Run a hub that knows each model by the commit `known["sha"]`."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            content = json.dumps({"id": "o/m"} | known).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            """Keep the output of tests clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_branch_of_the_hub_that_has_moved_is_not_mixed(checkout, tmp_path, monkeypatch):
    pytest.importorskip("huggingface_hub")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setenv("PIP_NO_INDEX", "1")  # so that the first is broken off
    request = BundleRequest(
        tmp_path / "out", checkout=checkout, models=(ModelSource("o/m", revision="main"),)
    )
    known = {"sha": "1" * 40}
    with model_hub(known) as address:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", address)
        with pytest.raises(BundleIncomplete, match="wheels"):
            make_bundle(request)
        plan = json.loads((tmp_path / "out.partial" / "plan.json").read_text("utf-8"))
        assert plan["models"] == [["o/m", "1" * 40, ""]]
        known["sha"] = "2" * 40
        with pytest.raises(BundleCallError, match="begun with other options"):
            make_bundle(request)


def test_two_at_once_are_one_too_many(checkout, tmp_path):
    from filelock import FileLock

    with FileLock(tmp_path / ".out.lock"), pytest.raises(BundleBusy):
        make_bundle(BundleRequest(tmp_path / "out", checkout=checkout))


def test_a_lock_that_cannot_be_had_keeps_what_is_there(checkout, tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(BundleIncomplete, match=r"wheels of base\.txt: ERROR"):
        make_bundle(BundleRequest(tmp_path / "out", checkout=checkout))
    assert (tmp_path / "out.partial" / "source" / "docker-compose.yml").is_file()


def test_wheels_for_another_system_are_asked_for_by_their_tags(tmp_path):
    command = download_command(tmp_path / "base.txt", tmp_path, ["manylinux_2_28_aarch64"])
    assert command[-1] == "--platform=manylinux_2_28_aarch64"
    assert {"--require-hashes", "--only-binary=:all:", "--no-deps"} <= set(command)


@pytest.mark.parametrize(
    "text", ["owner/name", "name@1", "owner/../x@1", "/nowhere=owner/name", "owner/name@", "@1"]
)
def test_a_model_without_a_revision_or_a_name_is_refused(text):
    with pytest.raises(BundleCallError):
        parse_model(text)


def test_a_model_is_named_by_its_revision_or_by_its_folder(tmp_path):
    assert parse_model("owner/name@abc") == ModelSource("owner/name", revision="abc")
    assert parse_model(f"{tmp_path}=owner/name") == ModelSource("owner/name", folder=tmp_path)


def test_a_model_without_weights_or_a_tokenizer_is_not_whole(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    assert [one.partition(" (")[0] for one in model_faults(tmp_path)] == [
        "there is no tokenizer",
        "there are no weights",
    ]


def test_a_module_of_sentence_transformers_that_is_missing_is_told(tmp_path):
    write_model(tmp_path)
    modules = [{"path": "", "type": "Transformer"}, {"path": "1_Pooling", "type": "Pooling"}]
    (tmp_path / "modules.json").write_text(json.dumps(modules))
    assert list(model_faults(tmp_path)) == [
        "modules.json names 1_Pooling, and 1_Pooling/config.json is missing"
    ]


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
    left_out = [one for one in manifest.left_out if one.asked_for]
    assert [(one.what, "works on this machine" in one.why) for one in left_out] == [
        ("image some/image:1", True)
    ]
    faults = verify_bundle(tmp_path / "out").faults
    assert any(one.startswith("image some/image:1: was asked for and left out (none of") for one in faults)


def test_a_tool_that_fails_ends_the_bundle_and_keeps_what_is_there(tmp_path, checkout, monkeypatch):
    failing = DOCKER.replace("pull) ;;", "pull) echo toomanyrequests >&2; exit 1 ;;")
    tools(tmp_path / "bin", monkeypatch, "docker", text=failing)
    with pytest.raises(BundleIncomplete, match="toomanyrequests"):
        made(tmp_path, checkout, monkeypatch, "some/image:1")
    assert (tmp_path / "out.partial" / "source").is_dir()
