/*
 * Reading `vary`: values of a key (lists, ranges, networks by factor), axes of one key or several,
 * quasi-random samples, grids and their unions; then points by number.
 *
 * A grid is a product of axes, a sweep a list of grids. A map of axes begins with one grid without axes; each
 * axis joins every grid there is, and a union replaces the grids by their product with its members. So the
 * number of grids is the product of the lengths of unions, whatever they are nested in, and axes are shared
 * by number, not copied.
 *
 * Points are numbers in mixed radix: point i of a grid has the digits of i - first, the last axis being the
 * lowest. No table of points exists anywhere, and shards, resumption and `where` work on numbers alone.
 */
#include "study/axes.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/num.h"
#include "base/rng.h"
#include "base/table.h"
#include "base/vec.h"

static const char *const scale_words[] = { "linear", "log", NULL };
static const char *const count_words[] = { "max", NULL };

static const struct key vary_keys[] = {
    K_ELSEWHERE("KEY", "any key, by its path as in --set: a list of values, or see vary.KEY",
                .form = "list of anything or <vary.KEY>"),
    K_ELSEWHERE("zip",
                "keys that move together: { KEY: values, .. } of equal lengths, or a list of such maps",
                .form = "map of anything or list of map of anything"),
    K_ELSEWHERE("sobol", "keys that are sampled together: see vary.sobol, or a list of such maps",
                .form = "<vary.sobol> or list of <vary.sobol>"),
    K_ELSEWHERE(
        "union",
        "grids one after another: a list of maps like vary itself, each with the axes beside the union",
        .form = "list of <vary>"),
};

static const struct key range_keys[] = {
    K_REAL(struct sweep_range, from, "from", "", 1, -1e18, 1e18, SCHEMA_NONE, "first value",
           .required = true),
    K_REAL(struct sweep_range, to, "to", "", 1, -1e18, 1e18, SCHEMA_NONE,
           "last value, included when a step ends there", .required = true),
    K_REAL(struct sweep_range, step, "step", "", 1, 1e-18, 1e18, SCHEMA_NONE,
           "distance between two values; this or points"),
    K_COUNT(struct sweep_range, points, "points", 2, SWEEP_MAX_VALUES, SCHEMA_NONE,
            "number of values, both ends included; this or step"),
    K_WORD(struct sweep_range, scale, "scale", scale_words, SCHEMA_NONE,
           "of points: equal differences or equal ratios (default: linear)"),
    K_WORD(struct sweep_range, count, "count", count_words, SCHEMA_NONE,
           "max: for each combination of the other axes, only the largest value that the limits in "
           "keep.where on power, racks or money allow (default: all values)"),
    K_ELSEWHERE("factor",
                "instead of all others, for KEY network: all networks of a number of NPUs, see vary.factor",
                .form = "<vary.factor>"),
};

/* Columns of an axis while it is read. */
struct draft {
    struct sweep_column columns[SWEEP_MAX_KEYS];
    yaml_id at[SWEEP_MAX_KEYS];
    int32_t n_keys;
    int64_t points, skip; /* of samples: so many of the sequence, after its first `skip` */
};

static const struct key sobol_keys[] = {
    K_COUNT(struct draft, points, "points", 1, SWEEP_MAX_VALUES, SCHEMA_NONE, "number of samples",
            .required = true),
    K_COUNT(struct draft, skip, "skip", 0, 1e8, 0, "points of the sequence left out before the first"),
    K_ELSEWHERE("keys",
                "{ KEY: { from, to, scale } or a list, or a range as in vary.KEY, of which values are picked "
                "evenly }",
                .required = true, .form = "map of anything"),
};

K_SECTION(sweep_vary_section, struct sweep_range, "vary", vary_keys,
          "what varies: every combination of these axes");
K_SECTION(sweep_range_section, struct sweep_range, "vary.KEY", range_keys,
          "the values of an axis as a range, in place of a list");
K_SECTION(sweep_sobol_section, struct draft, "vary.sobol", sobol_keys,
          "one axis of quasi-random points (Sobol)");

/* ---- values as YAML text ---- */

/* Text that means the same with and without what stands around it in a list. */
static bool is_simple(const char *s)
{
    static const char safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+-";
    return *s && s[strspn(s, safe)] == '\0';
}

/* A JSON text is one of YAML, but for DEL and U+0080 to U+009F, which YAML has escaped only. */
static void axes_put_quoted(struct text *out, const char *s)
{
    struct text json = { 0 };
    struct json j = { .out = &json };
    json_text(&j, NULL, s);
    for (const unsigned char *c = (const unsigned char *)text_str(&json); *c; c++)
        if (*c == 0x7F)
            text_puts(out, "\\x7F");
        else if (*c == 0xC2 && c[1] >= 0x80 && c[1] < 0xA0)
            text_printf(out, "\\x%02X", *++c);
        else
            text_add(out, (const char *)c, 1);
    out->failed = out->failed || json.failed;
    text_free(&json);
}

void sweep_put_yaml(struct text *out, const struct yaml_doc *doc, yaml_id id, bool inside)
{
    const struct yaml_node *node = &doc->nodes[id];
    if (node->kind == YAML_SCALAR) {
        if (yaml_is_null(doc, id))
            text_puts(out, "~");
        else if (!node->quoted && (!inside || is_simple(node->text)))
            text_puts(out, node->text);
        else
            axes_put_quoted(out, node->text);
        return;
    }
    text_puts(out, node->kind == YAML_MAP ? "{" : "[");
    yaml_each (child, doc, id) {
        if (doc->nodes[child].index)
            text_puts(out, ", ");
        if (node->kind == YAML_MAP) {
            axes_put_quoted(out, doc->nodes[child].key);
            text_puts(out, ": ");
        }
        sweep_put_yaml(out, doc, child, true);
    }
    text_puts(out, node->kind == YAML_MAP ? "}" : "]");
}

void sweep_column_put(struct sweep_column *c, const char *value)
{
    text_add(&c->text, value, strlen(value) + 1);
    c->n++;
}

void sweep_column_free(struct sweep_column *c)
{
    text_free(&c->text);
    *c = (struct sweep_column){ 0 };
}

static int axes_read_list(struct sweep_column *c, const struct yaml_doc *doc, yaml_id list, struct err *e)
{
    /* Values are kept as text and read by whoever reads the key: 1e3 and 1000 stay what the user wrote. */
    int32_t n = doc->nodes[list].n;
    if (n == 0)
        return yaml_fail(doc, list, e, ERR_PARSE, "is empty, expected at least one value");
    if (n > SWEEP_MAX_VALUES)
        return yaml_fail(doc, list, e, ERR_RANGE, "has %d values, expected at most %d", (int)n,
                         SWEEP_MAX_VALUES);
    yaml_each (id, doc, list) {
        sweep_put_yaml(&c->text, doc, id, false);
        text_add(&c->text, "", 1);
        c->n++;
    }
    return text_check(&c->text, e);
}

/* ---- ranges ---- */

/*
 * Sums and products of decimals miss the decimal they mean by a few units in the
 * last place: 3 * 0.1 is 0.30000000000000004. Rounded to the 15th digit of the
 * range's largest value it is 0.3.
 */
static double clean(double x, double largest)
{
    char text[512];
    int decimals = 14 - (int)floor(log10(largest));
    snprintf(text, sizeof text, "%.*f", decimals > 0 ? decimals : 0, x);
    return strtod(text, NULL) + 0.0; /* -0 becomes 0 */
}

static double range_value(const struct sweep_range *r, int64_t i)
{
    /* The ends are what was written; only what lies between is computed. */
    double largest = fmax(fabs(r->from), fabs(r->to)), share = (double)i / (double)(r->points - 1);
    char text[NUM_TEXT];
    if (!isnan(r->step))
        return clean(r->from + (double)i * r->step, fmax(largest, r->step));
    if (i == 0 || i == r->points - 1)
        return i ? r->to : r->from;
    if (r->scale != RANGE_LOG)
        return clean(r->from + (r->to - r->from) * share, largest);
    /* The functions of another C library may differ in the last digits. */
    snprintf(text, sizeof text, "%.12g", r->from * exp(log(r->to / r->from) * share));
    return strtod(text, NULL);
}

static int check_ends(const struct sweep_range *r, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    if (!(r->to > r->from))
        return yaml_fail(doc, yaml_get(doc, map, "to"), e, ERR_RANGE, "is %g, expected more than from, %g",
                         r->to, r->from);
    if (r->scale == RANGE_LOG && !(r->from > 0))
        return yaml_fail(doc, yaml_get(doc, map, "from"), e, ERR_RANGE,
                         "is %g, expected more than 0 with scale log", r->from);
    return 0;
}

static int fail_fill(const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    return yaml_fail_key(doc, yaml_get(doc, map, "count"), e, ERR_PARSE,
                         "is for an axis of its own, not for keys that move together");
}

static int check_range(const struct sweep_range *r, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    if (isnan(r->step) == (r->points < 0))
        return yaml_fail(doc, map, e, ERR_PARSE, "has %s; give one of step and points",
                         isnan(r->step) ? "neither" : "both");
    if (!isnan(r->step) && r->scale >= 0)
        return yaml_fail_key(doc, yaml_get(doc, map, "scale"), e, ERR_PARSE,
                             "has no effect with step, only with points");
    return check_ends(r, doc, map, e);
}

static int read_range(struct sweep_column *c, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    struct sweep_range r;
    char text[NUM_TEXT];
    int rc = schema_read(&r, &sweep_range_section, doc, map, e);
    if (!rc)
        rc = check_range(&r, doc, map, e);
    if (rc)
        return rc;
    /* The last step may miss `to` by rounding. */
    double n = isnan(r.step) ? (double)r.points : floor((r.to - r.from) / r.step + 1e-9) + 1;
    if (n > SWEEP_MAX_VALUES)
        return yaml_fail(doc, map, e, ERR_RANGE, "has %.0f values, expected at most %d", n, SWEEP_MAX_VALUES);
    for (int64_t i = 0; i < (int64_t)n; i++)
        sweep_column_put(c, num_format(text, range_value(&r, i)));
    /* Numbers name no files, so whoever looks for files of a study need not look at each. */
    c->generated = true;
    c->fills = r.count >= 0;
    return text_check(&c->text, e);
}

/* ---- samples between two ends ---- */

int sweep_read_between(struct sweep_range *r, bool *is_between, const struct yaml_doc *doc, yaml_id id,
                       struct err *e)
{
    *is_between = doc->nodes[id].kind == YAML_MAP && yaml_get(doc, id, "step") < 0 &&
                  yaml_get(doc, id, "points") < 0 && yaml_get(doc, id, "factor") < 0;
    if (!*is_between)
        return 0;
    int rc = schema_read(r, &sweep_range_section, doc, id, e);
    return rc ? rc : r->count >= 0 ? fail_fill(doc, id, e) : check_ends(r, doc, id, e);
}

const char *sweep_between(char buf[NUM_TEXT], const struct sweep_range *r, double share)
{
    double x = r->from + (r->to - r->from) * share;
    if (r->scale == RANGE_LOG) {
        x = elementary_log(r->to / r->from) * share;
        elementary_exp(&x, 1);
        x *= r->from;
    }
    /* 12 digits: what the functions of another machine might do to the last bits is rounded away. */
    snprintf(buf, NUM_TEXT, "%.12g", fmin(fmax(x, r->from), r->to));
    return num_format(buf, strtod(buf, NULL) + 0.0);
}

/* ---- all of these ---- */

/* It makes whole networks, so it can stand at no other key, and beside no end or step. */
static int read_factor(struct sweep_column *c, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    yaml_id factor = yaml_get(doc, map, "factor");
    yaml_each (id, doc, map)
        if (id != factor)
            return yaml_fail_key(doc, id, e, ERR_PARSE, "is given together with factor; give one of them");
    if (strcmp(doc->nodes[map].key, "network") != 0)
        return yaml_fail_key(doc, factor, e, ERR_PARSE, "gives networks, expected the key network for it");
    return sweep_factor_read(c, doc, factor, e);
}

int sweep_column_read(struct sweep_column *c, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    char shown[YAML_SHOWN];
    if (doc->nodes[id].kind == YAML_SEQ)
        return axes_read_list(c, doc, id, e);
    if (doc->nodes[id].kind == YAML_MAP && yaml_get(doc, id, "factor") >= 0)
        return read_factor(c, doc, id, e);
    if (doc->nodes[id].kind == YAML_MAP)
        return read_range(c, doc, id, e);
    return yaml_fail(doc, id, e, ERR_PARSE, "is %s, expected a list of values or a range { from, to, step }",
                     yaml_show(doc, id, shown));
}

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
    /* A wrong key is a slip in spelling most of the time, so the nearest is named. */
    const char *near = text_nearest(key, names, n);
    struct text why = { 0 };
    text_printf(&why, " (\"%.60s\" is no key of %s)", key, s->name);
    if (near)
        text_printf(&why, "; did you mean \"%s\"?", near);
    int rc = yaml_fail_unknown(doc, id, e, "%s", text_str(&why));
    text_free(&why);
    return rc;
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

static const struct key *key_called(const struct section *s, const char *name)
{
    for (size_t i = 0; i < s->n_keys; i++)
        if (strcmp(s->keys[i].name, name) == 0)
            return &s->keys[i];
    return NULL;
}

const struct key *sweep_find_key(const struct section *root, const char *path)
{
    for (const struct section *s = root; s;) {
        char name[64];
        bool is_list = false, indexed = path[strcspn(path, ".[")] == '[';
        path = take_name(name, path);
        const struct key *k = key_called(s, name);
        s = k ? section_below(s, name, &is_list) : NULL;
        if (is_list && !indexed && *path)
            path = take_name(name, path); /* the name of a member */
        if (!*path)
            return k && !is_list ? k : NULL;
    }
    return NULL;
}

int sweep_check_path(const struct section *root, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    static const char *const fixed[] = { "vary", "name", "source" };
    const char *path = doc->nodes[id].key;
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        if (strcmp(path, fixed[i]) == 0)
            return yaml_fail_key(doc, id, e, ERR_PARSE, "cannot vary");
    const struct section *s = root;
    /* As far down as tables of keys reach; what is below is checked when the point is read. */
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
            /* Of a column of one value (an override's) every row points to the same text. */
            bool again = i > 0 && columns[j].n == 1;
            axis->values[i * axis->n_keys + j] = again ? axis->values[j] : at;
            if (!again)
                at += strlen(at) + 1;
        }
}

int sweep_axis_fill(struct sweep_axis *axis, struct sweep_column *columns, int64_t n, struct err *e)
{
    /* All texts of the axis end up in one allocation, the first column's. */
    struct text *all = &columns[0].text;
    axis->generated = true;
    axis->fills = columns[0].fills && axis->n_keys == 1;
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

/* Grids as far as they are read; their points are numbered at the end. */
struct grids {
    struct sweep_grid *items; /* shape [n], owned */
    int32_t n, cap;
};

struct axes_reader {
    struct sweep *w;
    const struct section *root;
    const struct yaml_doc *doc;
    const struct study_source *from;
    yaml_id (*places)[SWEEP_MAX_KEYS]; /* shape [w->n_axes], owned: where the keys of an axis stand */
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
static int take_key(struct axes_reader *r, yaml_id id, int32_t *out, struct err *e)
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
        return yaml_fail_key(r->doc, id, e, ERR_RANGE, "is key number %d that varies, expected at most %d",
                             SWEEP_MAX_KEYS + 1, SWEEP_MAX_KEYS);
    struct sweep_key *key = &w->keys[w->n_keys];
    *key = (struct sweep_key){ strdup(path), find_override(r->from, path) != NULL, id };
    if (!key->path)
        return err_nomem(e, "an axis");
    w->n_keys++;
    return 0;
}

/* ---- axes ---- */

static void draft_free(struct draft *d)
{
    for (int32_t j = 0; j < d->n_keys; j++)
        sweep_column_free(&d->columns[j]);
}

/* Room for the axis that comes next. */
static int reserve_axis(struct axes_reader *r, struct err *e)
{
    bool room = vec_reserve(r->w->axes, r->cap_axes, r->w->n_axes + 1) &&
                vec_reserve(r->places, r->cap_places, r->w->n_axes + 1);
    return room ? 0 : err_nomem(e, "an axis");
}

/* One value in place of a column whose key an override sets. */
static void override_column(struct sweep_column *c, const char *value)
{
    sweep_column_free(c);
    sweep_column_put(c, value);
}

/* The draft, of `n` values, as the last axis of the sweep; used up. */
static int add_axis(struct axes_reader *r, struct draft *d, int64_t n, struct err *e)
{
    struct sweep_axis axis = { .n_keys = d->n_keys };
    bool all = true;
    int rc = reserve_axis(r, e);
    for (int32_t j = 0; j < d->n_keys && !rc; j++) {
        rc = take_key(r, d->at[j], &axis.keys[j], e);
        const char *value = find_override(r->from, r->doc->nodes[d->at[j]].key);
        if (value)
            override_column(&d->columns[j], value);
        /* An axis all of whose keys are overridden has one value left; of a zip that is overridden in part
         * the others still vary. */
        all = all && value;
    }
    if (!rc)
        rc = sweep_axis_fill(&axis, d->columns, all ? 1 : n, e);
    if (rc)
        return rc;
    memcpy(r->places[r->w->n_axes], d->at, sizeof d->at);
    r->w->axes[r->w->n_axes++] = axis;
    return 0;
}

/* A map of keys that move together: some, and no more than an axis may have. */
static int check_keys(const struct axes_reader *r, yaml_id map, struct err *e)
{
    int rc = yaml_need(r->doc, map, YAML_MAP, e);
    if (rc)
        return rc;
    if (r->doc->nodes[map].n == 0)
        return yaml_fail(r->doc, map, e, ERR_PARSE, "is empty, expected at least one key");
    if (r->doc->nodes[map].n > SWEEP_MAX_KEYS)
        return yaml_fail(r->doc, map, e, ERR_RANGE, "has %d keys, expected at most %d",
                         (int)r->doc->nodes[map].n, SWEEP_MAX_KEYS);
    return 0;
}

/* ---- a key alone, and keys in step ---- */

/* The next column of a draft; the key is checked first, as a slip there explains what follows. */
static int read_column(struct axes_reader *r, struct draft *d, yaml_id id, struct err *e)
{
    int rc = sweep_check_path(r->root, r->doc, id, e);
    d->at[d->n_keys] = id;
    return rc ? rc : sweep_column_read(&d->columns[d->n_keys++], r->doc, id, e);
}

/* A slip in "zip" and the like is none in a key of the study. */
static int check_form(const struct axes_reader *r, yaml_id id, struct err *e)
{
    static const char *const forms[] = { "zip", "sobol", "union" };
    const char *key = r->doc->nodes[id].key, *near = text_nearest(key, forms, sizeof forms / sizeof forms[0]);
    bool is_key = false;
    for (size_t i = 0; i < r->root->n_keys; i++)
        is_key = is_key || strcmp(r->root->keys[i].name, key) == 0;
    return is_key || !near ? 0 : yaml_fail_unknown(r->doc, id, e, "; did you mean \"%s\"?", near);
}

static int read_plain(struct axes_reader *r, yaml_id id, struct err *e)
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

static int read_zip(struct axes_reader *r, yaml_id map, struct err *e)
{
    struct draft d = { .n_keys = 0 };
    int rc = check_keys(r, map, e);
    if (rc)
        return rc;
    yaml_each (id, r->doc, map) {
        rc = rc ? rc : read_column(r, &d, id, e);
        if (!rc && d.columns[d.n_keys - 1].fills)
            rc = fail_fill(r->doc, id, e);
        const struct sweep_column *last = &d.columns[d.n_keys ? d.n_keys - 1 : 0];
        /* Keys that move together have as many values; all are held against the first. */
        if (!rc && last->n != d.columns[0].n)
            rc = yaml_fail(r->doc, id, e, ERR_RANGE, "has %lld value%s, expected %lld as %.100s has",
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
    struct sweep_range range;
    struct sweep_axis list;
};

static int read_sampled(struct sampled *s, const struct axes_reader *r, yaml_id id, struct err *e)
{
    struct sweep_column c = { 0 };
    *s = (struct sampled){ .list = { .n_keys = 1 } };
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): each coordinate has a place of its own */
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
        /* x < 1, so the index is below n: the list has at most 10^6 values and x is a multiple of 2^-30. */
        sweep_column_put(c, s->list.values[(int64_t)(x * (double)s->list.n)]);
    c->generated = s->is_between;
}

static int sobol_draw(struct draft *d, const struct sampled *s, struct err *e)
{
    struct rng_sobol *sobol;
    double x[SWEEP_MAX_KEYS];
    int rc = rng_sobol_build(&sobol, d->n_keys, e);
    /* The sequence has no short way to its n-th point here: those skipped are made and dropped. */
    for (int64_t i = 0; i < d->skip + d->points && !rc; i++) {
        rng_sobol_next(sobol, x);
        for (int32_t j = 0; j < d->n_keys && i >= d->skip; j++)
            put_sample(&d->columns[j], &s[j], x[j]);
    }
    rng_sobol_free(sobol);
    for (int32_t j = 0; j < d->n_keys && !rc; j++)
        rc = text_check(&d->columns[j].text, e);
    return rc;
}

static int read_samples(struct axes_reader *r, struct draft *d, yaml_id keys, struct err *e)
{
    struct sampled s[SWEEP_MAX_KEYS];
    int rc = 0;
    yaml_each (id, r->doc, keys) {
        if (rc)
            break;
        d->at[d->n_keys] = id;
        rc = read_sampled(&s[d->n_keys++], r, id, e);
    }
    if (!rc)
        rc = sobol_draw(d, s, e);
    if (!rc)
        rc = add_axis(r, d, d->points, e);
    for (int32_t j = 0; j < d->n_keys; j++)
        sweep_axis_free(&s[j].list);
    draft_free(d);
    return rc;
}

static int read_sobol(struct axes_reader *r, yaml_id map, struct err *e)
{
    struct draft d = { .n_keys = 0 };
    yaml_id keys = yaml_get(r->doc, map, "keys");
    int rc = schema_read(&d, &sweep_sobol_section, r->doc, map, e);
    if (!rc)
        rc = check_keys(r, keys, e);
    return rc ? rc : read_samples(r, &d, keys, e);
}

/* ---- grids ---- */

static void grids_free(struct grids *g)
{
    free(g->items);
    *g = (struct grids){ 0 };
}

static int push_grid(const struct axes_reader *r, struct grids *to, const struct sweep_grid *grid, yaml_id at,
                     struct err *e)
{
    /* Unions of unions multiply: this stops them before memory does. */
    if (to->n == SWEEP_MAX_GRIDS)
        return yaml_fail(r->doc, at, e, ERR_RANGE, "makes more than %d grids", SWEEP_MAX_GRIDS);
    if (!vec_reserve(to->items, to->cap, to->n + 1))
        return err_nomem(e, "grids");
    to->items[to->n++] = *grid;
    return 0;
}

static bool has_key(const struct axes_reader *r, const struct sweep_grid *grid, int32_t key)
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
static int join_axis(const struct axes_reader *r, struct sweep_grid *grid, int32_t axis, struct err *e)
{
    const struct sweep_axis *a = &r->w->axes[axis];
    for (int32_t j = 0; j < a->n_keys; j++)
        if (has_key(r, grid, a->keys[j]))
            return yaml_fail_key(
                r->doc, r->places[axis][j], e, ERR_RANGE,
                "varies twice: also as key %.100s of another axis that this one is combined with",
                r->w->keys[a->keys[j]].path);
    grid->axes[grid->n_axes++] = axis;
    return 0;
}

/* Axes first.. of the sweep into every grid. */
static int join_axes(const struct axes_reader *r, struct grids *to, int32_t first, struct err *e)
{
    int rc = 0;
    for (int32_t axis = first; axis < r->w->n_axes; axis++)
        for (int32_t i = 0; i < to->n && !rc; i++)
            rc = join_axis(r, &to->items[i], axis, e);
    return rc;
}

/* Every grid with every member of a union, a member at a time. */
static int join_members(const struct axes_reader *r, struct grids *to, const struct grids *members,
                        yaml_id at, struct err *e)
{
    struct grids all = { 0 };
    int rc = 0;
    /* Members outermost: the points of the first member come before all points of the second. */
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

static int read_grids(struct axes_reader *r, struct grids *out, yaml_id id, struct err *e);

static int read_members(struct axes_reader *r, struct grids *out, yaml_id list, struct err *e)
{
    int rc = yaml_need_list(r->doc, list, INT32_MAX, "one map of axes", e);
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

static int read_union(struct axes_reader *r, struct grids *to, yaml_id list, struct err *e)
{
    struct grids members = { 0 };
    int rc = read_members(r, &members, list, e);
    if (!rc)
        rc = join_members(r, to, &members, list, e);
    grids_free(&members);
    return rc;
}

/* One map or each of a list of maps. */
static int read_each(struct axes_reader *r, yaml_id id,
                     int (*read)(struct axes_reader *, yaml_id, struct err *), struct err *e)
{
    int rc = 0;
    if (r->doc->nodes[id].kind != YAML_SEQ)
        return read(r, id, e);
    if (r->doc->nodes[id].n == 0)
        return yaml_fail(r->doc, id, e, ERR_PARSE, "is empty, expected at least one map of keys");
    yaml_each (member, r->doc, id)
        rc = rc ? rc : read(r, member, e);
    return rc;
}

static int read_part(struct axes_reader *r, struct grids *to, yaml_id id, struct err *e)
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

static int read_grids(struct axes_reader *r, struct grids *out, yaml_id id, struct err *e)
{
    char shown[YAML_SHOWN];
    const struct yaml_node *node = &r->doc->nodes[id];
    if (node->kind == YAML_SEQ)
        return read_members(r, out, id, e);
    if (node->kind != YAML_MAP)
        return yaml_fail(r->doc, id, e, ERR_PARSE, "is %s, expected a map of axes or a list of such maps",
                         yaml_show(r->doc, id, shown));
    if (node->n == 0)
        return yaml_fail(r->doc, id, e, ERR_PARSE, "is empty, expected at least one axis");
    /* One grid without axes has one point: the empty product. */
    int rc = push_grid(r, out, &(struct sweep_grid){ 0 }, id, e);
    yaml_each (part, r->doc, id)
        rc = rc ? rc : read_part(r, out, part, e);
    return rc;
}

/* ---- points ---- */

static int fail_points(const struct axes_reader *r, yaml_id at, int64_t most, struct err *e)
{
    char number[32] = "2^63 - 1";
    if (most < INT64_MAX)
        snprintf(number, sizeof number, "%lld", (long long)most);
    const char *format = "makes more than %s points; use fewer values";
    return r->doc->nodes[at].key && at != yaml_get(r->doc, r->doc->root, "vary")
               ? yaml_fail_key(r->doc, at, e, ERR_RANGE, format, number)
               : yaml_fail(r->doc, at, e, ERR_RANGE, format, number);
}

static int number_points(struct axes_reader *r, int64_t most, struct err *e)
{
    struct sweep *w = r->w;
    w->n_points = 0;
    for (int32_t i = 0; i < w->n_grids; i++) {
        struct sweep_grid *g = &w->grids[i];
        g->first = w->n_points;
        g->n_points = 1;
        for (int32_t k = 0; k < g->n_axes; k++)
            /* Checked axis by axis, so that the message names the first that is too much. */
            if (!num_mul(g->n_points, w->axes[g->axes[k]].n, &g->n_points) || g->n_points > most)
                return fail_points(r, r->places[g->axes[k]][0], most, e);
        if (!num_add(w->n_points, g->n_points, &w->n_points) || w->n_points > most)
            return fail_points(r, yaml_get(r->doc, r->doc->root, "vary"), most, e);
    }
    return 0;
}

int sweep_read_axes(struct sweep *w, const struct section *root, const struct yaml_doc *doc,
                    const struct study_source *from, int64_t most, struct err *e)
{
    struct axes_reader r = { .w = w, .root = root, .doc = doc, .from = from };
    struct grids grids = { 0 };
    yaml_id vary = yaml_get(doc, doc->root, "vary");
    if (vary < 0)
        return yaml_fail(doc, doc->root, e, ERR_PARSE, "has no vary, the axes of the sweep");
    int rc = read_grids(&r, &grids, vary, e);
    w->grids = grids.items;
    w->n_grids = grids.n;
    if (!rc)
        rc = number_points(&r, most, e);
    free(r.places);
    return rc;
}

/* ---- points ---- */

/* The last grid that begins at or before i; grids have at least one point each, so it is the one. */
static const struct sweep_grid *grid_of(const struct sweep *w, int64_t i)
{
    return &w->grids[vec_find(w->grids, w->n_grids, sizeof *w->grids, offsetof(struct sweep_grid, first),
                              i + 1) -
                     1];
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

/* The inverse of sweep_find_point(). */
static int64_t point_number(const struct sweep *w, const struct sweep_point *p)
{
    const struct sweep_grid *g = &w->grids[p->grid];
    int64_t i = 0;
    for (int32_t k = 0; k < g->n_axes; k++)
        i = i * w->axes[g->axes[k]].n + p->at[k];
    return g->first + i;
}

int64_t sweep_base(const struct sweep *w, int64_t point, const int64_t *at)
{
    struct sweep_point p;
    if (!w->n_grids)
        return point;
    sweep_find_point(&p, w, point);
    const struct sweep_grid *g = &w->grids[p.grid];
    for (int32_t k = 0; k < g->n_axes; k++)
        p.at[k] = at[g->axes[k]] < 0 ? p.at[k] : at[g->axes[k]];
    return point_number(w, &p);
}

int64_t sweep_base_members(const struct sweep *w, int64_t base, const int64_t *at)
{
    int64_t n = 1;
    if (!w->n_grids)
        return n;
    const struct sweep_grid *g = grid_of(w, base);
    for (int32_t k = 0; k < g->n_axes; k++)
        n *= at[g->axes[k]] < 0 ? 1 : w->axes[g->axes[k]].n;
    return n;
}

int64_t sweep_base_member(const struct sweep *w, int64_t base, const int64_t *at, int64_t i)
{
    struct sweep_point p;
    if (!w->n_grids)
        return base;
    sweep_find_point(&p, w, base);
    const struct sweep_grid *g = &w->grids[p.grid];
    for (int32_t k = g->n_axes; k-- > 0;)
        if (at[g->axes[k]] >= 0) {
            p.at[k] = i % w->axes[g->axes[k]].n;
            i /= w->axes[g->axes[k]].n;
        }
    return point_number(w, &p);
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

static bool is_shifted(const struct sweep *w, const struct sweep_point *p)
{
    if (!w->shift.at.path || w->shift.key < 0)
        return w->shift.at.path != NULL;
    const char *value = sweep_value(w, p, w->shift.key);
    return value && strcmp(value, w->shift.value) == 0;
}

int32_t sweep_point_overrides(struct study_override *axes, const struct sweep *w, const struct sweep_point *p)
{
    int32_t n = 0;
    for (int32_t k = 0; k < w->n_keys; k++) {
        const char *value = w->keys[k].overridden ? NULL : sweep_value(w, p, k);
        if (value)
            axes[n++] = (struct study_override){ w->keys[k].path, value };
    }
    if (is_shifted(w, p))
        axes[n++] = w->shift.at;
    return n;
}

/* ---- axes that fill a limit ---- */

enum { MAX_FILLED = 1000000 };

/* The number of a point's combination among the axes that matter; with NULL how many there are. */
static int64_t fill_index(const struct sweep *w, int32_t grid, const int64_t *at)
{
    const struct sweep_grid *g = &w->grids[grid];
    int64_t index = 0, n = 1;
    for (int32_t k = 0; k < g->n_axes; k++)
        if (w->fills[grid].matters[k]) {
            int64_t size = w->axes[g->axes[k]].n;
            index = index * size + (at ? at[k] : 0);
            n = n > MAX_FILLED ? n : n * size;
        }
    return at ? index : n;
}

bool sweep_fills(const struct sweep *w, const struct sweep_point *p)
{
    const struct sweep_fill *f = w->fills ? &w->fills[p->grid] : NULL;
    return !f || f->axis < 0 || f->chosen[fill_index(w, p->grid, p->at)] == p->at[f->axis];
}

static bool begins(const char *path, const char *const *words)
{
    for (; *words; words++)
        if (strncmp(path, *words, strlen(*words)) == 0)
            return true;
    return false;
}

static int plan_fill(struct sweep *w, int32_t grid, const char *const *ignored, const struct yaml_doc *doc,
                     struct err *e)
{
    const struct sweep_grid *g = &w->grids[grid];
    struct sweep_fill *f = &w->fills[grid];
    *f = (struct sweep_fill){ .axis = -1 };
    for (int32_t k = 0; k < g->n_axes; k++) {
        const struct sweep_axis *axis = &w->axes[g->axes[k]];
        const struct sweep_key *key = &w->keys[axis->keys[0]];
        for (int32_t j = 0; j < axis->n_keys && !axis->fills; j++)
            f->matters[k] = f->matters[k] || !begins(w->keys[axis->keys[j]].path, ignored);
        if (axis->fills && f->axis >= 0)
            return yaml_fail_key(doc, key->at, e, ERR_RANGE,
                                 "is the second axis of its grid with count: max; one "
                                 "can fill a limit");
        f->axis = axis->fills ? k : f->axis;
    }
    int64_t n = f->axis < 0 ? 0 : fill_index(w, grid, NULL);
    if (n > MAX_FILLED)
        return err_set(e, ERR_RANGE,
                       "an axis with count: max has more than %d combinations of others beside it",
                       MAX_FILLED);
    f->chosen = f->axis < 0 ? NULL : malloc((size_t)n * sizeof *f->chosen);
    return f->axis < 0 || f->chosen ? 0 : err_nomem(e, "axes that fill a limit");
}

/* The largest value within the limit of one combination. */
static int fill_one(int64_t *chosen, const struct sweep *w, struct sweep_point p, sweep_within *within,
                    void *data, const struct yaml_doc *doc, struct err *e)
{
    const struct sweep_axis *axis = &w->axes[w->grids[p.grid].axes[w->fills[p.grid].axis]];
    int64_t *at = &p.at[w->fills[p.grid].axis], fits = -1;
    bool is;
    *at = axis->n - 1;
    int rc = within(data, &p, &is, e);
    if (!rc && is)
        return yaml_fail_key(
            doc, w->keys[axis->keys[0]].at, e, ERR_RANGE,
            "with count: max ends at %s, where no limit of keep.where is reached; give a larger end",
            axis->values[axis->n - 1]);
    int64_t beyond = axis->n - 1;
    while (!rc && beyond - fits > 1) {
        *at = fits + (beyond - fits) / 2;
        rc = within(data, &p, &is, e);
        fits = is ? *at : fits;
        beyond = is ? beyond : *at;
    }
    *chosen = fits;
    return rc;
}

static int fill_grid(struct sweep *w, int32_t grid, sweep_within *within, void *data,
                     const struct yaml_doc *doc, struct err *e)
{
    const struct sweep_grid *g = &w->grids[grid];
    int64_t n = fill_index(w, grid, NULL);
    int rc = 0;
    for (int64_t i = 0; i < n && !rc; i++) {
        struct sweep_point p = { .grid = grid };
        int64_t rest = i;
        for (int32_t k = g->n_axes - 1; k >= 0; k--)
            if (w->fills[grid].matters[k]) {
                p.at[k] = rest % w->axes[g->axes[k]].n;
                rest /= w->axes[g->axes[k]].n;
            }
        rc = fill_one(&w->fills[grid].chosen[i], w, p, within, data, doc, e);
    }
    return rc;
}

const struct sweep_key *sweep_filled_key(const struct sweep *w)
{
    for (int32_t i = 0; i < w->n_axes; i++)
        if (w->axes[i].fills)
            return &w->keys[w->axes[i].keys[0]];
    return NULL;
}

int sweep_fill_axes(struct sweep *w, const char *const *ignored, sweep_within *within, void *data,
                    const struct yaml_doc *doc, struct err *e)
{
    int rc = 0;
    if (!sweep_filled_key(w))
        return 0;
    w->fills = calloc((size_t)w->n_grids, sizeof *w->fills);
    if (!w->fills)
        return err_nomem(e, "axes that fill a limit");
    for (int32_t i = 0; i < w->n_grids && !rc; i++)
        rc = plan_fill(w, i, ignored, doc, e);
    for (int32_t i = 0; i < w->n_grids && !rc; i++)
        if (w->fills[i].axis >= 0)
            rc = fill_grid(w, i, within, data, doc, e);
    return rc;
}

/* Every value in order, as text: another spelling of a number is another sweep to it. */
unsigned long long sweep_hash(const struct sweep *w, unsigned long long hash)
{
    for (int32_t k = 0; k < w->n_axes; k++)
        for (int64_t i = 0; i < w->axes[k].n * w->axes[k].n_keys; i++)
            hash = text_hash(hash, w->axes[k].values[i], strlen(w->axes[k].values[i]));
    return hash;
}

/* ---- reading ---- */

int sweep_check_seeds(const struct sweep *w, int64_t seeds, const struct yaml_doc *doc, struct err *e)
{
    int64_t runs;
    if (num_mul(w->n_points, seeds, &runs) && runs <= SWEEP_MAX_POINTS)
        return 0;
    return yaml_fail(doc, doc->root, e, ERR_RANGE, "has %lld points of %lld seeds, expected at most %d runs",
                     (long long)w->n_points, (long long)seeds, SWEEP_MAX_POINTS);
}

void sweep_free(struct sweep *w)
{
    for (int32_t k = 0; k < w->n_axes; k++)
        sweep_axis_free(&w->axes[k]);
    for (int32_t k = 0; k < w->n_keys; k++)
        free(w->keys[k].path);
    free(w->axes);
    free(w->grids);
    for (int32_t i = 0; i < w->n_grids && w->fills; i++)
        free(w->fills[i].chosen);
    free(w->fills);
    sweep_where_free(w->where);
    *w = (struct sweep){ 0 };
}
