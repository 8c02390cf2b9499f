/*
 * `where` of a study: linear constraints over keys that vary and facts of a point, which say what points are
 * left out before they are solved.
 *
 * All that a constraint needs of keys is turned into numbers once, when the study is read: an axis has its
 * values as doubles, a key that a grid does not vary has the study's own value. So deciding a point is a few
 * multiplications, no parsing, and needs no lock. Facts (sizes of the network and the like) are known once
 * the point was read; constraints that have some are asked again then.
 *
 * Parts of a sweep are points held apart by the values of keys (`per` of weft best); a sweep that has a part
 * leaves all others out in the same place.
 */
#include "study/axes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/linexpr.h"
#include "base/num.h"
#include "base/vec.h"

enum {
    N_KNOWN = SWEEP_MAX_KEYS + SWEEP_MAX_FACTS, /* keys first, then facts */
    MAX_NAMES = 128,                            /* a key by several of its last names */
};

struct limit {
    double coef[N_KNOWN];
    enum linexpr_sense sense;
    double rhs;
    bool has_facts;
};

struct sweep_where {
    struct limit *limits; /* shape [n], owned */
    int32_t n, n_axes;
    double **numbers; /* shape [n_axes], owned: of the values of an axis, [n][n_keys]; NULL = not needed */
    double fixed[SWEEP_MAX_KEYS]; /* where a grid does not vary the key: the study's own value, else NaN */
};

/* ---- names ---- */

/* What a constraint may call things; several names for one. */
struct where_names {
    const char *names[MAX_NAMES];
    int32_t of[MAX_NAMES]; /* shape [n]: index into N_KNOWN */
    int n;
};

static void add_name(struct where_names *s, const char *name, int32_t of)
{
    /* Full paths come first, so that only short names can fall off. */
    if (s->n == MAX_NAMES)
        return;
    s->names[s->n] = name;
    s->of[s->n++] = of;
}

/* Does only this key end so, and is nothing else called so? */
static bool is_unambiguous(const struct sweep *w, const struct where_names *s, int32_t key, const char *name)
{
    size_t n = strlen(name);
    for (int32_t k = 0; k < w->n_keys; k++) {
        size_t length = strlen(w->keys[k].path);
        const char *end = w->keys[k].path + (length > n ? length - n : 0);
        if (k != key && strcmp(end, name) == 0 && (end == w->keys[k].path || end[-1] == '.'))
            return false;
    }
    for (int i = 0; i < s->n; i++)
        if (s->of[i] >= SWEEP_MAX_KEYS && strcmp(s->names[i], name) == 0)
            return false;
    return true;
}

static void collect_names(struct where_names *s, const struct sweep *w, const char *const *facts)
{
    s->n = 0;
    for (int32_t i = 0; facts && facts[i]; i++)
        add_name(s, facts[i], SWEEP_MAX_KEYS + i);
    for (int32_t k = 0; k < w->n_keys; k++)
        add_name(s, w->keys[k].path, k);
    for (int32_t k = 0; k < w->n_keys; k++)
        /* "network.dims.pod.size" may be called "dims.pod.size", "pod.size" and, where nothing else is,
         * "size". */
        for (const char *dot = strchr(w->keys[k].path, '.'); dot; dot = strchr(dot + 1, '.'))
            if (is_unambiguous(w, s, k, dot + 1))
                add_name(s, dot + 1, k);
}

/* ---- reading ---- */

static int read_limit(struct limit *l, const struct where_names *s, const struct yaml_doc *doc, yaml_id id,
                      struct err *e)
{
    const char *text;
    double coef[MAX_NAMES];
    struct linexpr line = { .coef = coef };
    struct err inner = { 0 };
    int rc = yaml_text(doc, id, &text, e);
    if (rc)
        return rc;
    rc = linexpr_parse(&line, text, s->names, s->n, &inner);
    if (rc)
        return linexpr_fail(doc, id, &inner, e);
    *l = (struct limit){ .sense = line.sense, .rhs = line.rhs };
    for (int i = 0; i < s->n; i++) {
        /* A constraint may use two names of one key: their coefficients add up. */
        l->coef[s->of[i]] += coef[i];
        l->has_facts = l->has_facts || (s->of[i] >= SWEEP_MAX_KEYS && coef[i] != 0);
    }
    return 0;
}

/* ---- values ---- */

static int32_t column_of(const struct sweep_axis *axis, int32_t key)
{
    for (int32_t j = 0; j < axis->n_keys; j++)
        if (axis->keys[j] == key)
            return j;
    return -1;
}

/* ERR_RANGE: a value that is no number. Axes without the key are left as they are. */
static int read_numbers(double **out, const struct sweep *w, const struct sweep_axis *axis, int32_t key,
                        const struct yaml_doc *doc, yaml_id at, struct err *e)
{
    int32_t column = column_of(axis, key);
    if (column < 0)
        return 0;
    if (!*out)
        *out = calloc((size_t)(axis->n * axis->n_keys), sizeof **out);
    if (!*out)
        return err_nomem(e, "where");
    for (int64_t i = 0; i < axis->n; i++) {
        const char *value = axis->values[i * axis->n_keys + column];
        if (!num_parse_real(value, &(*out)[i * axis->n_keys + column]))
            return yaml_fail(doc, at, e, ERR_RANGE,
                             "asks for %.100s, which is %.60s at value %lld of %lld; expected numbers",
                             w->keys[key].path, value, (long long)i + 1, (long long)axis->n);
    }
    return 0;
}

static bool varies(const struct sweep *w, int32_t grid, int32_t key)
{
    for (int32_t k = 0; k < w->grids[grid].n_axes; k++)
        if (column_of(&w->axes[w->grids[grid].axes[k]], key) >= 0)
            return true;
    return false;
}

/* The study's own value serves where a grid does not vary the key. */
static int need_key(struct sweep_where *where, const struct sweep *w, int32_t key, const struct yaml_doc *doc,
                    yaml_id at, struct err *e)
{
    yaml_id own = yaml_find(doc, w->keys[key].path);
    int rc = 0;
    if (own < 0 || doc->nodes[own].kind != YAML_SCALAR || doc->nodes[own].quoted ||
        !num_parse_real(doc->nodes[own].text, &where->fixed[key]))
        /* No value, unless each grid varies it. */
        where->fixed[key] = NAN;
    for (int32_t a = 0; a < w->n_axes && !rc; a++) {
        rc = read_numbers(&where->numbers[a], w, &w->axes[a], key, doc, at, e);
        /* An override has one value in all rows of the axis: the first. */
        if (!rc && w->keys[key].overridden && column_of(&w->axes[a], key) >= 0)
            where->fixed[key] = where->numbers[a][column_of(&w->axes[a], key)];
    }
    for (int32_t grid = 0; grid < w->n_grids && !rc; grid++)
        if (isnan(where->fixed[key]) && !varies(w, grid, key))
            rc =
                yaml_fail(doc, at, e, ERR_RANGE,
                          "asks for %.100s, which grid %d does not vary; expected a value of it in the study",
                          w->keys[key].path, (int)grid + 1);
    return rc;
}

static int where_read_all(struct sweep_where *where, const struct sweep *w, const struct yaml_doc *doc,
                          yaml_id list, const char *const *facts, struct err *e)
{
    struct where_names names;
    int rc = 0;
    collect_names(&names, w, facts);
    yaml_each (id, doc, list) {
        struct limit *l = &where->limits[where->n++];
        rc = rc ? rc : read_limit(l, &names, doc, id, e);
        for (int32_t key = 0; key < w->n_keys && !rc; key++)
            if (l->coef[key] != 0)
                rc = need_key(where, w, key, doc, id, e);
    }
    return rc;
}

int sweep_read_where(struct sweep *w, const struct yaml_doc *doc, const char *const *facts, struct err *e)
{
    yaml_id list = yaml_get(doc, doc->root, "where");
    int rc = list < 0 ? 0 : yaml_need(doc, list, YAML_SEQ, e);
    /* An empty list constrains nothing. */
    if (rc || list < 0 || doc->nodes[list].n == 0)
        return rc;
    w->where = calloc(1, sizeof *w->where);
    if (!w->where)
        return err_nomem(e, "where");
    w->where->n_axes = w->n_axes;
    w->where->limits = calloc((size_t)doc->nodes[list].n, sizeof *w->where->limits);
    w->where->numbers = calloc((size_t)w->n_axes + 1, sizeof *w->where->numbers);
    if (!w->where->limits || !w->where->numbers)
        return err_nomem(e, "where");
    /* After a failure sweep_free() takes what is there. */
    return where_read_all(w->where, w, doc, list, facts, e);
}

void sweep_where_free(struct sweep_where *where)
{
    if (!where)
        return;
    for (int32_t a = 0; a < where->n_axes && where->numbers; a++)
        free(where->numbers[a]);
    free(where->numbers);
    free(where->limits);
    free(where);
}

/* ---- points ---- */

static double key_at(const struct sweep *w, const struct sweep_point *p, int32_t key)
{
    const struct sweep_grid *g = &w->grids[p->grid];
    for (int32_t k = 0; k < g->n_axes; k++) {
        const struct sweep_axis *axis = &w->axes[g->axes[k]];
        int32_t column = column_of(axis, key);
        if (column >= 0)
            return w->where->numbers[g->axes[k]][p->at[k] * axis->n_keys + column];
    }
    return w->where->fixed[key];
}

static bool limit_holds(const struct limit *l, const struct sweep *w, const struct sweep_point *p,
                        const double *facts)
{
    double sum = 0, size = 0;
    for (int32_t i = 0; i < N_KNOWN; i++) {
        if (l->coef[i] == 0)
            continue;
        double x = i < SWEEP_MAX_KEYS ? key_at(w, p, i) : facts[i - SWEEP_MAX_KEYS];
        /* A fact that this point has not, as sizes of a network where there is a pool, constrains nothing. */
        if (i >= SWEEP_MAX_KEYS && isnan(x))
            return true;
        sum += l->coef[i] * x;
        size += fabs(l->coef[i] * x);
    }
    return linexpr_holds(l->sense, l->rhs, sum, size);
}

/* ---- parts ---- */

static bool is_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static void take_values(struct sweep_slice *part, const struct sweep *w, const struct sweep_point *p)
{
    for (int32_t k = 0; k < part->n_keys; k++)
        part->values[k] = sweep_value(w, p, part->keys[k]);
}

bool sweep_in_part(const struct sweep *w, const struct sweep_point *p)
{
    if (!w->part)
        return true;
    struct sweep_slice own = *w->part;
    take_values(&own, w, p);
    for (int32_t k = 0; k < own.n_keys; k++)
        if (!is_same_text(own.values[k], w->part->values[k]))
            return false;
    return true;
}

struct slices {
    struct sweep_slice *list; /* shape [n], owned */
    int32_t n, cap;
    struct hash by_values;
};

static uint64_t hash_values(const struct sweep_slice *part)
{
    uint64_t hash = TEXT_HASH_SEED;
    for (int32_t k = 0; k < part->n_keys; k++) {
        const char *value = part->values[k] ? part->values[k] : "";
        hash = text_hash(hash, value, strlen(value) + 1);
    }
    return hash;
}

static int count_part(struct slices *x, const struct sweep_slice *part, int32_t most, struct err *e)
{
    uint64_t hash = hash_values(part);
    hash_each (id, &x->by_values, hash) {
        bool same = true;
        for (int32_t k = 0; k < part->n_keys; k++)
            same = same && is_same_text(x->list[id].values[k], part->values[k]);
        if (same) {
            x->list[id].n_points += part->n_points;
            return 0;
        }
    }
    if (x->n == most)
        return err_set(e, ERR_RANGE, "has more than %d combinations of values", most);
    if (!vec_reserve(x->list, x->cap, x->n + 1) || !hash_add(&x->by_values, hash, x->n))
        return err_nomem(e, "parts of a sweep");
    x->list[x->n++] = *part;
    return 0;
}

static bool axis_has(const struct sweep_axis *axis, const struct sweep_slice *part)
{
    bool has = false;
    for (int32_t j = 0; j < axis->n_keys; j++)
        for (int32_t k = 0; k < part->n_keys; k++)
            has = has || axis->keys[j] == part->keys[k];
    return has;
}

/* Every combination of the axes that have one of the keys, the others at their first values. */
static int split_grid(struct slices *x, struct sweep_slice part, const struct sweep *w, int32_t grid,
                      int32_t most, struct err *e)
{
    const struct sweep_grid *g = &w->grids[grid];
    int64_t n = 1;
    int rc = 0;
    part.n_points = 1;
    for (int32_t k = 0; k < g->n_axes; k++) {
        const struct sweep_axis *axis = &w->axes[g->axes[k]];
        int64_t *product = axis_has(axis, &part) ? &n : &part.n_points;
        *product *= axis->n; /* of numbers of points, so it is one */
    }
    if (n > SWEEP_MAX_VALUES)
        return err_set(e, ERR_RANGE, "has more than %d values", SWEEP_MAX_VALUES);
    for (int64_t i = 0; i < n && !rc; i++) {
        struct sweep_point p = { .grid = grid };
        int64_t rest = i;
        for (int32_t k = g->n_axes; k-- > 0;)
            if (axis_has(&w->axes[g->axes[k]], &part)) {
                p.at[k] = rest % w->axes[g->axes[k]].n;
                rest /= w->axes[g->axes[k]].n;
            }
        take_values(&part, w, &p);
        rc = count_part(x, &part, most, e);
    }
    return rc;
}

int sweep_find_parts(struct sweep_slice **parts, int32_t *n, const struct sweep *w, const int32_t *of,
                     int32_t n_of, int32_t most, struct err *e)
{
    struct slices x = { .n = 0 };
    struct sweep_slice part = { .n_keys = n_of };
    int rc = 0;
    for (int32_t k = 0; k < n_of; k++)
        part.keys[k] = of[k];
    for (int32_t i = 0; i < w->n_grids && !rc; i++)
        rc = split_grid(&x, part, w, i, most, e);
    hash_free(&x.by_values);
    if (rc)
        free(x.list);
    *parts = rc ? NULL : x.list;
    *n = rc ? 0 : x.n;
    return rc;
}

/* That every value it needs of a key is a number was found out when the study was read. */
bool sweep_passes(const struct sweep *w, const struct sweep_point *p, const double *facts)
{
    if (!sweep_in_part(w, p) || !sweep_fills(w, p))
        return false;
    for (int32_t i = 0; w->where && i < w->where->n; i++)
        if ((facts || !w->where->limits[i].has_facts) && !limit_holds(&w->where->limits[i], w, p, facts))
            return false;
    return true;
}
