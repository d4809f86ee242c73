"""Fixtures that measure the database of integration tests with pgdyno."""

import json
import os
import shutil
import subprocess

import pytest


@pytest.fixture(scope="session")
def database():
    """Connection string of the database under test. Replace this fixture by the one of your integration tests."""
    if not os.environ.get("TEST_DATABASE"):
        pytest.skip("TEST_DATABASE is not set; example: postgres://me@127.0.0.1/shop")
    return os.environ["TEST_DATABASE"]


@pytest.fixture(scope="session")
def measure(database, request, record_testsuite_property):
    """Function that measures an experiment file on the database, and returns the JSON document of the run.

    The run file, the HTML page and the JUnit file of pgdyno are written to pgdyno-results/NAME/.
    """

    def measure(file, *arguments):
        results = request.config.rootpath / "pgdyno-results" / file.stem
        shutil.rmtree(results, ignore_errors=True)
        attach = f"stack.postgres.attach={database}"
        command = ["pgdyno", "run", file, "--set", attach, "--out", results, "--json", *arguments]
        done = subprocess.run(command, capture_output=True, text=True)
        # Statuses 3, 4 and 99 are results; the tests decide about them.
        if done.returncode in (1, 2):
            pytest.fail(f"pgdyno returned status {done.returncode}:\n{done.stderr}", pytrace=False)
        (run,) = results.glob("*.dyno")
        for format, name in [("html", "report.html"), ("junit", "junit.xml")]:
            subprocess.run(["pgdyno", "report", run, "--format", format, "--out", results / name], check=True)
        document = json.loads(done.stdout)
        for cell in document["matrix"]["rows"]:
            for figure in cell["figures"]:
                name = " ".join([file.stem, *cell["label"], figure["figure"]])
                record_testsuite_property(name, figure["median"])
        return document

    return measure
