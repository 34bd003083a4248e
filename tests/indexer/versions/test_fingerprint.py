"""What an index depends on."""

from contextlib import nullcontext
from dataclasses import replace
from importlib.metadata import version

import pytest

from indexer.analysis.user_dictionary import parse_user_dictionary
from indexer.errors import IndexMismatch
from indexer.versions.manifest import check_analysis, lexical_fingerprint
from tests.indexer.versions.test_store import manifest_of


def test_it_names_what_tokens_and_files_depend_on():
    own = {"schema", "chunking", "analysis", "analyzer", "decompound", "python-mecab-ko-dic"}
    dictionary = parse_user_dictionary(b"KISTI\n", "terms")

    assert lexical_fingerprint("bilingual", "discard").keys() == own | {"tantivy"}
    assert lexical_fingerprint("bilingual", "discard", "elasticsearch", dictionary).keys() == own | {
        "dictionary"
    }


@pytest.mark.parametrize(
    ("stored", "told"),
    [
        ({}, None),
        (
            {"analysis": "0", "python-mecab-ko-dic": "0"},
            r"\(analysis: 0, now \d; python-mecab-ko-dic: 0, now ",
        ),
        ({"tokens": "1"}, "tokens: 1, now none"),
        ({"tantivy": "0.1"}, "tantivy: 0.1, now 0.27"),
    ],
)
def test_another_fingerprint_is_refused_with_both_values(stored, told):
    manifest = manifest_of(1)
    own = lexical_fingerprint(manifest.analyzer, manifest.decompound)
    with pytest.raises(IndexMismatch, match=told) if told else nullcontext():
        check_analysis(replace(manifest, fingerprint=own | stored), None)


@pytest.mark.parametrize(("other", "refused"), [("0.27.9", False), ("0.28.0", True)])
def test_another_patch_version_of_the_engine_is_no_difference(monkeypatch, other, refused):
    stored = lexical_fingerprint("bilingual", "discard") | {"tantivy": "0.27"}
    monkeypatch.setattr(
        "indexer.versions.manifest.installed", lambda name: other if name == "tantivy" else version(name)
    )
    assert (stored != lexical_fingerprint("bilingual", "discard")) is refused
