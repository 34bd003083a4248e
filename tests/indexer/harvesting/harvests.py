"""Harvests of a repository of the tests, and what the index then holds."""

from collections import Counter
from dataclasses import dataclass, field

from base.progress import no_progress
from indexer.harvest import harvest, update
from indexer.harvesting.listing import HarvestOptions
from indexer.harvesting.protocol import Repository
from indexer.ingest import IngestRequest
from indexer.settings import HarvestSettings, IndexerSettings
from indexer.versions.store.folder import FolderStore
from tests.indexer.harvesting.repository import Served

NAME = "repository"


@dataclass(slots=True)
class Pauses:
    """Lets pauses pass at once, and counts them by their seconds."""

    seconds: Counter[float] = field(default_factory=Counter)

    def __call__(self, seconds):
        self.seconds[seconds] += 1


def settings_of(home, *, commit_every=20_000, **harvest_settings):
    given = {"delay_s": 0, "retries": 3} | harvest_settings
    return IndexerSettings(home=home, workers=1, commit_every=commit_every, harvest=HarvestSettings(**given))


def first_harvest(
    home,
    path,
    *,
    set_="",
    prefix="oai_dc",
    pause=None,
    partial=False,
    settings=None,
    progress=None,
    **options,
):
    """Do what `shrag index oai:…` does."""
    options_ = HarvestOptions(pause=pause or Pauses(), partial=partial)
    repository = Repository.of(path, set_=set_, metadata_prefix=prefix)
    request = IngestRequest(NAME, (path,), **options)
    return harvest(repository, request, settings or settings_of(home), options_, progress or no_progress)


def next_harvest(home, path, *, set_="", name=NAME, settings=None, **options):
    """Do what `shrag harvest` does."""
    options_ = HarvestOptions(**{"pause": Pauses()} | options)
    return update(Repository.of(path, set_=set_), name, settings or settings_of(home), options_)


def published(home, name=NAME):
    """Return title and text of each paper of the current version by its id."""
    store = FolderStore(home, name)
    passages = store.stored_passages(store.manifest())
    return {each.passage_id: (each.title, each.text) for each in passages}


def version(home, name=NAME):
    return FolderStore(home, name).current()


def filled(number, **habits):
    """Return a repository with records oai:t:0, oai:t:1 …, each a minute after the previous one."""
    served = Served(**habits)
    for each in range(number):
        put(served, each)
        served.pass_(minutes=1)
    return served


def put(served, number, text="measured", **options):
    served.put(
        f"oai:t:{number}",
        ("title", f"Paper {number}"),
        ("description", f"Methane {number} {text}"),
        **options,
    )


def expected(served):
    """Return what an index of the repository holds."""
    fields = {identifier: dict(each) for identifier, each in served.alive().items()}
    return {identifier: (each["title"], each["description"]) for identifier, each in fields.items()}
