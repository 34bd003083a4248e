"""Harvesting of OAI-PMH 2.0 repositories (https://www.openarchives.org/OAI/openarchivesprotocol.html).

| module | contents |
|---|---|
| `repository.py` | a repository as a value: address, set, metadata format |
| `datestamps.py` | datestamps and their granularity |
| `answers.py`, `answer_parser.py` | parsing of answers: pages of records, Identify, formats |
| `repair.py` | repair of XML with forbidden characters |
| `client.py` | requests, one at a time, with pauses and retries |
| `mirror.py`, `mirror_files.py` | the harvested records and the state of the list, in one SQLite file |
| `listing.py` | one list of a repository, from page to page |
| `changes.py` | changed records as a corpus |

The own client is about 600 lines. The libraries for the protocol bound neither answers nor pauses and keep
no state between processes; the most used one, sickle, has had no release since 2020.
"""
