"""Alert rules and dashboard of `docker/monitoring/` name only metrics and labels that the server has."""

import json
import re

import pytest
from prometheus_client import Counter, Gauge, Histogram
from ruamel.yaml import YAML

from server.monitoring import metrics
from tests.indexer.made_corpora import ROOT

FOLDER = ROOT / "docker" / "monitoring"
ENDINGS = {Counter: ("_total",), Gauge: ("",), Histogram: ("_bucket", "_sum", "_count")}
SELECTOR = re.compile(r"(shrag_\w+)(?:\{([^}]*)\})?")
GROUPS = re.compile(r"\bby \(([^)]*)\)")


def labels_by_metric():
    """Return the labels of each exposed name."""
    return {
        f"{metric._name}{ending}": {*metric._labelnames, "le"}
        for metric in vars(metrics).values()
        for ending in ENDINGS.get(type(metric), ())  # type: ignore[call-overload]
    }


def alerts():
    rules = YAML(typ="safe").load((FOLDER / "shrag-alerts.yml").read_text("utf-8"))
    return {rule["alert"]: rule["expr"] for group in rules["groups"] for rule in group["rules"]}


def panels():
    board = json.loads((FOLDER / "shrag-dashboard.json").read_text("utf-8"))
    return {
        f"{panel['title']} {target['refId']}": target["expr"]
        for panel in board["panels"]
        for target in panel["targets"]
    }


EXPRESSIONS = alerts() | panels()


@pytest.mark.parametrize("name", sorted(EXPRESSIONS.keys() - {"ShragDown"}))
def test_metrics_and_labels_exist(name):
    known, expression = labels_by_metric(), EXPRESSIONS[name]
    selectors = SELECTOR.findall(expression)
    assert selectors
    labels = {label for metric, _ in selectors for label in known[metric]}
    used = re.findall(r"(\w+)[!=]~?", ",".join(matched for _, matched in selectors))
    used += [label.strip() for group in GROUPS.findall(expression) for label in group.split(",")]
    assert set(used) <= labels
