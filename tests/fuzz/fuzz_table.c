/* Any bytes as a CSV table: refused with its line, or cells that are the same after they were written and
 * read again. For libFuzzer. */
#include "tests/fuzz/memory_file.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A column of reals may come back as one of counts: what counts is what is written. */
static void write_csv(struct text *out, const struct table *t)
{
    struct err e = { 0 };
    assert(table_write(t, TABLE_AS_CSV, NULL, out, &e) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct table t, again;
    struct text csv = { 0 }, twice = { 0 };
    struct err e = { 0 };
    char path[MEMORY_PATH];
    int fd = memory_file(path, data, size), rc = table_read_csv(&t, path, &e);
    close(fd);
    assert(rc == 0 ? e.code == 0
                   : e.code == (enum err_code)rc && e.msg[0] && !strchr(e.msg, '\n') && t.n_rows == 0);
    if (rc)
        return 0;
    write_csv(&csv, &t);
    fd = memory_file(path, csv.s, csv.n);
    assert(table_read_csv(&again, path, &e) == 0 && again.n_rows == t.n_rows && again.n_cols == t.n_cols);
    close(fd);
    write_csv(&twice, &again);
    assert(csv.n == twice.n && memcmp(csv.s, twice.s, csv.n) == 0);
    text_free(&csv);
    text_free(&twice);
    table_free(&t);
    table_free(&again);
    return 0;
}
