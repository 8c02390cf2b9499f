#include "cli/front_source.h"

#include <string.h>

int front_source_open(struct front_source *s, const char *path, struct err *e)
{
    *s = (struct front_source){ .from = { .known = false } };
    return table_read_csv(&s->rows, strcmp(path, "-") == 0 ? "/dev/stdin" : path, e);
}

int front_source_next(struct front_source *s, struct table **rows, struct err *e)
{
    (void)e;
    *rows = s->taken ? NULL : &s->rows;
    s->taken = true;
    return 0;
}

void front_source_close(struct front_source *s)
{
    table_free(&s->rows);
    *s = (struct front_source){ .from = { .known = false } };
}
