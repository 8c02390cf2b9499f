#include "explore/sweep_axis.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"

/* ---- points ---- */

static const struct sweep_grid *grid_of(const struct sweep *w, int64_t i)
{
    int32_t lo = 0, hi = w->n_grids - 1;
    while (lo < hi) {
        int32_t mid = hi - (hi - lo) / 2;
        if (w->grids[mid].first <= i)
            lo = mid;
        else
            hi = mid - 1;
    }
    return &w->grids[lo];
}

void sweep_find_point(struct sweep_point *p, const struct sweep *w, int64_t i)
{
    *p = (struct sweep_point){ 0 };
    if (!w->n_grids)
        return;
    const struct sweep_grid *g = grid_of(w, i);
    p->grid = (int32_t)(g - w->grids);
    i -= g->first;
    for (int32_t k = g->n_axes; k-- > 0;) {
        p->at[k] = i % w->axes[g->axes[k]].n;
        i /= w->axes[g->axes[k]].n;
    }
}

const char *sweep_value(const struct sweep *w, const struct sweep_point *p, int32_t key)
{
    const struct sweep_grid *g = &w->grids[p->grid];
    for (int32_t k = 0; k < g->n_axes; k++) {
        const struct sweep_axis *axis = &w->axes[g->axes[k]];
        for (int32_t j = 0; j < axis->n_keys; j++)
            if (axis->keys[j] == key)
                return axis->values[p->at[k] * axis->n_keys + j];
    }
    return NULL;
}

int32_t sweep_point_overrides(struct study_override *axes, const struct sweep *w, const struct sweep_point *p)
{
    int32_t n = 0;
    for (int32_t k = 0; k < w->n_keys; k++) {
        const char *value = w->keys[k].overridden ? NULL : sweep_value(w, p, k);
        if (value)
            axes[n++] = (struct study_override){ w->keys[k].path, value };
    }
    return n;
}

unsigned long long sweep_hash(const struct sweep *w, unsigned long long hash)
{
    for (int32_t k = 0; k < w->n_axes; k++)
        for (int64_t i = 0; i < w->axes[k].n * w->axes[k].n_keys; i++)
            hash = text_hash(hash, w->axes[k].values[i], strlen(w->axes[k].values[i]));
    return hash;
}

struct study_source sweep_source_at(struct study_override *axes, const struct sweep *w, int64_t point,
                                    struct study_source from)
{
    struct sweep_point at;
    sweep_find_point(&at, w, point);
    from.axes = axes;
    from.n_axes = sweep_point_overrides(axes, w, &at);
    return from;
}

void sweep_put_columns(struct table *t, const struct sweep *w)
{
    table_column(t, "point", TABLE_COUNT);
    for (int32_t k = 0; k < w->n_keys; k++)
        table_column(t, w->keys[k].path, TABLE_TEXT);
}

void sweep_put_point(struct table *t, const struct sweep *w, int64_t point)
{
    struct sweep_point at;
    sweep_find_point(&at, w, point);
    table_row(t);
    table_put_count(t, point);
    for (int32_t k = 0; k < w->n_keys; k++)
        table_put_text(t, sweep_value(w, &at, k));
}

int sweep_load(struct study *s, const struct sweep *w, const struct sweep_point *p, struct study_source from,
               unsigned more, struct err *e)
{
    struct study_override axes[SWEEP_MAX_KEYS];
    from.axes = axes;
    from.n_axes = sweep_point_overrides(axes, w, p);
    return study_read(s, &from, STUDY_NEEDS_WORKLOAD | STUDY_FOR_SPLIT | more, e);
}

/* ---- notes ---- */

/* What a note says, after its place; *n is its length. */
static const char *said(const char *line, size_t *n)
{
    const char *end = strchr(line, '\n'), *start = line;
    const char *verb = strstr(line, " has no effect ");
    for (const char *s = line; s < end && verb && s < verb; s++)
        if (s[0] == ':' && s[1] == ' ')
            start = s + 2;
    *n = (size_t)(end - start) + 1;
    return start;
}

static bool says(const char *notes, const char *what, size_t n)
{
    for (; *notes; notes = strchr(notes, '\n') + 1) {
        size_t length;
        const char *s = said(notes, &length);
        if (length == n && memcmp(s, what, n) == 0)
            return true;
    }
    return false;
}

/* Keep the lines of `notes` that `other` has too, whatever place it gives them. */
static void keep_common(struct text *notes, const char *other)
{
    size_t kept = 0;
    for (const char *line = text_str(notes); *line;) {
        size_t n, length = (size_t)(strchr(line, '\n') - line) + 1;
        const char *what = said(line, &n);
        if (says(other, what, n)) {
            memmove(notes->s + kept, line, length);
            kept += length;
        }
        line += length;
    }
    if (notes->s)
        notes->s[kept] = '\0';
    notes->n = kept;
}

/* Two spellings of one key, such as dims.pod and dims[3], would overwrite each other. */
static int check_distinct(const struct sweep *w, const struct study *s, struct err *e)
{
    yaml_id found[SWEEP_MAX_KEYS];
    for (int32_t k = 0; k < w->n_keys; k++) {
        found[k] = yaml_find(&s->doc, w->keys[k].path);
        for (int32_t i = 0; i < k; i++)
            if (found[k] >= 0 && found[k] == found[i])
                return yaml_fail(&s->doc, yaml_get(&s->doc, s->doc.root, "vary"), e, ERR_RANGE,
                                 "has \"%.100s\" and \"%.100s\", need one axis for what is one key",
                                 w->keys[i].path, w->keys[k].path);
    }
    return 0;
}

/* Notes at point p: the first ones, or what they have in common with those before. */
static int note_point(struct sweep *w, const struct sweep_point *p, const struct study_source *from,
                      bool *any, struct err *e)
{
    struct study s;
    struct err inner = { 0 };
    int rc = sweep_load(&s, w, p, *from, STUDY_UNSEARCHED, &inner);
    if (rc == ERR_NOMEM)
        return err_set(e, rc, "%s", inner.msg);
    if (rc)
        return 0;
    if (*any)
        keep_common(&w->notes, text_str(&s.notes));
    else
        text_puts(&w->notes, text_str(&s.notes));
    *any = true;
    rc = check_distinct(w, &s, e);
    study_free(&s);
    return rc ? rc : text_check(&w->notes, e);
}

/* A key may have no effect at one point and some at another: ask the neighbours of each grid's first too. */
static int note_points(struct sweep *w, const struct study_source *from, struct err *e)
{
    enum { NEIGHBOURS = 16 };
    bool any = false;
    int rc = 0;
    for (int32_t grid = 0; grid < w->n_grids && !rc; grid++) {
        struct sweep_point p = { .grid = grid };
        rc = note_point(w, &p, from, &any, e);
        for (int32_t k = 0; k < w->grids[grid].n_axes; k++) {
            int64_t n = w->axes[w->grids[grid].axes[k]].n;
            n = n <= NEIGHBOURS ? n : NEIGHBOURS + 1;
            for (p.at[k] = 1; p.at[k] < n && !rc; p.at[k]++)
                rc = note_point(w, &p, from, &any, e);
            p.at[k] = 0;
        }
    }
    return rc;
}

/* ---- axes ---- */

static const char *find_override(const struct study_source *from, const char *path)
{
    const char *value = NULL;
    for (int32_t i = 0; i < from->n; i++)
        if (strcmp(from->overrides[i].path, path) == 0)
            value = from->overrides[i].value;
    return value;
}

static int override_axis(struct sweep_axis *axis, const char *value, struct err *e)
{
    char *copy = strdup(value);
    if (!copy)
        return err_nomem(e, "an axis");
    while (axis->n > 0)
        free(axis->values[--axis->n]);
    axis->values[axis->n++] = copy;
    return 0;
}

/* A key of its own for axis number `at`, or ERR_NOMEM. */
static int add_key(struct sweep *w, int32_t at, const char *path, struct err *e)
{
    struct sweep_key *key = &w->keys[w->n_keys];
    key->path = strdup(path);
    if (!key->path)
        return err_nomem(e, "an axis");
    w->axes[at].keys[0] = w->n_keys++;
    return 0;
}

static int add_axis(struct sweep *w, const struct section *root, const struct yaml_doc *doc, yaml_id id,
                    const struct study_source *from, struct err *e)
{
    struct sweep_grid *grid = &w->grids[0];
    if (w->n_axes == SWEEP_MAX_AXES)
        return yaml_fail_key(doc, id, e, ERR_RANGE, "is axis number %d, need at most %d", SWEEP_MAX_AXES + 1,
                             SWEEP_MAX_AXES);
    struct sweep_axis *axis = &w->axes[w->n_axes];
    grid->axes[grid->n_axes++] = w->n_axes++;
    int rc = sweep_axis_read(axis, root, doc, id, e);
    if (!rc)
        rc = add_key(w, w->n_axes - 1, doc->nodes[id].key, e);
    const char *value = rc ? NULL : find_override(from, doc->nodes[id].key);
    if (value) {
        w->keys[axis->keys[0]].overridden = true;
        rc = override_axis(axis, value, e);
    }
    if (!rc && (!num_mul(w->n_points, axis->n, &w->n_points) || w->n_points > SWEEP_MAX_POINTS))
        rc = yaml_fail_key(doc, id, e, ERR_RANGE, "makes more than %d points, need fewer values",
                           SWEEP_MAX_POINTS);
    grid->n_points = w->n_points;
    return rc;
}

static int reserve(struct sweep *w, struct err *e)
{
    w->axes = calloc(SWEEP_MAX_AXES, sizeof *w->axes);
    w->grids = calloc(1, sizeof *w->grids);
    w->n_grids = w->grids ? 1 : 0;
    w->n_points = 1;
    return w->axes && w->grids ? 0 : err_nomem(e, "axes");
}

int sweep_read_axes(struct sweep *w, const struct section *root, const struct yaml_doc *doc,
                    const struct study_source *from, struct err *e)
{
    yaml_id vary = yaml_get(doc, doc->root, "vary");
    if (vary < 0)
        return yaml_fail(doc, doc->root, e, ERR_PARSE, "is without vary, need vary (the axes of the sweep)");
    int rc = yaml_need(doc, vary, YAML_MAP, e);
    if (!rc && doc->nodes[vary].n == 0)
        rc = yaml_fail(doc, vary, e, ERR_PARSE, "is empty, need at least one axis");
    if (!rc)
        rc = reserve(w, e);
    if (rc)
        return rc;
    yaml_each (id, doc, vary)
        if (!rc)
            rc = add_axis(w, root, doc, id, from, e);
    return rc;
}

int sweep_read_seeded(struct sweep *w, const struct section *root, const struct yaml_doc *doc,
                      const struct study_source *from, struct err *e)
{
    yaml_id vary = yaml_get(doc, doc->root, "vary");
    *w = (struct sweep){ .n_points = 1 };
    int rc = vary < 0 ? 0 : sweep_read_axes(w, root, doc, from, e);
    for (int32_t k = 0; k < w->n_keys && !rc; k++) {
        const char *path = w->keys[k].path;
        if (strcmp(path, "seed") == 0 || strcmp(path, "seeds") == 0)
            rc = yaml_fail_key(doc, yaml_get(doc, vary, path), e, ERR_PARSE,
                               "cannot vary, need another key: every point has the same seeds");
    }
    return rc;
}

int sweep_check_seeds(const struct sweep *w, int64_t seeds, const struct yaml_doc *doc, struct err *e)
{
    int64_t runs;
    if (num_mul(w->n_points, seeds, &runs) && runs <= SWEEP_MAX_POINTS)
        return 0;
    return yaml_fail(doc, doc->root, e, ERR_RANGE, "has %lld points of %lld seeds, need at most %d runs",
                     (long long)w->n_points, (long long)seeds, SWEEP_MAX_POINTS);
}

int sweep_read(struct sweep *w, const char *path, const struct study_override *overrides, int32_t n,
               struct err *e)
{
    const struct study_source from = { .path = path, .overrides = overrides, .n = n };
    struct yaml_doc doc;
    int32_t own_source;
    *w = (struct sweep){ 0 };
    int rc = study_open(&doc, &own_source, &from, e);
    if (rc)
        return rc;
    rc = sweep_read_axes(w, &study_section, &doc, &from, e);
    yaml_free(&doc);
    if (!rc)
        rc = note_points(w, &from, e);
    if (rc)
        sweep_free(w);
    return rc;
}

void sweep_free(struct sweep *w)
{
    for (int32_t k = 0; k < w->n_axes; k++)
        sweep_axis_free(&w->axes[k]);
    for (int32_t k = 0; k < w->n_keys; k++)
        free(w->keys[k].path);
    free(w->axes);
    free(w->grids);
    text_free(&w->notes);
    *w = (struct sweep){ 0 };
}
