/* Any bytes as a JSON array of objects, read object by object: refused with its line, or values whose texts
 * and counts hold together. For libFuzzer. */
#include "tests/fuzz/memory_file.h"

#include <stdint.h>
#include <string.h>

#include "base/json_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What members a reader asks for are found among names that inputs are likely to hold. */
static size_t weigh(const struct json_value *v, int depth)
{
    static const char *const keys[] = { "a", "b", "id", "jobs", "name", "" };
    size_t sum = 0;
    if (!v || depth > 8)
        return 0;
    const char *text = json_value_text(v);
    sum += text ? strlen(text) : 0;
    assert(!text || (json_value_count(v) == 0 && !json_value_is_array(v) && !json_value_is_null(v)));
    for (size_t i = 0; i < json_value_count(v); i++)
        sum += weigh(json_value_at(v, i), depth + 1);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        sum += weigh(json_value_get(v, keys[i]), depth + 1);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json_reader *r;
    const struct json_value *v = NULL;
    struct err e = { 0 };
    char path[MEMORY_PATH];
    int fd = memory_file(path, data, size), rc = json_reader_open(&r, path, &e);
    assert(rc == 0 || !r);
    for (int64_t line = 1; rc == 0 && (rc = json_reader_next(r, &v, &e)) == 0 && v;) {
        assert(json_reader_line(r) >= line);
        line = json_reader_line(r);
        assert(weigh(v, 0) <= 64 * size);
    }
    assert(rc == 0 ? e.code == 0 : e.code == (enum err_code)rc && e.msg[0] && !strchr(e.msg, '\n'));
    json_reader_close(r);
    close(fd);
    return 0;
}
