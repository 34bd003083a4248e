"""Sign-in at npm's oidc-provider, if it is installed below the folder in SHRAG_TEST_NPM."""

import os
import re
import shutil
import socket
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest

from server.settings import SignInSettings
from tests.generator.sample_index import NAME
from tests.server.access.sign_in.openid_provider import CLIENT, SECRET
from tests.server.running import application

NPM = Path(os.environ.get("SHRAG_TEST_NPM") or "/nowhere")  # read before the user's settings are hidden
SCRIPT = Path(__file__).with_name("oidc_provider.mjs")
FORM = re.compile(r'action="([^"]+)"')
PROMPT = re.compile(r'name="prompt" value="([a-z]+)"')


@pytest.fixture(scope="module")
def issuer():
    node, package = shutil.which("node"), NPM / "node_modules" / "oidc-provider"
    if not node or not package.is_dir():
        pytest.skip("needs npm's oidc-provider (npm install oidc-provider) below SHRAG_TEST_NPM")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [node, str(SCRIPT), str(package), str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout
        for line in process.stdout:
            if b"listening" in line:
                break
        yield f"http://localhost:{port}"
        process.terminate()


@pytest.fixture
def client(issuer, sample_home, tmp_path):
    (tmp_path / NAME).symlink_to(sample_home / NAME)
    secret = tmp_path / "secret"
    secret.write_text(SECRET)
    groups: Any = {"students": "reader", "library": "librarian"}
    sign_in = SignInSettings(issuer=issuer, client_id=CLIENT, client_secret_file=secret, groups=groups)
    with application(tmp_path, sign_in=sign_in, public_url="http://localhost") as client:
        client.follow_redirects = False
        yield client


def brought_back(address, person):
    """Sign a person in at the provider's forms; return the address to which it sends the browser."""
    with httpx.Client(follow_redirects=False, timeout=60) as browser:
        answer = browser.get(address)
        for _ in range(20):
            if answer.is_redirect:
                address = str(answer.url.join(answer.headers["location"]))
                if address.startswith("http://localhost/"):
                    return address
                answer = browser.get(address)
                continue
            form, prompt = FORM.search(answer.text), PROMPT.search(answer.text)
            assert form, answer.text
            assert prompt, answer.text
            fields = {"prompt": prompt[1], "login": person, "password": "any"}
            answer = browser.post(form[1], data=fields)
    raise AssertionError(answer.text)


@pytest.mark.parametrize(("person", "role"), [("ada", "reader"), ("ida", "librarian"), ("eve", None)])
def test_a_person_of_a_certified_provider_signs_in(client, issuer, person, role):
    begun = client.get("/sign-in?next=/find")
    returned = client.get(brought_back(begun.headers["location"], person))

    assert returned.status_code == (303 if role else 403)
    assert client.get("/api/v1/session").json()["role"] == role
    assert client.get("/sign-in/callback", params=dict(returned.request.url.params)).status_code == 403
    if role:
        assert returned.headers["location"] == "http://localhost/find"
        left = client.delete("/api/v1/session", headers={"Origin": "http://localhost"})
        assert httpx.get(left.json()["continue_at"]).status_code == 200
        assert client.get("/api/v1/session").json()["role"] is None
