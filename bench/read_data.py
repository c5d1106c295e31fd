"""Makes the files of bench/cases.json under build/bench/read, once: a file whose recipe has not changed is not made again."""

import json
import subprocess
import sys
from pathlib import Path


def recipe_of(recipes, name, scale):
    """The whole recipe of a file, its rows multiplied by `scale`."""
    recipe = dict(recipes[name])
    if "like" in recipe:
        recipe = {**recipes[recipe.pop("like")], **recipe}
    if "tpch" in recipe:
        recipe["scale_factor"] *= scale
    elif not recipe.get("fixed"):
        recipe["rows"] = int(recipe["rows"] * scale)
    return recipe


def paths_of(recipe, name, folder):
    if "tpch" in recipe:
        return [folder / name / f"{recipe['tpch']}.parquet"]
    return [folder / f"{name}-{index}.parquet" for index in range(recipe.get("count", 1))]


def make(recipe, name, folder):
    """The paths of a file's parts; made when they are not there."""
    paths = paths_of(recipe, name, folder)
    stamp = folder / f"{name}.json"
    text = json.dumps(recipe, sort_keys=True)
    if stamp.exists() and stamp.read_text() == text and all(path.exists() for path in paths):
        return paths
    folder.mkdir(parents=True, exist_ok=True)
    print(f"making {name}", file=sys.stderr)
    if "tpch" in recipe:
        generate_tpch(recipe, paths[0])
    else:
        for index, path in enumerate(paths):
            write(recipe, index, path)
    stamp.write_text(text)
    return paths


def generate_tpch(recipe, path):
    program = Path(sys.executable).parent / "tpchgen-cli"
    subprocess.run([program, "parquet", "-s", str(recipe["scale_factor"]), f"--tables={recipe['tpch']}", f"--output-dir={path.parent}",
                    f"--compression={recipe['compression']}", "--row-group-bytes=32MB", "--overwrite"], check=True, stdout=subprocess.DEVNULL)
    if not recipe.get("arrow_schema", True):
        hide_arrow_schema(path)


def hide_arrow_schema(path):
    """Gives the key under which the Arrow schema stands in the footer another name. It would make readers that honour it return
    views where a case asks for utf8."""
    with open(path, "r+b") as file:
        file.seek(-8, 2)
        end = file.tell()
        file.seek(end - int.from_bytes(file.read(4), "little"))
        begin = file.tell()
        footer = file.read(end - begin)
        assert footer.count(b"ARROW:schema") == 1, path
        file.seek(begin)
        file.write(footer.replace(b"ARROW:schema", b"ARROW-schema"))


def sql_of(recipe, index):
    if "wide" in recipe:
        columns = ", ".join(f"i + {column} AS c{column}" for column in range(recipe["wide"]))
        return f"SELECT {columns} FROM range({recipe['rows']}) t(i)"
    return recipe["sql"].format(rows=recipe["rows"], file=index)


def write(recipe, index, path):
    import duckdb
    import pyarrow as pa
    import pyarrow.parquet as pq
    table = duckdb.connect().sql(sql_of(recipe, index)).to_arrow_table()
    required = recipe.get("required", [])
    table = table.cast(pa.schema([field.with_nullable(field.name not in required) for field in table.schema]))
    options = dict(compression=recipe.get("compression", "snappy"), use_dictionary=recipe.get("dictionary", True),
                   row_group_size=recipe.get("row_group_rows"), write_page_index=recipe.get("page_index", False),
                   store_decimal_as_integer=recipe.get("decimal_as_integer", False))
    if "encoding" in recipe:
        options["column_encoding"] = recipe["encoding"]
    pq.write_table(table, path, **options)
