#!/usr/bin/env python3
"""Runs calve's tests and closes with one line that counts them all.

    tools/run_tests.py quick|long|asan [--build build/release] [--keep-going]

quick: the C++ tests of every module, the examples, and the command line's tests; under a minute once built.
long:  conformance with other systems' tables, interop, random files of other writers, corruption, crash, the installed package, and
       that the benchmark's readers read the same.
asan:  the C++ tests of the modules that parse bytes, and the fuzz targets over the inputs they begin with; --build names a build with
       sanitizers.

Each suite leaves JUnit files under <build>/test-results, from which the closing line is counted. A skipped test is listed
with its reason. Exit code 1 when a test failed or nothing ran.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTEST_SUITES = {"quick": ["tests/cli"], "long": ["tests/bench", "tests/conformance", "tests/interop", "tests/differential", "tests/crash", "tests/package"]}
PARSERS = "calve_(base|hash|simd|crypto|compress|array|io|expr|parquet|ipc|avro|shuffle|iceberg)_test|_fuzz$"


def run_ctest(build, results, label, pattern):
    """The C++ tests; every gtest program writes its own JUnit file into `results`."""
    environment = dict(os.environ, GTEST_OUTPUT=f"xml:{results}/", ARROW_DEFAULT_MEMORY_POOL="system",
                       LSAN_OPTIONS=f"suppressions={ROOT / 'tools/lsan.supp'}:print_suppressions=0")
    command = ["ctest", "--test-dir", str(build), "--parallel", str(os.cpu_count()), "--output-on-failure", "-L", label]
    if pattern:
        command += ["-R", pattern]
    return subprocess.run(command, env=environment, cwd=ROOT).returncode


def make_corpus(folder):
    """What the fuzz targets begin with."""
    shutil.rmtree(folder, ignore_errors=True)
    for script in ["make_corpus.py", "make_shuffle_corpus.py"]:
        subprocess.run([sys.executable, ROOT / "fuzz" / script, folder], check=True, stdout=subprocess.DEVNULL)


def run_pytest(build, results, suite, output=None):
    folders = [folder for folder in PYTEST_SUITES.get(suite, []) if (ROOT / folder).is_dir()]
    if not folders:
        return 0
    environment = dict(os.environ, CALVE_BINARY=str(build / "calve"), CALVE_BUILD=str(build))
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider",
               "-o", "junit_family=legacy", f"--junitxml={results}/pytest.xml", *folders]
    return subprocess.run(command, env=environment, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT if output else None).returncode


def run_both(build, results):
    """The C++ tests and, beside them, the Python tests, most of whose time other programs take. Their output comes last."""
    with ThreadPoolExecutor() as pool, tempfile.TemporaryFile("w+") as output:
        python = pool.submit(run_pytest, build, results, "quick", output)
        failed = run_ctest(build, results, "unit", None) | python.result()
        output.seek(0)
        print(output.read(), end="", flush=True)
        return failed


def count(results):
    """Counts of all test cases in the JUnit files: passed, failed, skipped, shared; and what was skipped, why."""
    counts = dict(passed=0, failed=0, skipped=0, shared=0)
    skips = []
    for path in sorted(results.rglob("*.xml")):
        for case in ElementTree.parse(path).getroot().iter("testcase"):
            skipped = case.find("skipped")
            if case.find("failure") is not None or case.find("error") is not None:
                counts["failed"] += 1
            elif skipped is not None or case.get("result") == "skipped":
                counts["skipped"] += 1
                reason = (skipped.get("message") or skipped.text or "") if skipped is not None else ""
                skips.append(f"{case.get('classname')}.{case.get('name')}: {reason.strip().splitlines()[-1:] or ['']}")
            else:
                counts["passed"] += 1
            for item in case.iter("property"):
                if item.get("name") == "shared_cases":
                    counts["shared"] += int(item.get("value"))
    return counts, skips


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", choices=["quick", "long", "asan"])
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    results = build / "test-results" / arguments.suite
    shutil.rmtree(results, ignore_errors=True)
    results.mkdir(parents=True)

    failed = 0
    if arguments.suite == "asan":
        make_corpus(build / "corpus")
        failed |= run_ctest(build, results, "unit", PARSERS)
    elif arguments.suite == "quick":
        failed |= run_both(build, results)
    else:
        failed |= run_ctest(build, results, "long", None)
        failed |= run_pytest(build, results, arguments.suite)
    counts, skips = count(results)
    for skip in skips:
        print("skipped:", skip)
    print(f"cases from the shared test data: {counts['shared']}")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if failed or counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
