"""The examples for Apache, run by a real one: mod_auth_openidc in front of a server, Shibboleth only read."""

import os
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.generator.sample_index import ENGLISH, NAME
from tests.server.access.sign_in.openid_provider import CLIENT, SECRET
from tests.server.running import START_S as PATIENCE_S
from tests.server.running import serving
from tests.server.transport.proxies import example, listening
from tests.service.processes import free_ports

APACHE, MODULES = Path("/usr/sbin/apache2"), Path("/usr/lib/apache2/modules")
LOADED = ("mpm_event", "authn_core", "authz_core", "authz_user", "headers", "proxy", "proxy_http")
FORGED = {"X-Remote-User": "root", "X-Remote-Groups": "library"}

pytestmark = pytest.mark.skipif(
    not all(path.exists() for path in (APACHE, MODULES / "mod_auth_openidc.so", MODULES / "mod_shib.so")),
    reason="apache2-bin, libapache2-mod-auth-openidc or libapache2-mod-shib is not installed",
)


def settings_with(name, module, folder, port, changes):
    """Write settings for Apache with an example whose values are changed; return the file."""
    lines = [
        f"ServerRoot {folder}",
        "ServerName 127.0.0.1",
        f"Listen 127.0.0.1:{port}",
        f"PidFile {folder}/pid",
        f"ErrorLog {folder}/errors",
        f"DefaultRuntimeDir {folder}",
        *(["User www-data", "Group www-data"] if os.geteuid() == 0 else []),
        *(f"LoadModule {name}_module {MODULES}/mod_{name}.so" for name in LOADED),
        f"LoadModule {module}",
    ]
    path = folder / "apache.conf"
    path.write_text("\n".join([*lines, example(name, changes)]), "utf-8")
    return path


@pytest.fixture(scope="module")
def url(shared_home, provider, tmp_path_factory):
    """Serve the sample behind Apache, which asks the provider who comes."""
    folder = tmp_path_factory.mktemp("apache")
    (port,) = free_ports(1)
    url = f"http://127.0.0.1:{port}"
    (folder / "secret.conf").write_text(f'OIDCClientSecret "{SECRET}"\n', "utf-8")
    (folder / "passphrase").write_text("0123456789abcdef0123456789abcdef\n", "utf-8")
    sign_in = {
        "user_header": "X-Remote-User",
        "groups_header": "X-Remote-Groups",
        "header_from": "127.0.0.1",
        "groups": '{"students": "reader", "library": "librarian"}',
    }
    named = {f"server__sign_in__{name}": value for name, value in sign_in.items()}
    behind = {"server__public_url": url, "server__proxies": "127.0.0.1"}
    with serving(shared_home, folder / "log", **behind, **named) as server:
        changes = {
            r"https://id\.example\.org/realms/library": provider.issuer,
            r"https://search\.example\.org": url,
            r"OIDCClientID shrag": f"OIDCClientID {CLIENT}",
            r"/etc/apache2/shrag-client-secret\.conf": str(folder / "secret.conf"),
            r"/etc/apache2/shrag-passphrase": str(folder / "passphrase"),
            r"http://127\.0\.0\.1:8080/": f"{server.url}/",
        }
        module = f"auth_openidc_module {MODULES}/mod_auth_openidc.so"
        settings = settings_with("apache-openidc.conf", module, folder, port, changes)
        with listening([APACHE, "-f", settings, "-D", "FOREGROUND"], url):
            yield url


@pytest.fixture
def browser(url):
    with httpx.Client(base_url=url, timeout=PATIENCE_S) as browser:
        yield browser


def signed_in(browser, provider, *groups):
    begun = browser.get("/find")
    assert begun.headers["location"].startswith(f"{provider.issuer}/auth?"), begun.text
    brought = provider.authorize(begun.headers["location"], groups=list(groups))
    returned = browser.get("/redirect", params=brought)
    assert (returned.status_code, urlsplit(returned.headers["location"]).path) == (302, "/find")


@pytest.mark.parametrize(
    ("groups", "role"), [(["students"], "reader"), (["students", "library"], "librarian"), (["other"], None)]
)
def test_a_person_has_the_rights_of_its_groups_and_no_others(browser, provider, groups, role):
    signed_in(browser, provider, *groups)

    for headers in ({}, FORGED):
        session = browser.get("/api/v1/session", headers=headers).json()
        assert (session["role"], session["label"]) == (role, "p-1")
    call, origin = {"question": ENGLISH, "index": NAME}, str(browser.base_url).rstrip("/")
    found = browser.post("/api/v1/search", json=call, headers={"Origin": origin})
    assert found.status_code == (200 if role else 403)
