"""What all Python suites share: the binary, the full test data, and how both are found."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def binary():
    return os.environ.get("CALVE_BINARY") or str(ROOT / "build/release/calve")


def shared_data_folder():
    """The folder of the full test data, or None: CALVE_TEST_DATA, else shared/data beside or above the source tree."""
    if os.environ.get("CALVE_TEST_DATA"):
        return Path(os.environ["CALVE_TEST_DATA"])
    for folder in [ROOT, *ROOT.parents]:
        if (folder / "shared" / "data").is_dir():
            return folder / "shared" / "data"
    return None


@pytest.fixture
def shared_data(record_property):
    """The full test data; the test counts as a shared case. Skipped without it, a failure when CALVE_REQUIRE_DATA=1."""
    folder = shared_data_folder()
    if folder is None:
        if os.environ.get("CALVE_REQUIRE_DATA") == "1":
            pytest.fail("the shared test data is missing")
        pytest.skip("the shared test data is not here (set CALVE_TEST_DATA)")
    record_property("shared_cases", 1)
    return folder


class Calve:
    """Runs the calve binary."""

    def __init__(self, home):
        self.binary = binary()
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("PYICEBERG_")}
        self.environment["HOME"] = str(home)

    def run(self, *arguments, check=True, env=None, **options):
        """The finished process; with `check` an exit code other than 0 fails the test and shows stderr."""
        environment = dict(self.environment, **(env or {}))
        process = subprocess.run([self.binary, *map(str, arguments)], capture_output=True, text=True, env=environment,
                                 timeout=options.pop("timeout", 300), **options)
        if check and process.returncode != 0:
            pytest.fail(f"calve {' '.join(map(str, arguments))}\nexit code {process.returncode}\n{process.stderr}")
        return process

    def rows(self, *arguments):
        """What `calve scan` prints, as a list of objects."""
        text = self.run("scan", *arguments, "--format", "jsonl").stdout
        return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def calve(tmp_path_factory):
    return Calve(tmp_path_factory.mktemp("home"))
