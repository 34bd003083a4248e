"""walk: links stay within the folder of a corpus, and file systems of the kernel are not entered."""

import errno
import os
from pathlib import Path

import pytest

from base.errors import UnknownPath
from base.files import regular_files
from indexer.corpora.readers import DeadLetter, read_corpus
from indexer.corpora.readers.walking import is_kernels, kernel_devices, walk


@pytest.fixture
def corpus(tmp_path):
    folder = tmp_path / "corpus"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.jsonl").write_text('{"id": "a"}\n')
    (folder / "sub" / "b.jsonl").write_text('{"id": "b"}\n')
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "s.jsonl").write_text('{"id": "s"}\n')
    return folder


def read(folder, **options):
    """Return the names of the files that are read, relative to the folder, and the links that are not."""
    found = read_corpus([folder], **options)
    relative = [os.path.relpath(name, folder) for name in found.files]
    return relative, [os.path.relpath(name, folder) for name in found.left_out.links]


def test_links_out_of_the_folder_are_skipped_and_listed(corpus):
    (corpus / "file.jsonl").symlink_to(corpus.parent / "secret" / "s.jsonl")
    (corpus / "folder").symlink_to("../secret")
    (corpus / "sub" / "up").symlink_to("../..")

    assert read(corpus) == (["a.jsonl", "sub/b.jsonl"], ["file.jsonl", "folder", "sub/up"])


def test_links_out_of_the_folder_are_followed_on_request_and_each_file_is_read_once(corpus):
    (corpus / "sub" / "up").symlink_to("../..")
    (corpus / "z.jsonl").symlink_to(corpus.parent / "secret" / "s.jsonl")

    assert read(corpus, follow_links=True) == (["a.jsonl", "sub/b.jsonl", "sub/up/secret/s.jsonl"], [])


def test_links_within_the_folder_add_no_file_twice(corpus):
    (corpus / "0.jsonl").symlink_to("a.jsonl")
    (corpus / "0").symlink_to("sub")
    (corpus / "sub" / "up").symlink_to("..")

    assert read(corpus) == (["a.jsonl", "sub/b.jsonl"], [])


def test_a_link_gives_a_name_to_a_file_that_has_none_of_a_corpus(corpus):
    (corpus / ".store").mkdir()
    (corpus / ".store" / "x.jsonl").write_text('{"id": "x"}\n')
    (corpus / "blob").write_text('{"id": "y"}\n')
    (corpus / "x.jsonl").symlink_to(".store/x.jsonl")
    (corpus / "y.jsonl").symlink_to("blob")
    (corpus / "z.jsonl").symlink_to("blob")

    assert read(corpus) == (["a.jsonl", "sub/b.jsonl", "x.jsonl", "y.jsonl"], [])


def test_links_to_nothing_and_to_themselves_are_listed(corpus):
    (corpus / "gone.jsonl").symlink_to("nothing.jsonl")
    (corpus / "self.jsonl").symlink_to("self.jsonl")

    assert read(corpus) == (["a.jsonl", "sub/b.jsonl"], ["gone.jsonl", "self.jsonl"])


def test_a_link_that_is_named_itself_is_followed(corpus):
    link = corpus.parent / "link"
    link.symlink_to("corpus")

    assert read(link) == (["a.jsonl", "sub/b.jsonl"], [])


@pytest.mark.skipif(not Path("/proc/sys/vm").is_dir(), reason="there is no /proc")
def test_links_to_files_and_folders_of_the_kernel_are_never_followed(corpus):
    (corpus / "a").symlink_to("/proc/sys/vm")
    (corpus / "b.txt").symlink_to("/proc/version")

    found = walk(corpus, follow_links=True)

    assert [file.name for file in found.files] == ["a.jsonl", "sub/b.jsonl"]
    assert sorted(found.kernel) == ["a", "b.txt"]
    (line,) = read_corpus([corpus], follow_links=True).left_out.described()
    assert line.startswith("kernel file systems (/proc, /sys), not read: 2 (")


@pytest.mark.skipif(not Path("/proc/sys/vm").is_dir(), reason="there is no /proc")
def test_a_folder_of_the_kernel_is_no_corpus():
    with pytest.raises(UnknownPath, match="/proc/sys/vm"):
        read_corpus(["/proc/sys/vm"])


def test_file_systems_of_the_kernel_are_known_by_their_mounts():
    mounts = (
        "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
        "27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
        "31 23 0:28 / /chroot/sys ro shared:7 master:2 - sysfs sysfs ro\n"
        "a line that is cut\n"
    )

    assert kernel_devices(mounts) == {os.makedev(0, 21), os.makedev(0, 28)}
    assert is_kernels(Path("/chroot/sys/block"), os.makedev(0, 28), kernel_devices(mounts))
    assert is_kernels(Path("/sys/fs/cgroup"), os.makedev(0, 99), kernel_devices(mounts))
    assert not is_kernels(Path("/system"), os.makedev(254, 0), kernel_devices(mounts))


def test_what_is_no_regular_file_is_listed_and_so_is_a_link_to_it(corpus):
    os.mkfifo(corpus / "f.jsonl")
    (corpus / "sub" / "link.txt").symlink_to("../f.jsonl")
    os.mkfifo(corpus / ".hidden")

    found = read_corpus([corpus]).left_out

    assert found.as_record()["special"] == {
        "count": 2,
        "first": [f"{corpus}/f.jsonl", f"{corpus}/sub/link.txt"],
    }


def test_a_folder_behind_a_link_that_cannot_be_listed_is_unreadable_and_no_link_to_nothing(
    corpus, monkeypatch
):
    (corpus / "locked").symlink_to("../secret")
    really_list = os.scandir

    def list_folder(path):
        if Path(path).name == "secret":
            raise PermissionError(errno.EACCES, "Permission denied")
        return really_list(path)

    monkeypatch.setattr(os, "scandir", list_folder)
    found = walk(corpus, follow_links=True)

    assert [file.name for file in found.unreadable] == ["locked"]
    assert found.links == []


def test_a_file_that_cannot_be_opened_is_not_counted_among_those_read(corpus, monkeypatch):
    def open_descriptor(path, **_):
        if path.name == "a.jsonl":
            raise PermissionError(errno.EACCES, "Permission denied")
        return regular_files.open_descriptor(path)

    monkeypatch.setattr("indexer.corpora.readers.streams.open_descriptor", open_descriptor)
    found = read_corpus([corpus])

    assert found.formats == {"jsonl": 1}
    assert [isinstance(item, DeadLetter) for item in found] == [True, False]
    assert read_corpus([corpus], format="jsonl").formats == {"jsonl": 1}


def test_left_out_of_several_folders_is_summed(corpus):
    for name in ("one", "two"):
        (corpus / name).mkdir()
        (corpus / name / f"{name}.docx").touch()

    left_out = read_corpus([corpus / "one", corpus / "two"]).left_out

    assert (left_out.endings, left_out.first) == ({".docx": 2}, {".docx": "one.docx"})
