"""Damaged files that calve reads and libparquet does not, or otherwise: they must be what arrow-rs reads.

calve_parquet_test (ParquetDamage) changes each byte of small files and leaves here those that libparquet does not decide.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import run  # noqa: E402


def undecided(build, folder):
    """The files, made by the C++ test."""
    folder.mkdir()
    subprocess.run([build / "tests/calve_parquet_test", "--gtest_brief=1", "--gtest_filter=ParquetDamage.EveryByte*"], check=True,
                   env=dict(os.environ, CALVE_UNDECIDED=str(folder)), stdout=subprocess.DEVNULL)
    return sorted(folder.glob("*.parquet"))


@pytest.mark.skipif(shutil.which("cargo") is None, reason="arrow-rs needs cargo, which is not installed")
def test_damaged_files_are_read_as_arrow_rs_reads_them(tmp_path):
    build = Path(os.environ.get("CALVE_BUILD") or run.ROOT / "build/release")
    rust, reason = run.build_rust()
    assert rust is not None, reason
    files = undecided(build, tmp_path / "files")
    assert files
    answers = run.run_tool([rust], [f"read\t{path}\t{path.with_suffix('.arrow')}" for path in files])
    problems = [f"{path.stem}: arrow-rs says {answer}" for path, answer in zip(files, answers) if not answer.startswith("ok")]
    read = [path for path, answer in zip(files, answers) if answer.startswith("ok")]
    lines = [f"{number}\t{path.with_suffix('.arrow')}\t{path}\tloose" for number, path in enumerate(read)]
    compared = run.run_tool([build / "tests/calve_differential", "compare"], lines)
    problems += [f"{path.stem}: {answer}" for path, answer in zip(read, compared) if not answer.endswith("\tok")]
    assert not problems, "\n".join(problems)
