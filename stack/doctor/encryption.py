"""Secrets sent without encryption, as a setting allows."""

from collections.abc import Iterator

from base.net.unencrypted_secrets import hosts_in_the_clear
from stack.doctor.findings import Finding


def check_encryption(addresses: str, *, secret: bool) -> Iterator[Finding]:
    """Warn if a secret is sent over plain http to another machine."""
    hosts = hosts_in_the_clear(addresses) if secret else []
    if hosts:
        found = f"the key or password is sent unencrypted to {', '.join(hosts)}"
        mend = "use https://, so that nobody in between can read it"
        yield Finding("encryption", "warning", found, configured="allow_plain_http", mend=mend)
