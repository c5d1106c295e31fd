"""calve_peer_read with DuckDB, its result fetched as Arrow. --batch-rows 0 fetches whole tables."""

import duckdb
import pyarrow as pa

import serve

connection = duckdb.connect()


def read(options):
    connection.execute(f"SET threads = {options.threads}")
    connection.execute(f"SET produce_arrow_string_view = {options.strings == 'view'}")
    columns = ", ".join(f'"{column}"' for column in options.columns) if options.columns else "*"
    where = f' WHERE "{options.filter[0]}" < {options.filter[1]}' if options.filter else ""
    relation = connection.sql(f"SELECT {columns} FROM read_parquet({options.files}){where}")
    if options.batch_rows == "0":
        yield from relation.to_arrow_table().to_batches()
    else:
        yield from relation.to_arrow_reader(int(options.batch_rows))


serve.main(read, lambda batch: [batch])
