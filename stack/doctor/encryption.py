"""Whether a key or a password goes unencrypted, which a setting allowed."""

from collections.abc import Iterator

from base.net.plain_http import hosts_in_the_clear
from stack.doctor.findings import Finding


def check_encryption(addresses: str, *, secret: bool) -> Iterator[Finding]:
    """Warn of a secret that goes over plain http to another machine, as a setting allows."""
    hosts = hosts_in_the_clear(addresses) if secret else []
    if hosts:
        found = f"the key or password goes unencrypted to {', '.join(hosts)}"
        mend = "use https://, so that nobody on the way can read it"
        yield Finding("encryption", "warning", found, configured="allow_plain_http", mend=mend)
