"""What the tests of the command line share."""

import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

BINARY = os.environ.get("CALVE_BINARY") or str(Path(__file__).resolve().parents[2] / "build/release/calve")


def refused(process, *words, code=1):
    """One line on stderr that holds `words`, nothing on stdout."""
    assert process.returncode == code, process.stderr
    assert process.stdout == ""
    lines = process.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("calve: error: "), process.stderr
    for word in words:
        assert re.search(re.escape(str(word)), lines[0], re.IGNORECASE), f"{word!r} is not in: {lines[0]}"
    return lines[0]
