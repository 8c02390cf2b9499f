#include "study/sweep_axis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- keys ---- */

/* Which table a map below a key has; NULL = checked where it is read. */
static const struct section *section_below(const struct section *s, const char *key, bool *is_list)
{
    for (const struct section_link *x = section_links; x->above; x++)
        if (x->above == s && strcmp(x->key, key) == 0) {
            *is_list = x->is_list;
            return x->below;
        }
    return NULL;
}

int sweep_check_key(const struct section *s, const char *key, const struct yaml_doc *doc, yaml_id id,
                    struct err *e)
{
    enum { MOST = 64 };
    const char *names[MOST];
    size_t n = s->n_keys < MOST ? s->n_keys : MOST;
    for (size_t i = 0; i < n; i++) {
        names[i] = s->keys[i].name;
        if (strcmp(names[i], key) == 0)
            return 0;
    }
    const char *near = text_nearest(key, names, n);
    return yaml_fail_key(doc, id, e, ERR_PARSE,
                         "is unknown (\"%.60s\" is no key of %s), need a known key%s%s%s", key, s->name,
                         near ? " such as " : "", near ? near : "", near ? " (nearest)" : "");
}

/* One name off the front of the path, with the indices after it. */
static const char *take_name(char out[64], const char *path)
{
    size_t n = strcspn(path, ".[");
    snprintf(out, 64, "%.*s", n < 64 ? (int)n : 63, path);
    path += n;
    while (*path == '[')
        path += strcspn(path, "]") + (path[strcspn(path, "]")] == ']');
    return path + (*path == '.');
}

int sweep_check_path(const struct section *root, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    static const char *const fixed[] = { "vary", "name", "source" };
    const char *path = doc->nodes[id].key;
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        if (strcmp(path, fixed[i]) == 0)
            return yaml_fail_key(doc, id, e, ERR_PARSE, "cannot vary, need another key");
    const struct section *s = root;
    while (s && *path) {
        char key[64];
        bool is_list = false, indexed;
        const char *rest = take_name(key, path);
        int rc = sweep_check_key(s, key, doc, id, e);
        if (rc)
            return rc;
        indexed = path[strcspn(path, ".[")] == '[';
        s = section_below(s, key, &is_list);
        path = rest;
        if (is_list && !indexed)
            path = take_name(key, path); /* the name of a member */
    }
    return 0;
}

/* ---- values ---- */

/* Where each value begins, row by row; a column of one value has it in every row. */
static void point_into(struct sweep_axis *axis, const struct sweep_column *columns)
{
    char *at = axis->text;
    for (int32_t j = 0; j < axis->n_keys; j++)
        for (int64_t i = 0; i < axis->n; i++) {
            bool again = i > 0 && columns[j].n == 1;
            axis->values[i * axis->n_keys + j] = again ? axis->values[j] : at;
            if (!again)
                at += strlen(at) + 1;
        }
}

int sweep_axis_fill(struct sweep_axis *axis, struct sweep_column *columns, int64_t n, struct err *e)
{
    struct text *all = &columns[0].text;
    axis->generated = true;
    for (int32_t j = 0; j < axis->n_keys; j++) {
        axis->generated = axis->generated && columns[j].generated;
        if (j > 0)
            text_add(all, text_str(&columns[j].text), columns[j].text.n);
    }
    int rc = text_check(all, e);
    if (rc)
        return rc;
    axis->values = calloc((size_t)(n * axis->n_keys), sizeof *axis->values);
    if (!axis->values)
        return err_nomem(e, "an axis");
    /* A text that grew has room for as much again. */
    char *fits = realloc(all->s, all->n + 1);
    axis->text = fits ? fits : all->s;
    *all = (struct text){ 0 };
    axis->n = n;
    point_into(axis, columns);
    return 0;
}

void sweep_axis_free(struct sweep_axis *axis)
{
    free(axis->values);
    free(axis->text);
    *axis = (struct sweep_axis){ 0 };
}
