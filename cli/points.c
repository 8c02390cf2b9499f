#include "cli/points.h"

#include <string.h>

#include "study/axes.h"

static bool is_about_vary(const char *assignment)
{
    return strncmp(assignment, "vary", 4) == 0 && strchr("=.", assignment[4]) != NULL;
}

bool points_vary(const struct run *run)
{
    struct yaml_doc doc;
    struct err ignored = { 0 };
    for (int32_t i = 0; i < run->opt.set.n; i++)
        if (is_about_vary(run->opt.set.items[i]))
            return true;
    const char *path = run->opt.operands[0];
    if (topo_is_spec(path) || yaml_read_file(&doc, path, &ignored))
        return false;
    bool found = yaml_get(&doc, doc.root, "vary") >= 0;
    yaml_free(&doc);
    return found;
}

const char *points_unquote(char buf[POINTS_VALUE], const char *value)
{
    size_t n = strlen(value);
    /* A text with quotes or escapes inside stays as it was written. */
    if (n < 2 || n > POINTS_VALUE || value[0] != '"' || strcspn(value + 1, "\"\\") != n - 2)
        return value;
    memcpy(buf, value + 1, n - 2);
    buf[n - 2] = '\0';
    return buf;
}

const char *points_value(char buf[POINTS_VALUE], const struct sweep *w, int32_t k, int64_t i)
{
    struct sweep_point p;
    sweep_find_point(&p, w, i);
    const char *value = sweep_value(w, &p, k);
    return value ? points_unquote(buf, value) : "";
}

const char *points_axis_title(const char *path)
{
    enum { WIDEST = 20 };
    const char *title = path;
    while (strlen(title) > WIDEST && strchr(title, '.'))
        title = strchr(title, '.') + 1;
    return title;
}

struct origin points_origin(const struct study *s)
{
    return (struct origin){ .known = true, .study_hash = s->hash, .seed = s->seed };
}
