"""The installed package: a consumer of ten lines finds it, builds against it and reads a file."""

import os
import subprocess
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

CONSUMER = Path(__file__).resolve().parent / "consumer"
BUILD = Path(os.environ.get("CALVE_BUILD", CONSUMER.parents[2] / "build/release"))
PYTHON = CONSUMER.parents[2] / ".venv/bin/python"


def run(*command):
    process = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout


def test_a_consumer_builds_against_the_installed_package(tmp_path):
    prefix = tmp_path / "prefix"
    run("cmake", "--install", BUILD, "--prefix", prefix)
    headers = {path.name for path in (prefix / "include/calve").iterdir()}
    assert headers == {path.name for path in (CONSUMER.parents[2] / "include/calve").iterdir()}

    run("cmake", "-S", CONSUMER, "-B", tmp_path / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}",
        "-DCMAKE_CXX_COMPILER=clang++-19", f"-DCALVE_PYTHON={PYTHON}")
    run("cmake", "--build", tmp_path / "build")
    pa.parquet.write_table(pa.table({"a": [1, 2, 3], "b": ["x", None, "z"]}), tmp_path / "t.parquet")
    assert run(tmp_path / "build/consumer", tmp_path / "t.parquet") == "3 rows of 2 columns\n"
    assert "0.1.0" in run(prefix / "bin/calve", "--version")
