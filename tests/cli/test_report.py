"""The page that `calve rewrite --report` writes, as a browser shows it."""

import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tables import Warehouse, inspect  # noqa: E402

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
HOSTILE = "<script>document.title='owned'</script>&\"'"
VOID = {"meta", "br"}


class Page(HTMLParser):
    """Text by element id, and the elements there are."""

    def __init__(self, html):
        super().__init__()
        self.text, self.tags, self.attributes, self.open = {}, [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append(tag)
        self.attributes.append((tag, attributes))
        if tag not in VOID:
            self.open.append((tag, attributes.get("id")))

    def handle_endtag(self, tag):
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data):
        for _, identifier in self.open:
            if identifier:
                self.text[identifier] = self.text.get(identifier, "") + data

    def attribute(self, identifier, name):
        return next(a[name] for _, a in self.attributes if a.get("id") == identifier)


def browse(page, tmp_path, *options):
    if CHROMIUM is None:
        pytest.skip("there is no chromium here (tools/apt-packages.txt names it)")
    process = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", f"--user-data-dir={tmp_path}/profile",
         *options, page.as_uri()],
        capture_output=True, text=True, timeout=120)
    assert process.returncode == 0, process.stderr
    return process.stdout


def small_files(tmp_path, count):
    """`count` files of ten rows each, in two partitions, one of them with a name that is markup."""
    paths = []
    for number in range(count):
        path = tmp_path / f"in-{number}.parquet"
        pq.write_table(pa.table({"id": list(range(number * 10, number * 10 + 10)), "kind": ["a", HOSTILE] * 5}), path)
        paths.append(path)
    return paths


@pytest.fixture
def warehouse(calve, tmp_path):
    return Warehouse(calve, tmp_path / "w", "filesystem")


@pytest.fixture
def table(calve, warehouse, tmp_path):
    files = small_files(tmp_path, 6)
    calve.run("catalog", "create", "w.db.t", "--schema-from", files[0], "--partition-by", "kind")
    for path in files:
        calve.run("append", "w.db.t", path)
    return "w.db.t"


def test_a_browser_shows_what_was_done(calve, table, tmp_path):
    report = tmp_path / "report.html"
    calve.run("rewrite", table, "--report", report)
    page = Page(browse(report, tmp_path, "--dump-dom"))

    assert page.text["table"] == "db.t"
    assert page.text["files"] == "12 → 2"
    assert page.text["rows"] == "60"
    assert re.match(r"[\d.]+ K?i?B → [\d.]+ K?i?B$", page.text["bytes"])
    assert page.attribute("sizes-before", "data-files") == "12"
    assert page.attribute("sizes-after", "data-files") == "2"
    assert "Before: 12 files" in page.text["sizes-before"] and "After: 2 files" in page.text["sizes-after"]
    assert all(phase in page.text["timings-chart"] for phase in ("plan", "write", "commit"))
    assert "kind=a" in page.text["plan"]

    snapshots = inspect(calve, table, "snapshots")
    assert len(snapshots) == 7
    for snapshot in snapshots:
        assert str(snapshot["snapshot_id"]) in page.text["history"]
    assert "replace" in page.text["history"] and page.text["history"].count("append") == 6


def test_names_are_text_and_nothing_comes_from_outside(calve, table, tmp_path):
    report = tmp_path / "report.html"
    calve.run("rewrite", table, "--report", report)
    page = Page(browse(report, tmp_path, "--dump-dom"))
    assert "script" not in page.tags
    assert page.text.get("plan", "").count("document.title") == 1, "the hostile partition shows as text"
    source = report.read_text()
    assert not re.search(r"(src|href|@import|url\()\s*=?\s*[\"'(]?\s*(https?:)?//", source)
    assert {tag for tag, attributes in page.attributes if "src" in attributes or "href" in attributes} == set()


def test_a_picture_can_be_taken_of_it(calve, table, tmp_path):
    report, picture = tmp_path / "report.html", tmp_path / "report.png"
    calve.run("rewrite", table, "--report", report)
    browse(report, tmp_path, f"--screenshot={picture}", "--window-size=1100,1400", "--hide-scrollbars")
    assert picture.read_bytes().startswith(b"\x89PNG") and picture.stat().st_size > 20_000


def test_a_dry_run_reports_the_plan_and_changes_nothing(calve, table, tmp_path):
    report = tmp_path / "report.html"
    process = calve.run("rewrite", table, "--dry-run", "--report", report)
    assert "12 of 12 data files" in process.stdout
    assert len(inspect(calve, table, "snapshots")) == 6
    page = Page(browse(report, tmp_path, "--dump-dom"))
    assert page.text["files"] == "12" and "seconds" not in page.text
    assert page.attribute("sizes-after", "data-files") == "0"


def test_a_report_that_cannot_be_written_is_known_before_the_work(calve, table, tmp_path):
    process = calve.run("rewrite", table, "--report", tmp_path / "nowhere" / "report.html", check=False)
    assert process.returncode == 1 and "nowhere" in process.stderr
    assert len(inspect(calve, table, "snapshots")) == 6


def test_a_failed_rewrite_leaves_the_old_report(calve, table, tmp_path):
    report = tmp_path / "report.html"
    report.write_text("yesterday's")
    process = calve.run("rewrite", table, "--where", "nonsense = 1", "--report", report, check=False)
    assert process.returncode == 1 and "nonsense" in process.stderr
    assert report.read_text() == "yesterday's"
    assert [path.name for path in tmp_path.glob(".report*")] == []
