// Rows of a sweep as Parquet, by DuckDB, which is an npm package (npm install @duckdb/node-api):
//     weft export shards --typed -o rows.csv
//     node parquet.mjs rows.csv rows.parquet
//     node parquet.mjs --sql "SELECT network, min(time_s) FROM 'rows*.parquet' GROUP BY network"
// Types of columns are those that the head of the CSV says, so that nothing is guessed from values.
import { DuckDBInstance } from "@duckdb/node-api";
import { closeSync, openSync, readSync } from "node:fs";

const types = { text: "VARCHAR", real: "DOUBLE", count: "BIGINT" };

// The head of the file: lines that begin with "#".
function headOf(path) {
    const bytes = Buffer.alloc(1 << 20);
    const file = openSync(path);
    const n = readSync(file, bytes);
    closeSync(file);
    return bytes.toString("utf8", 0, n).split("\n").filter((line) => line.startsWith("# "));
}

const quoted = (text) => `'${text.replaceAll("'", "''")}'`;

function copySql(from, to) {
    const head = headOf(from);
    const said = head.find((line) => line.startsWith("# types="));
    if (!said) throw new Error(`${from}: has no "# types=" in its head; write it by weft export --typed`);
    const columns = said.slice("# types=".length).split(",").map((column) => {
        const at = column.lastIndexOf(":");
        return `${quoted(column.slice(0, at))}: '${types[column.slice(at + 1)]}'`;
    });
    return `COPY (SELECT * FROM read_csv(${quoted(from)}, auto_detect = false, delim = ',', quote = '"', escape = '"',
        header = true, skip = ${head.length}, nullstr = '', columns = {${columns.join(", ")}}))
        TO ${quoted(to)} (FORMAT parquet, COMPRESSION zstd)`;
}

const [from, to] = process.argv.slice(2);
const connection = await (await DuckDBInstance.create(":memory:")).connect();
if (from === "--sql") {
    const rows = await connection.runAndReadAll(to);
    for (const row of rows.getRows()) console.log(row.join("\t"));
} else {
    await connection.run(copySql(from, to));
}
