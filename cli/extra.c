#include "cli/extra.h"

#include <string.h>

int extra_check(const struct run *run, const struct extra *extras, int n, struct err *e)
{
    int rc = output_check(run, NULL, e);
    for (int i = 0; i < n && !rc; i++) {
        const char *path = extras[i].path;
        if (!path)
            continue;
        bool twice = strcmp(path, run->opt.out ? run->opt.out : "-") == 0;
        for (int k = 0; k < i; k++)
            twice = twice || (extras[k].path && strcmp(path, extras[k].path) == 0);
        rc = twice ? err_set(e, ERR_USAGE, "two outputs are to go to %s, need a file for each",
                             strcmp(path, "-") == 0 ? "standard output" : path)
                   : output_check(run, path, e);
    }
    return rc;
}

struct table *extra_table(struct extra *x)
{
    return x->path ? &x->table : NULL;
}

static int write_one(const struct run *run, const struct extra *x, struct origin from, struct err *e)
{
    struct text head = { 0 }, out = { 0 };
    output_head(&head, run, from);
    int rc = text_check(&head, e);
    if (!rc)
        rc = table_write(&x->table, TABLE_AS_CSV, text_str(&head), &out, e);
    if (!rc)
        rc = text_write_file(&out, x->path, run->opt.force, e);
    text_free(&head);
    text_free(&out);
    return rc;
}

int extra_write(const struct run *run, const struct extra *extras, int n, struct origin from, struct err *e)
{
    int rc = 0;
    for (int i = 0; i < n && !rc; i++)
        if (extras[i].path)
            rc = write_one(run, &extras[i], from, e);
    return rc;
}

void extra_free(struct extra *extras, int n)
{
    for (int i = 0; i < n; i++)
        table_free(&extras[i].table);
}
