"""Every shape and option of the write benchmark, written by calve, is what it was to pyarrow, DuckDB, Polars and arrow-rs.

The shapes are those of bench/write_cases.json, made by arrow-rs's generators with fewer rows; calve_peer_write writes what is timed.
"""

import decimal
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import peer_readers  # noqa: E402
import run  # noqa: E402

BUILD = Path(os.environ.get("CALVE_BUILD") or run.ROOT / "build/release")
CASES = json.loads((run.ROOT / "bench/write_cases.json").read_text())
OPTIONS = [*CASES["options"], "plain", "delta_byte_array"]
#: At most so many rows of a shape: pages are cut at 20,000.
ROWS = {"large_string": 24, "small_string": 3000, "wide": 1}
#: Shapes of types that a reader does not have: bytes of a fixed size, half floats, decimals of more than 38 digits, run ends.
LACKS = {"duckdb": {"fsb", "fixed_size_binary_ree", "float_with_nans", "decimal"}, "polars": {"fsb", "decimal"} | {
    case["shape"] for case in CASES["cases"] if "_ree" in case["shape"]}}


def rows_of(shape):
    return next((rows for word, rows in ROWS.items() if shape.startswith(word)), 25000)


@pytest.fixture(scope="module")
def rust():
    program, reason = run.build_rust()
    if program is None:
        pytest.skip(f"the shapes are made by arrow-rs: {reason}")
    return program


@pytest.fixture(scope="module")
def shapes(rust, tmp_path_factory):
    """The Arrow file of each shape."""
    folder = tmp_path_factory.mktemp("shapes")
    files = {case["shape"]: folder / f"{case['shape']}.arrow" for case in CASES["cases"]}
    lines = [f"{shape}\t{rows_of(shape)}\t{path}" for shape, path in files.items()]
    assert set(run.run_tool([rust.parent / "make_shape"], lines)) == {"ok"}
    for shape, path in files.items():
        make_valid(path, rows_of(shape))
    return files


def make_valid(path, rows):
    """The generator fills every bit of a decimal, and dates in milliseconds with parts of days: here decimals are of their precision,
    and dates are days, for Polars takes the others for timestamps."""
    table = pa.ipc.open_file(path).read_all()
    for column, field in enumerate(table.schema):
        if pa.types.is_decimal(field.type):
            table = table.set_column(column, field, random_decimals(field.type, rows))
        elif pa.types.is_date64(field.type):
            days = pc.divide(table.column(column).cast(pa.int64()), 86_400_000).cast(pa.int32()).cast(pa.date32())
            table = table.set_column(column, pa.field(field.name, pa.date32(), field.nullable), days)
    peer_readers.write_ipc(table, path.with_suffix(".valid"))
    path.with_suffix(".valid").replace(path)


def random_decimals(kind, rows):
    chosen = random.Random(11)
    end = 10**kind.precision
    context = decimal.Context(prec=kind.precision)
    return pa.array([decimal.Decimal(chosen.randrange(1 - end, end)).scaleb(-kind.scale, context) for _ in range(rows)], kind)


def options_of(case):
    return case.get("options", CASES["options"])


def write(option, source, target):
    subprocess.run([BUILD / "bench/calve_peer_write", "--rounds", "0", "--option", option, "--out", target, source], check=True,
                   stdout=subprocess.DEVNULL)


def verify(files):
    told = subprocess.run([BUILD / "calve", "verify", *files], capture_output=True, text=True)
    assert told.returncode == 0, told.stdout[-3000:] + told.stderr[-3000:]


@pytest.mark.parametrize("option", OPTIONS)
def test_shapes_are_read_as_they_were(option, rust, shapes, tmp_path):
    chosen = [case["shape"] for case in CASES["cases"] if option in options_of(case)]
    files = {shape: tmp_path / f"{shape}.parquet" for shape in chosen}
    for shape, path in files.items():
        write(option, shapes[shape], path)
    verify(files.values())
    jobs = [(shape, reader) for shape in chosen for reader in peer_readers.FORM if shape not in LACKS.get(reader, ())]
    read = {job: tmp_path / f"{job[0]}-{job[1]}.arrow" for job in jobs}
    lines = [f"read\t{files[shape]}\t{read[shape, reader]}" for shape, reader in jobs if reader == "arrow-rs"]
    assert {answer.strip() for answer in run.run_tool([rust], lines)} == {"ok"}
    said = {(shape, reader): peer_readers.read(reader, files[shape], read[shape, reader]) for shape, reader in jobs if reader != "arrow-rs"}
    wrong = {job: reason for job, reason in said.items() if reason is not None}
    lines = {job: "\t".join([job[0], str(read[job]), str(shapes[job[0]]), peer_readers.FORM[job[1]]]) for job in jobs if job not in wrong}
    answers = run.answers_of([BUILD / "tests/calve_differential", "same"], list(lines.values()))
    wrong.update((job, answer) for job, answer in zip(lines, answers) if answer != "ok")
    assert not wrong, "\n".join(f"{job}: {reason}" for job, reason in wrong.items())
