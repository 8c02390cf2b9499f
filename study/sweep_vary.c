#include "study/sweep_axis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/num.h"
#include "base/rng.h"

/* Grids as far as they are read; their points are numbered at the end. */
struct grids {
    struct sweep_grid *items; /* shape [n], owned */
    int32_t n, cap;
};

/* Where the keys of an axis are written. */
struct places {
    yaml_id keys[SWEEP_MAX_KEYS];
};

struct reader {
    struct sweep *w;
    const struct section *root;
    const struct yaml_doc *doc;
    const struct study_source *from;
    struct places *places; /* shape [w->n_axes], owned */
    int32_t cap_axes, cap_places;
};

/* ---- keys ---- */

static const char *find_override(const struct study_source *from, const char *path)
{
    const char *value = NULL;
    for (int32_t i = 0; i < from->n; i++)
        if (strcmp(from->overrides[i].path, path) == 0)
            value = from->overrides[i].value;
    return value;
}

/* The number of a key; one that no other axis has is new. */
static int take_key(struct reader *r, yaml_id id, int32_t *out, struct err *e)
{
    struct sweep *w = r->w;
    const char *path = r->doc->nodes[id].key;
    int rc = sweep_check_path(r->root, r->doc, id, e);
    if (rc)
        return rc;
    for (*out = 0; *out < w->n_keys; ++*out)
        if (strcmp(w->keys[*out].path, path) == 0)
            return 0;
    if (w->n_keys == SWEEP_MAX_KEYS)
        return yaml_fail_key(r->doc, id, e, ERR_RANGE, "is key number %d that varies, need at most %d",
                             SWEEP_MAX_KEYS + 1, SWEEP_MAX_KEYS);
    struct sweep_key *key = &w->keys[w->n_keys];
    *key = (struct sweep_key){ strdup(path), find_override(r->from, path) != NULL, id };
    if (!key->path)
        return err_nomem(e, "an axis");
    w->n_keys++;
    return 0;
}

/* ---- axes ---- */

/* Columns of an axis while it is read. */
struct draft {
    struct sweep_column columns[SWEEP_MAX_KEYS];
    yaml_id at[SWEEP_MAX_KEYS];
    int32_t n_keys;
};

static void draft_free(struct draft *d)
{
    for (int32_t j = 0; j < d->n_keys; j++)
        sweep_column_free(&d->columns[j]);
}

/* Room for the axis that comes next. */
static int reserve_axis(struct reader *r, struct err *e)
{
    struct sweep_axis *axes = array_grow(r->w->axes, r->w->n_axes, &r->cap_axes, sizeof *axes);
    r->w->axes = axes ? axes : r->w->axes;
    struct places *places = array_grow(r->places, r->w->n_axes, &r->cap_places, sizeof *places);
    r->places = places ? places : r->places;
    return axes && places ? 0 : err_nomem(e, "an axis");
}

/* One value in place of a column whose key an override sets. */
static void override_column(struct sweep_column *c, const char *value)
{
    sweep_column_free(c);
    sweep_column_put(c, value);
}

/* The draft, of `n` values, as the last axis of the sweep; used up. */
static int add_axis(struct reader *r, struct draft *d, int64_t n, struct err *e)
{
    struct sweep_axis axis = { .n_keys = d->n_keys };
    bool all = true;
    int rc = reserve_axis(r, e);
    for (int32_t j = 0; j < d->n_keys && !rc; j++) {
        rc = take_key(r, d->at[j], &axis.keys[j], e);
        const char *value = find_override(r->from, r->doc->nodes[d->at[j]].key);
        if (value)
            override_column(&d->columns[j], value);
        all = all && value;
    }
    if (!rc)
        rc = sweep_axis_fill(&axis, d->columns, all ? 1 : n, e);
    if (rc)
        return rc;
    memcpy(r->places[r->w->n_axes].keys, d->at, sizeof d->at);
    r->w->axes[r->w->n_axes++] = axis;
    return 0;
}

/* A map of keys that move together: some, and no more than an axis may have. */
static int check_keys(const struct reader *r, yaml_id map, struct err *e)
{
    int rc = yaml_need(r->doc, map, YAML_MAP, e);
    if (rc)
        return rc;
    if (r->doc->nodes[map].n == 0)
        return yaml_fail(r->doc, map, e, ERR_PARSE, "is empty, need at least one key");
    if (r->doc->nodes[map].n > SWEEP_MAX_KEYS)
        return yaml_fail(r->doc, map, e, ERR_RANGE, "has %d keys, need at most %d", (int)r->doc->nodes[map].n,
                         SWEEP_MAX_KEYS);
    return 0;
}

/* ---- a key alone, and keys in step ---- */

/* The next column of a draft; the key is checked first, as a slip there explains what follows. */
static int read_column(struct reader *r, struct draft *d, yaml_id id, struct err *e)
{
    int rc = sweep_check_path(r->root, r->doc, id, e);
    d->at[d->n_keys] = id;
    return rc ? rc : sweep_column_read(&d->columns[d->n_keys++], r->doc, id, e);
}

/* A slip in "zip" and the like is none in a key of the study. */
static int check_form(const struct reader *r, yaml_id id, struct err *e)
{
    static const char *const forms[] = { "zip", "sobol", "union" };
    const char *key = r->doc->nodes[id].key, *near = text_nearest(key, forms, sizeof forms / sizeof forms[0]);
    bool is_key = false;
    for (size_t i = 0; i < r->root->n_keys; i++)
        is_key = is_key || strcmp(r->root->keys[i].name, key) == 0;
    return is_key || !near ? 0
                           : yaml_fail_key(r->doc, id, e, ERR_PARSE,
                                           "is unknown, need a known key such as %s (nearest)", near);
}

static int read_plain(struct reader *r, yaml_id id, struct err *e)
{
    struct draft d = { .n_keys = 0 };
    int rc = check_form(r, id, e);
    if (!rc)
        rc = read_column(r, &d, id, e);
    if (!rc)
        rc = add_axis(r, &d, d.columns[0].n, e);
    draft_free(&d);
    return rc;
}

static int read_zip(struct reader *r, yaml_id map, struct err *e)
{
    struct draft d = { .n_keys = 0 };
    int rc = check_keys(r, map, e);
    if (rc)
        return rc;
    yaml_each (id, r->doc, map) {
        rc = rc ? rc : read_column(r, &d, id, e);
        const struct sweep_column *last = &d.columns[d.n_keys ? d.n_keys - 1 : 0];
        if (!rc && last->n != d.columns[0].n)
            rc = yaml_fail(r->doc, id, e, ERR_RANGE, "has %lld value%s, need %lld as %.100s has",
                           (long long)last->n, last->n == 1 ? "" : "s", (long long)d.columns[0].n,
                           r->doc->nodes[d.at[0]].key);
    }
    if (!rc)
        rc = add_axis(r, &d, d.columns[0].n, e);
    draft_free(&d);
    return rc;
}

/* ---- samples ---- */

/* What is made of one coordinate: numbers between two ends, or one of the values of `list`. */
struct sampled {
    bool is_between;
    struct range_conf range;
    struct sweep_axis list;
};

static int read_sampled(struct sampled *s, const struct reader *r, yaml_id id, struct err *e)
{
    struct sweep_column c = { 0 };
    *s = (struct sampled){ .list = { .n_keys = 1 } };
    int rc = sweep_check_path(r->root, r->doc, id, e);
    if (!rc)
        rc = sweep_read_between(&s->range, &s->is_between, r->doc, id, e);
    if (rc || s->is_between)
        return rc;
    rc = sweep_column_read(&c, r->doc, id, e);
    if (!rc)
        rc = sweep_axis_fill(&s->list, &c, c.n, e);
    sweep_column_free(&c);
    return rc;
}

static void put_sample(struct sweep_column *c, const struct sampled *s, double x)
{
    char text[NUM_TEXT];
    if (s->is_between)
        sweep_column_put(c, sweep_between(text, &s->range, x));
    else
        sweep_column_put(c, s->list.values[(int64_t)(x * (double)s->list.n)]);
    c->generated = s->is_between;
}

static int draw(struct draft *d, const struct sampled *s, const struct sobol_conf *conf, struct err *e)
{
    struct rng_sobol *sobol;
    double x[SWEEP_MAX_KEYS];
    int rc = rng_sobol_build(&sobol, d->n_keys, e);
    for (int64_t i = 0; i < conf->skip + conf->points && !rc; i++) {
        rng_sobol_next(sobol, x);
        for (int32_t j = 0; j < d->n_keys && i >= conf->skip; j++)
            put_sample(&d->columns[j], &s[j], x[j]);
    }
    rng_sobol_free(sobol);
    for (int32_t j = 0; j < d->n_keys && !rc; j++)
        rc = text_check(&d->columns[j].text, e);
    return rc;
}

static int read_samples(struct reader *r, const struct sobol_conf *conf, struct err *e)
{
    struct draft d = { .n_keys = 0 };
    struct sampled s[SWEEP_MAX_KEYS];
    int rc = 0;
    yaml_each (id, r->doc, conf->keys) {
        if (rc)
            break;
        d.at[d.n_keys] = id;
        rc = read_sampled(&s[d.n_keys++], r, id, e);
    }
    if (!rc)
        rc = draw(&d, s, conf, e);
    if (!rc)
        rc = add_axis(r, &d, conf->points, e);
    for (int32_t j = 0; j < d.n_keys; j++)
        sweep_axis_free(&s[j].list);
    draft_free(&d);
    return rc;
}

static int read_sobol(struct reader *r, yaml_id map, struct err *e)
{
    struct sobol_conf conf;
    int rc = schema_read(&conf, &sweep_sobol_section, r->doc, map, e);
    if (!rc)
        rc = check_keys(r, conf.keys, e);
    return rc ? rc : read_samples(r, &conf, e);
}

/* ---- grids ---- */

static void grids_free(struct grids *g)
{
    free(g->items);
    *g = (struct grids){ 0 };
}

static int push_grid(const struct reader *r, struct grids *to, const struct sweep_grid *grid, yaml_id at,
                     struct err *e)
{
    if (to->n == SWEEP_MAX_GRIDS)
        return yaml_fail(r->doc, at, e, ERR_RANGE, "makes more than %d grids, need fewer", SWEEP_MAX_GRIDS);
    struct sweep_grid *items = array_grow(to->items, to->n, &to->cap, sizeof *items);
    if (!items)
        return err_nomem(e, "grids");
    to->items = items;
    items[to->n++] = *grid;
    return 0;
}

static bool has_key(const struct reader *r, const struct sweep_grid *grid, int32_t key)
{
    for (int32_t k = 0; k < grid->n_axes; k++) {
        const struct sweep_axis *axis = &r->w->axes[grid->axes[k]];
        for (int32_t j = 0; j < axis->n_keys; j++)
            if (axis->keys[j] == key)
                return true;
    }
    return false;
}

/* No axis is too many: each has a key that the others do not have. */
static int join_axis(const struct reader *r, struct sweep_grid *grid, int32_t axis, struct err *e)
{
    const struct sweep_axis *a = &r->w->axes[axis];
    for (int32_t j = 0; j < a->n_keys; j++)
        if (has_key(r, grid, a->keys[j]))
            return yaml_fail_key(
                r->doc, r->places[axis].keys[j], e, ERR_RANGE,
                "varies twice, as key %.100s of another axis that this one is combined with; "
                "need it once",
                r->w->keys[a->keys[j]].path);
    grid->axes[grid->n_axes++] = axis;
    return 0;
}

/* Axes first.. of the sweep into every grid. */
static int join_axes(const struct reader *r, struct grids *to, int32_t first, struct err *e)
{
    int rc = 0;
    for (int32_t axis = first; axis < r->w->n_axes; axis++)
        for (int32_t i = 0; i < to->n && !rc; i++)
            rc = join_axis(r, &to->items[i], axis, e);
    return rc;
}

/* Every grid with every member of a union, a member at a time. */
static int join_members(const struct reader *r, struct grids *to, const struct grids *members, yaml_id at,
                        struct err *e)
{
    struct grids all = { 0 };
    int rc = 0;
    for (int32_t m = 0; m < members->n; m++)
        for (int32_t i = 0; i < to->n && !rc; i++) {
            struct sweep_grid grid = to->items[i];
            for (int32_t k = 0; k < members->items[m].n_axes && !rc; k++)
                rc = join_axis(r, &grid, members->items[m].axes[k], e);
            rc = rc ? rc : push_grid(r, &all, &grid, at, e);
        }
    grids_free(to);
    *to = all;
    return rc;
}

/* ---- vary ---- */

static int read_grids(struct reader *r, struct grids *out, yaml_id id, struct err *e);

static int read_members(struct reader *r, struct grids *out, yaml_id list, struct err *e)
{
    int rc = yaml_need(r->doc, list, YAML_SEQ, e);
    if (!rc && r->doc->nodes[list].n == 0)
        rc = yaml_fail(r->doc, list, e, ERR_PARSE, "is empty, need at least one map of axes");
    if (rc)
        return rc;
    yaml_each (id, r->doc, list) {
        struct grids member = { 0 };
        rc = rc ? rc : read_grids(r, &member, id, e);
        for (int32_t i = 0; i < member.n && !rc; i++)
            rc = push_grid(r, out, &member.items[i], list, e);
        grids_free(&member);
    }
    return rc;
}

static int read_union(struct reader *r, struct grids *to, yaml_id list, struct err *e)
{
    struct grids members = { 0 };
    int rc = read_members(r, &members, list, e);
    if (!rc)
        rc = join_members(r, to, &members, list, e);
    grids_free(&members);
    return rc;
}

/* One map or each of a list of maps. */
static int read_each(struct reader *r, yaml_id id, int (*read)(struct reader *, yaml_id, struct err *),
                     struct err *e)
{
    int rc = 0;
    if (r->doc->nodes[id].kind != YAML_SEQ)
        return read(r, id, e);
    if (r->doc->nodes[id].n == 0)
        return yaml_fail(r->doc, id, e, ERR_PARSE, "is empty, need at least one map of keys");
    yaml_each (member, r->doc, id)
        rc = rc ? rc : read(r, member, e);
    return rc;
}

static int read_part(struct reader *r, struct grids *to, yaml_id id, struct err *e)
{
    const char *key = r->doc->nodes[id].key;
    int32_t first = r->w->n_axes;
    if (strcmp(key, "union") == 0)
        return read_union(r, to, id, e);
    int rc = strcmp(key, "zip") == 0     ? read_each(r, id, read_zip, e)
             : strcmp(key, "sobol") == 0 ? read_each(r, id, read_sobol, e)
                                         : read_plain(r, id, e);
    return rc ? rc : join_axes(r, to, first, e);
}

static int read_grids(struct reader *r, struct grids *out, yaml_id id, struct err *e)
{
    char shown[YAML_SHOWN];
    const struct yaml_node *node = &r->doc->nodes[id];
    if (node->kind == YAML_SEQ)
        return read_members(r, out, id, e);
    if (node->kind != YAML_MAP)
        return yaml_fail(r->doc, id, e, ERR_PARSE, "is %s, need a map of axes or a list of such maps",
                         yaml_show(r->doc, id, shown));
    if (node->n == 0)
        return yaml_fail(r->doc, id, e, ERR_PARSE, "is empty, need at least one axis");
    int rc = push_grid(r, out, &(struct sweep_grid){ 0 }, id, e);
    yaml_each (part, r->doc, id)
        rc = rc ? rc : read_part(r, out, part, e);
    return rc;
}

/* ---- points ---- */

static int fail_points(const struct reader *r, yaml_id at, int64_t most, struct err *e)
{
    char number[32] = "2^63 - 1";
    if (most < INT64_MAX)
        snprintf(number, sizeof number, "%lld", (long long)most);
    const char *format = "makes more than %s points, need fewer values";
    return r->doc->nodes[at].key && at != yaml_get(r->doc, r->doc->root, "vary")
               ? yaml_fail_key(r->doc, at, e, ERR_RANGE, format, number)
               : yaml_fail(r->doc, at, e, ERR_RANGE, format, number);
}

static int number_points(struct reader *r, int64_t most, struct err *e)
{
    struct sweep *w = r->w;
    w->n_points = 0;
    for (int32_t i = 0; i < w->n_grids; i++) {
        struct sweep_grid *g = &w->grids[i];
        g->first = w->n_points;
        g->n_points = 1;
        for (int32_t k = 0; k < g->n_axes; k++)
            if (!num_mul(g->n_points, w->axes[g->axes[k]].n, &g->n_points) || g->n_points > most)
                return fail_points(r, r->places[g->axes[k]].keys[0], most, e);
        if (!num_add(w->n_points, g->n_points, &w->n_points) || w->n_points > most)
            return fail_points(r, yaml_get(r->doc, r->doc->root, "vary"), most, e);
    }
    return 0;
}

int sweep_read_axes(struct sweep *w, const struct section *root, const struct yaml_doc *doc,
                    const struct study_source *from, int64_t most, struct err *e)
{
    struct reader r = { .w = w, .root = root, .doc = doc, .from = from };
    struct grids grids = { 0 };
    yaml_id vary = yaml_get(doc, doc->root, "vary");
    if (vary < 0)
        return yaml_fail(doc, doc->root, e, ERR_PARSE, "is without vary, need vary (the axes of the sweep)");
    int rc = read_grids(&r, &grids, vary, e);
    w->grids = grids.items;
    w->n_grids = grids.n;
    if (!rc)
        rc = number_points(&r, most, e);
    free(r.places);
    return rc;
}
