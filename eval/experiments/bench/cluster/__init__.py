"""A cluster beside the embedded engine.

Run where `SHRAG_ELASTICSEARCH__URL` names a server that nobody else asks; what is measured is left there for
the next run, under the prefix of the settings.
"""

PART = "elasticsearch"
