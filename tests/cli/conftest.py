"""A file, a warehouse and a table to try commands on."""

import pytest

import cli_support  # noqa: F401 (makes the folder above one to import from)
from tables import Warehouse, write


@pytest.fixture
def file(tmp_path):
    return write(tmp_path / "rows.parquet", 0, 100)


@pytest.fixture
def warehouse(calve, tmp_path):
    return Warehouse(calve, tmp_path / "w", "filesystem")


@pytest.fixture
def table(calve, warehouse, tmp_path):
    name = warehouse.create("t")
    for number in range(3):
        calve.run("append", name, write(tmp_path / f"in-{number}.parquet", number * 10, 10))
    return name
