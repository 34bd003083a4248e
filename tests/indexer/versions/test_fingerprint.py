"""What an index depends on."""

from importlib.metadata import version

import pytest

from indexer.analysis.user_dictionary import parse_user_dictionary
from indexer.versions import fingerprint
from indexer.versions.fingerprint import differences, lexical_fingerprint


def test_it_names_what_tokens_and_files_depend_on():
    own = {"schema", "chunking", "analysis", "analyzer", "decompound", "python-mecab-ko-dic"}
    dictionary = parse_user_dictionary(b"KISTI\n", "terms")

    assert lexical_fingerprint("bilingual", "discard").keys() == own | {"tantivy"}
    assert lexical_fingerprint("bilingual", "discard", "elasticsearch", dictionary).keys() == own | {
        "dictionary"
    }


@pytest.mark.parametrize(("installed", "refused"), [("0.27.9", False), ("0.28.0", True)])
def test_another_patch_version_of_the_engine_is_no_difference(monkeypatch, installed, refused):
    stored = lexical_fingerprint("bilingual", "discard") | {"tantivy": "0.27"}
    monkeypatch.setattr(
        fingerprint, "version", lambda library: installed if library == "tantivy" else version(library)
    )

    assert bool(differences(stored, lexical_fingerprint("bilingual", "discard"))) is refused


def test_differences_are_told_with_both_values():
    assert differences({"a": "1", "b": "2"}, {"a": "1", "b": "3", "c": "4"}) == [
        "b: 2, now 3",
        "c: none, now 4",
    ]
