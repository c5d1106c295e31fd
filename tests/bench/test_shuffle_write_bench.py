"""bench/shuffle_write.py: what its table says, and that it times what it names."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("CALVE_BUILD", ROOT / "build/release"))
sys.path.insert(0, str(ROOT / "bench"))

import shuffle_write  # noqa: E402

ROW = {"codec": "zstd", "budget": 48, "grown_bytes": 50_000_000, "bytes": {"calve": 1_000_000, "Arrow C++": 2_000_000, "Polars": 3_000_000},
       "times": {"calve": [2.0, 4.0, 3.0], "Arrow C++": [6.0, 6.0, 6.0], "Polars": [9.0, 9.0, 9.0], "codec": [1.0, 1.0, 1.0],
                 "calve, uncompressed": [1.0, 3.0, 1.0]}}


def test_ratios_are_medians_of_paired_rounds():
    assert shuffle_write.ratio_of(ROW) == 2.0  # of 3, 1.5 and 2
    assert shuffle_write.over_codec(ROW) == 1.0  # of 2 / 2, 4 / 4 and 3 / 2
    assert shuffle_write.over_codec({"times": {"calve": [1.0], "Polars": [1.0]}}) is None


def test_cells_stand_under_their_heads():
    head, _, line = shuffle_write.table_of([ROW]).splitlines()
    cells = dict(zip(head.strip("| ").split(" | "), line.strip("| ").split(" | ")))
    assert cells["calve"] == "3.00" and cells["Arrow C++"] == "**6.00**" and cells["fastest peer / calve"] == "2.00"
    assert cells["bytes: calve, Arrow C++, Polars"] == "1, 2, 3 MB" and cells["calve grew by"] == "50 MB"


@pytest.mark.skipif(not (BUILD / "bench/calve_peer_shuffle_write").exists(), reason="the benchmark programs are not built")
def test_all_arms_run(tmp_path):
    command = [sys.executable, ROOT / "bench/shuffle_write.py", "--build", BUILD, "--rows", "20000", "--partitions", "5", "--rounds", "1",
               "--codecs", "none,zstd", "--budgets", "48", "--folder", tmp_path / "shuffle"]
    told = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    lines = [line for line in told.stdout.splitlines() if line.startswith("| none") or line.startswith("| zstd")]
    assert len(lines) == 2 and "20,000 rows of 10 columns, 5 partitions" in told.stdout
    assert not (tmp_path / "shuffle").exists()
