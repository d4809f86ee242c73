"""Load test of the database, as a part of its integration tests."""

from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def load(measure):
    """The JSON document of one run; all tests of this module use it."""
    document = measure(Path(__file__).with_name("load.yaml"))
    # A busy machine is no mistake of the software under test.
    if document["matrix"]["verdict"] == "invalid":
        trials = [trial for cell in document["matrix"]["rows"] for trial in cell["trials"]]
        reasons = sorted({reason["kind"] for trial in trials for reason in trial["reasons"]})
        pytest.skip(f"the measurement is invalid: {', '.join(reasons)}")
    return document


def figure(document, name, cell=0):
    """Median of a figure over the valid trials of a cell. Times are in seconds, and errors are a share from 0 to 1."""
    figures = {it["figure"]: it["median"] for it in document["matrix"]["rows"][cell]["figures"]}
    return figures[name]


def test_objectives_are_met(load):
    objectives = load["matrix"]["objectives"]
    assert [it["objective"] for it in objectives if it["violated"]] == []
    unknown = [it["objective"] for it in objectives if it["unknown"]]
    if unknown:
        pytest.skip(f"too few samples to judge {unknown}")


def test_no_transaction_fails(load):
    assert figure(load, "errors") == 0


def test_every_statement_returns_a_row(load):
    assert [it["empty"] for it in load["rows"][0]["statements"]] == [0]
