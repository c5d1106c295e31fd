"""Rows as JSON, brought to one form so that two systems' spellings of the same value compare equal.

Timestamps lose a zero offset's spelling (Z, +00:00) and trailing zeros of the fraction; maps, given as lists of [key, value],
are put in the order of their keys; floats of columns that are single precision are rounded to it.
"""

import json
import re
import struct
from collections import Counter

TIMESTAMP = re.compile(r"^([+-]?\d{4,}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d+)?(Z|\+00:00|[+-]00:?00)?$")


def single(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def canonical(value, single_precision=False):
    if isinstance(value, str):
        match = TIMESTAMP.match(value)
        if match:
            date, time, fraction, zone = match.groups()
            fraction = (fraction or "").rstrip("0").rstrip(".")
            return f"{date}T{time}{fraction}{'Z' if zone else ''}"
        return value
    if isinstance(value, float):
        value = single(value) if single_precision else value
        return 0.0 if value == 0 else value
    if isinstance(value, dict):
        return {name: canonical(item) for name, item in value.items()}
    if isinstance(value, list):
        items = [canonical(item) for item in value]
        if items and all(isinstance(item, list) and len(item) == 2 for item in items):
            items.sort(key=lambda item: json.dumps(item[0]))
        return items
    return value


def multiset(rows, single_precision_columns=()):
    """How often each row occurs, whatever the order of rows and columns."""
    return Counter(
        json.dumps({name: canonical(value, name in single_precision_columns) for name, value in row.items()}, sort_keys=True)
        for row in rows)


def read_jsonl(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def assert_same_rows(actual, expected, single_precision_columns=()):
    left = multiset(actual, single_precision_columns)
    right = multiset(expected, single_precision_columns)
    missing, unexpected = right - left, left - right
    assert not missing and not unexpected, (
        f"{sum(missing.values())} rows missing, e.g. {next(iter(missing), None)}\n"
        f"{sum(unexpected.values())} rows unexpected, e.g. {next(iter(unexpected), None)}")


def from_arrow(table):
    """The rows of an Arrow table as JSON: binary as hex, decimals, dates and times as text, maps as lists of pairs."""
    import pyarrow as pa

    columns = []
    for name, column in zip(table.schema.names, table.columns):
        nanoseconds = pa.types.is_timestamp(column.type) and column.type.unit == "ns"
        values = column.cast(pa.timestamp("ns")).cast(pa.string()).to_pylist() if nanoseconds else column.to_pylist()
        zone = "Z" if nanoseconds and column.type.tz else ""
        columns.append([f"{value}{zone}" if nanoseconds and value else to_json(value) for value in values])
    return [dict(zip(table.schema.names, row)) for row in zip(*columns)]


def to_json(value):
    import datetime
    import decimal
    import math
    import uuid

    if isinstance(value, dict):
        return {name: to_json(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, (datetime.date, datetime.time)):  # datetime.datetime is a date
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return f"{value:f}"
    if isinstance(value, uuid.UUID):
        return str(value)
    return value
