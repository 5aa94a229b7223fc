"""Instructions of a lake in Spark: the wheel of `bindings/python` decodes in `mapInArrow`.

    pip install pyspark pyarrow 'pandas>=2.2' ./bindings/python
    python corpus/examples/spark.py lake/            # needs Java; runs on two cores of this machine

Prints the ten most frequent instructions, as
`isaforge-corpus query lake/ 'SELECT mnemonic, count(*) AS n FROM instructions GROUP BY 1 ORDER BY n DESC, 1 LIMIT 10'` does.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator

import pyarrow
from pyspark.sql import SparkSession

ISA = "valhall"
SCHEMA = "hash string, pc long, mnemonic string, text string"


def instructions(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """Programs in, a row for each instruction out. Spark calls it in processes of its own, so the import is here."""
    import isaforge

    isa = isaforge.load(ISA)
    for batch in batches:
        for hash, code in zip(batch.column("hash"), batch.column("code")):
            rows = pyarrow.record_batch(isa.records(code.as_py()))
            yield pyarrow.record_batch(
                {
                    "hash": pyarrow.array([hash.as_py()] * rows.num_rows, pyarrow.string()),
                    "pc": rows.column("address").cast(pyarrow.int64()),
                    "mnemonic": rows.column("mnemonic").cast(pyarrow.string()),
                    "text": rows.column("text"),
                }
            )


def main(lake: str) -> None:
    # Spark starts `python3` otherwise, which need not be the one with the wheel.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = SparkSession.builder.master("local[2]").appName("isaforge").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    programs = spark.read.parquet(f"{lake}/programs").where(f"isa = '{ISA}'").select("hash", "code")
    rows = programs.mapInArrow(instructions, SCHEMA)
    rows.createOrReplaceTempView("instructions")
    query = "SELECT mnemonic, count(*) AS n FROM instructions GROUP BY 1 ORDER BY n DESC, 1 LIMIT 10"
    for row in spark.sql(query).collect():
        print(f"{row.mnemonic}\t{row.n}")
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
