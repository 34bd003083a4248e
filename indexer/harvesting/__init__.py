"""Harvesting of OAI-PMH 2.0 repositories (https://www.openarchives.org/OAI/openarchivesprotocol.html).

| module | contents |
|---|---|
| `repository.py` | a repository as a value: address, set, metadata format |
| `client.py` | requests with pauses and retries, and the parser of the answers |
| `listing.py` | one list of a repository, from page to page |
| `mirror.py` | the harvested records and the state of the list, in one SQLite file |

The client is own code. oaipmh-scythe 0.16, the maintained library, takes an answer that breaks off for the
last page of a list, bounds neither answers nor pauses, and fails at a Retry-After date.
"""
