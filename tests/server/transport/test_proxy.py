"""The example of a reverse proxy, run by a real nginx: streams pass at once, over TLS."""

import re
import shutil
import socket
import ssl
import subprocess
from contextlib import contextmanager

import httpx
import pytest

from tests.generator.language_model import served as model_served
from tests.generator.sample_index import ENGLISH
from tests.http_server import certificate_for
from tests.indexer.made_corpora import ROOT
from tests.server.processes.test_stopping import ENDLESS, STREAMED, with_model
from tests.server.running import START_S as PATIENCE_S
from tests.server.running import serving, wait_for
from tests.service.processes import free_ports

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
HOST = "search.example.org"

pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")


@contextmanager
def nginx(folder, server_port):
    """Run nginx with the example, on free ports; yield that of TLS and the certificate."""
    plain, tls = free_ports(2)
    chain = certificate_for(f"DNS:{HOST}", folder / "chain.pem")  # with its key
    temporary = "".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    text = (ROOT / "docker" / "proxy" / "nginx.conf").read_text("utf-8")
    for pattern, value in {
        r"listen 80;": f"listen 127.0.0.1:{plain};",
        r"listen 443 (.*);": rf"listen 127.0.0.1:{tls} \1;",
        r"listen \[::\].*;": "",
        r"server 127.0.0.1:8080;": f"server 127.0.0.1:{server_port};",
        r"/etc/ssl/\S+/fullchain.pem": str(chain),
        r"/etc/ssl/\S+/privkey.pem": str(chain),
        r"\nhttp \{": f"\nhttp {{ {temporary}",
    }.items():
        text, count = re.subn(pattern, value, text)
        assert count, f"nothing of the example is like {pattern}"
    settings = folder / "nginx.conf"
    settings.write_text(text, "utf-8")
    extra = f"daemon off; master_process off; pid {folder}/pid; error_log {folder}/errors info;"
    assert NGINX
    with subprocess.Popen([NGINX, "-c", settings, "-g", extra]) as process:
        try:
            wait_for(lambda: accepts(plain), bool)
            yield plain, tls, chain
        finally:
            process.terminate()


def accepts(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def reader(tls, chain):
    """Open a client that reaches the example's host."""
    trusted = ssl.create_default_context(cafile=str(chain))
    with httpx.Client(base_url=f"https://127.0.0.1:{tls}", verify=trusted, timeout=PATIENCE_S) as client:
        client.headers["Host"] = HOST
        yield client


def asked_as(client, method, path, **options):
    return client.build_request(method, path, extensions={"sni_hostname": HOST}, **options)


def test_the_example_passes_streams_at_once_over_tls(sample_home, tmp_path):
    with (
        model_served(ENDLESS) as model,
        serving(
            sample_home,
            tmp_path / "log",
            "--open",
            server__proxies="127.0.0.1",
            server__public_url=f"https://{HOST}",
            **with_model(model),
        ) as server,
        nginx(tmp_path, server.port) as (plain, tls, chain),
        reader(tls, chain) as client,
    ):
        moved = httpx.get(
            f"http://127.0.0.1:{plain}/papers/1?hl=ko", headers={"Host": HOST}, timeout=PATIENCE_S
        )
        assert (moved.status_code, moved.headers["Location"]) == (308, f"https://{HOST}/papers/1?hl=ko")

        found = client.send(asked_as(client, "POST", "/api/v1/search", json={"question": ENGLISH}))
        assert found.status_code == 200
        assert found.json()["hits"]
        assert len(found.headers.get_list("Strict-Transport-Security")) == 1
        assert client.send(asked_as(client, "GET", "/metrics")).status_code == 404
        much = client.send(asked_as(client, "POST", "/api/v1/search", content=b" " * 2_000_000))
        assert much.status_code == 413

        call = asked_as(client, "GET", "/api/v1/ask", params={"question": ENGLISH}, headers=STREAMED)
        answer = client.send(call, stream=True)  # its end is minutes away
        first = next(line for line in answer.iter_lines() if line.startswith("event:"))
        assert first
        assert model.begun.wait(PATIENCE_S)
        answer.close()
        assert model.closed.wait(PATIENCE_S)
