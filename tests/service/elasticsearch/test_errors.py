"""What a user is told: no cluster, another server, no rights, another fingerprint, no nori."""

import json
import re
from dataclasses import replace

import pytest
from pydantic import SecretStr

from indexer.errors import EngineRefused, IndexDamaged
from indexer.versions.manifest import Manifest
from retriever.index import open_index
from tests.indexer.made_corpora import ROOT, answers
from tests.service.elasticsearch.cluster import (
    NAME,
    build,
    client_of,
    corpus,
    failure_of,
    own_prefix,
    run,
    some,
)
from tests.service.processes import free_ports

COMMANDS = {
    "index": ("index", "CORPUS", "--name", NAME),
    "search": ("search", "지식 그래프", "--name", NAME),
    "ask": ("ask", "지식 그래프", "--name", NAME),
    "explain": ("explain", "지식 그래프", "P00001", "--name", NAME),
    "list": ("indexes", "list"),
    "rollback": ("indexes", "rollback", NAME),
    "remove": ("indexes", "remove", NAME, "P00001"),
    "delete": ("indexes", "delete", NAME, "--yes"),
}


@pytest.fixture(scope="module")
def indexed(elasticsearch, tmp_path_factory):
    home = tmp_path_factory.mktemp("indexed")
    with own_prefix(elasticsearch) as make:
        settings = make(home, cluster={"settle_s": 0.0})
        build(settings, corpus(home, some(0, 20)))
        yield settings


def arguments_of(name, settings):
    return [str(settings.home / "papers.jsonl") if one == "CORPUS" else one for one in COMMANDS[name]]


def with_cluster(settings, **changed):
    cluster = settings.elasticsearch.model_copy(update=changed)
    return settings.model_copy(update={"elasticsearch": cluster})


def test_where_nothing_listens_the_address_and_its_setting_are_told(indexed):
    settings = with_cluster(indexed, url=f"http://127.0.0.1:{free_ports(1)[0]}")
    for name in ("index", "search"):
        told = failure_of(settings, *arguments_of(name, indexed))
        assert re.match(f"EngineUnreachable: .*{settings.elasticsearch.url}.*SHRAG_ELASTICSEARCH__URL", told)


# Rights


def documented_keys():
    """Return the bodies that docs/how-to/cluster.md gives for keys."""
    page = (ROOT / "docs" / "how-to" / "cluster.md").read_text("utf-8")
    blocks = map(json.loads, re.findall(r"```json\n(.*?)```", page, re.DOTALL))
    return {block["name"]: block["role_descriptors"] for block in blocks if "role_descriptors" in block}


def with_key(settings, rights):
    """Return settings with a key that has the rights, written for the prefix `shrag`."""
    cluster = settings.elasticsearch
    roles = json.loads(
        re.sub(r'"shrag([-.])', rf'"{cluster.prefix}\1', json.dumps(rights, ensure_ascii=False))
    )
    with client_of(cluster) as client:
        made = client.security.create_api_key(name="errors", expiration="1h", role_descriptors=roles)
    key = SecretStr(made["encoded"])
    return with_cluster(settings, user="", password=SecretStr(""), api_key=key)


def test_the_documented_keys_search_and_index_and_no_more(indexed):
    settings = with_key(indexed, documented_keys()["shrag-search"])
    before = answers(indexed)
    assert answers(settings) == before
    for name in ("ask", "explain", "list"):
        assert run(settings, *arguments_of(name, indexed)).returncode == 0
    for name in ("index", "remove", "delete"):
        assert "right: action [" in failure_of(settings, *arguments_of(name, indexed))
    assert answers(indexed) == before
    settings = with_key(indexed, documented_keys()["shrag-index"])
    for name, *options in (("index", "--rebuild"), ("rollback",), ("remove",)):
        done = run(settings, *arguments_of(name, indexed), *options)
        assert done.returncode == 0, done.stderr


def test_a_key_for_another_prefix_is_told_what_it_lacks(indexed):
    elsewhere = {"role": {"indices": [{"names": ["other-*", "other.*"], "privileges": ["all"]}]}}
    settings = with_key(indexed, elsewhere)
    assert "required right" in failure_of(settings, *arguments_of("index", indexed))
    told = failure_of(settings, *COMMANDS["search"], code=2)  # one may not see what is there
    assert re.search("UnknownIndex: .*'papers'.*none visible to this user or key", told)


# Versions made otherwise


@pytest.fixture
def own(settings_for, tmp_path):
    """Return settings of an index, a function that changes the `_meta` of its version, and its corpus."""
    settings = settings_for(tmp_path / "home", cluster={"settle_s": 0.0})
    build(settings, corpus(tmp_path, some(0, 5)), rebuild=True)

    def change(edit):
        index = f"{settings.elasticsearch.prefix}-{NAME}"
        with client_of(settings.elasticsearch) as client:
            [(version, about)] = client.indices.get_mapping(index=index).items()
            edit(meta := about["mappings"]["_meta"])
            client.indices.put_mapping(index=version, meta=meta)

    return settings, change, tmp_path / "papers.jsonl"


def test_an_index_of_another_fingerprint_is_refused_with_what_differs(own):
    settings, change, path = own

    def spoil(meta):
        manifest = Manifest.from_record(meta["manifest"])
        older = manifest.fingerprint | {"analysis": "0"}
        meta["manifest"] = replace(manifest, fingerprint=older).as_record()

    change(spoil)
    for arguments in (("search", "지식", "--name", NAME), ("indexes", "remove", NAME, "P00001")):
        told = failure_of(settings, *arguments)
        assert re.match(r"IndexMismatch: .*'papers'.*\(analysis: 0, now .*papers --rebuild\)$", told)
    build(settings, path, rebuild=True)
    assert answers(settings)[0]


@pytest.mark.parametrize(
    "edit", [lambda meta: meta["manifest"].pop("analyzer"), lambda meta: meta.pop("manifest")]
)
def test_a_damaged_manifest_is_told_and_the_index_is_listed_and_built_again(own, edit):
    settings, change, path = own
    change(edit)
    with pytest.raises(IndexDamaged, match=r"cannot be read .*; build it again"):
        open_index(settings, NAME)
    listed = run(settings, "indexes", "list")
    assert (listed.returncode, NAME in listed.stdout) == (0, True)
    build(settings, path, rebuild=True)
    assert answers(settings)[0]


def test_a_read_only_index_ends_a_build_that_goes_on_later(settings_for, tmp_path):
    settings = settings_for(tmp_path / "home", cluster={"patience_s": 0.5, "settle_s": 0.0})
    path, index = corpus(tmp_path, some(0, 30)), f"{settings.elasticsearch.prefix}-blocked@000001"

    def block(blocked):
        with client_of(settings.elasticsearch) as client:
            client.indices.put_settings(index=index, settings={"index.blocks.write": blocked})

    def progress(stage, done, total):
        if stage == "merging":
            block(True)

    with pytest.raises(EngineRefused, match=r"disk .*repeat the command"):
        build(settings, path, "blocked", progress=progress)
    block(None)
    assert build(settings, path, "blocked").manifest.papers == 30
