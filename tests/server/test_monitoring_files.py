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


def expressions():
    """Return the expressions of all alerts, but that the server is down, and of all panels, by name."""
    rules = YAML(typ="safe").load((FOLDER / "shrag-alerts.yml").read_text("utf-8"))
    board = json.loads((FOLDER / "shrag-dashboard.json").read_text("utf-8"))
    alerts = (rule for group in rules["groups"] for rule in group["rules"] if rule["alert"] != "ShragDown")
    panels = ((panel["title"], target) for panel in board["panels"] for target in panel["targets"])
    yield from ((rule["alert"], rule["expr"]) for rule in alerts)
    yield from ((f"{title} {target['refId']}", target["expr"]) for title, target in panels)


@pytest.mark.parametrize(("name", "expression"), [*expressions()])
def test_metrics_and_labels_exist(name, expression):
    known, selectors = labels_by_metric(), SELECTOR.findall(expression)
    assert selectors, name
    labels = {label for metric, _ in selectors for label in known[metric]}
    used = re.findall(r"(\w+)[!=]~?", ",".join(matched for _, matched in selectors))
    used += [label.strip() for group in GROUPS.findall(expression) for label in group.split(",")]
    assert set(used) <= labels
