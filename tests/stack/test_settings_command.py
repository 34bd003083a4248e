"""`shrag settings`, and what commands and `shrag doctor` tell of settings and of where they are from."""

import json
import re
import tomllib

import pytest

from base.settings.sources import all_settings
from tests.generator.sample_index import shrag
from tests.stack.asking_the_doctor import doctor

KEY = "sehr-geheim-0815"
FILE = f"""
keywords = 7
[llm]
base_url = "https://model.example/v1"
model = "from the file"
api_key = "{KEY}"
extra_body = {{password = "{KEY}"}}
"""


@pytest.fixture
def file(tmp_path):
    """Return a file of settings that only this user can read."""
    path = tmp_path / "shrag.toml"
    path.write_text(FILE)
    path.chmod(0o600)
    return path


def listed(home, **environment):
    done = shrag("settings", "--json", home=home, **environment)
    assert done.returncode == 0
    return {each["key"]: each for each in json.loads(done.stdout)["settings"]}


def test_every_setting_is_listed_with_its_value_and_where_that_is_from(tmp_path, file):
    found = listed(tmp_path, config=file, llm__model="from the variable")
    assert found.keys() == {setting.key for setting in all_settings().values()}
    told = {key: (found[key]["value"], found[key]["source"]) for key in found}
    assert told["llm.model"] == ("from the variable", "SHRAG_LLM__MODEL")
    assert told["llm.base_url"] == ("https://model.example/v1", str(file))
    assert told["keywords"] == (7, str(file))
    assert told["rerank_depth"] == (30, None)
    assert found["llm.base_url"]["variable"] == "SHRAG_LLM__BASE_URL"


def test_a_group_of_variables_as_json_is_named(tmp_path):
    found = listed(tmp_path, llm=json.dumps({"base_url": "http://127.0.0.1:9/v1", "model": "m"}))
    assert found["llm.model"]["source"] == "SHRAG_LLM"
    assert found["llm.seed"]["source"] is None


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_keys_are_hidden(tmp_path, file, options):
    done = shrag("settings", *options, home=tmp_path, config=file, elasticsearch__password=KEY)
    assert done.returncode == 0
    assert "llm.api_key" in done.stdout
    assert KEY not in done.stdout + done.stderr


def test_the_printed_file_holds_the_defaults_of_all_settings(tmp_path):
    broken = tmp_path / "broken.toml"  # of no interest here
    broken.write_text("keywords = ")
    printed = shrag("settings", "--toml", home=tmp_path, config=broken).stdout
    assert tomllib.loads(printed).keys() >= {"llm", "encoder"}
    names = re.findall(r"^#(\w+) =", printed, re.MULTILINE)
    assert sorted(names) == sorted(setting.place[-1] for setting in all_settings().values())
    uncommented = tmp_path / "all.toml"
    uncommented.write_text(re.sub(r"^#(\w+ = )", r"\1", printed, flags=re.MULTILINE))
    with_file = listed(tmp_path, config=uncommented)
    without = listed(tmp_path)
    values = {key: each["value"] for key, each in with_file.items()}
    assert values == {key: each["value"] for key, each in without.items()}


def test_the_doctor_tells_what_is_set_and_by_what(tmp_path, file):
    _, found = doctor(tmp_path, "--quick", config=file, keywords=3)
    told = {subject: each for (check, subject), each in found.items() if check == "settings"}
    assert told["file"]["configured"] == str(file)
    assert (told["keywords"]["found"], told["keywords"]["configured"]) == ("3", "SHRAG_KEYWORDS")
    assert told["llm.model"]["configured"] == str(file)
    assert told["home"]["configured"] == "SHRAG_HOME"
    assert "rerank_depth" not in told
    assert KEY not in json.dumps(told)
    assert {each["status"] for each in told.values()} == {"ok"}


def test_the_doctor_warns_of_keys_that_everybody_can_read(tmp_path, file):
    file.chmod(0o604)
    _, found = doctor(tmp_path, "--quick", config=file)
    assert found["settings", "file, secrets"]["status"] == "warning"
    assert "llm.api_key" in found["settings", "file, secrets"]["found"]
    file.write_text("keywords = 3")
    _, found = doctor(tmp_path, "--quick", config=file)
    assert ("settings", "file, secrets") not in found


def test_the_doctor_tells_variables_that_set_nothing(tmp_path):
    code, found = doctor(tmp_path, "--quick", hoem=KEY, llm="{}")
    assert code == 0
    assert "SHRAG_HOME" in found["settings", "SHRAG_HOEM"]["remedy"]
    assert KEY not in json.dumps([*found.values()])
    assert ("settings", "SHRAG_LLM") not in found
