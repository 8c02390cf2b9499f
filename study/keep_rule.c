#include "study/keep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/linexpr.h"
#include "study/kind.h"

/* ---- keys ---- */

struct keep_conf {
    yaml_id front, per, top, where;
    bool prune;
};

struct top_conf {
    yaml_id by;
    int64_t n;
};

#define LIST(key, text)                                                                                      \
    {                                                                                                        \
        .name = #key, .help = text, .kind = KEY_NODE, .offset = offsetof(struct keep_conf, key), .unit = "", \
        .dflt = SCHEMA_NONE                                                                                  \
    }

static const struct key keep_keys[] = {
    LIST(front, "keep the Pareto front over these 2 to 5 columns of the rows; less is better, or more: "
                "max:speedup"),
    LIST(per, "hold rows apart that differ in these columns; absent: workload, and keys below it that vary"),
    LIST(top, "keep the best few, see keep.top"),
    LIST(where, "keep rows within all these limits over columns alone: \"cost_usd <= 2e6\""),
    { .name = "prune",
      .help = "true: points that are proved to be behind the front are not solved; absent: false",
      .kind = KEY_BOOL,
      .offset = offsetof(struct keep_conf, prune),
      .unit = "",
      .dflt = 0 },
};

static const struct key top_keys[] = {
    { .name = "by",
      .help = "column; less is better, or more: max:speedup",
      .kind = KEY_NODE,
      .required = true,
      .offset = offsetof(struct top_conf, by),
      .unit = "",
      .dflt = SCHEMA_NONE },
    { .name = "n",
      .help = "how many for each group of per; of equal ones the lower points",
      .kind = KEY_COUNT,
      .required = true,
      .offset = offsetof(struct top_conf, n),
      .unit = "",
      .scale = 1,
      .min = 1,
      .max = 1e9,
      .dflt = SCHEMA_NONE },
};

const struct section keep_section = {
    .name = "keep",
    .help = "which rows of a sweep are stored; absent: all. Points are seen, counted "
            "and left out",
    .keys = keep_keys,
    .n_keys = sizeof keep_keys / sizeof keep_keys[0]
};
const struct section keep_top_section = { .name = "keep.top",
                                          .help = "the best few by one column",
                                          .keys = top_keys,
                                          .n_keys = sizeof top_keys / sizeof top_keys[0] };

/* ---- columns ---- */

static int fail_column(const char *name, const struct table *columns, struct err *e)
{
    const char *near = text_nearest(name, (const char *const *)columns->names, (size_t)columns->n_cols);
    return err_set(e, ERR_RANGE, "is \"%.60s\", need a column of the rows%s%s", name,
                   near ? ", nearest is " : "", near ? near : "");
}

/* Axes are no columns of the kind; their values are kept as they were written. */
static bool holds_words(const struct keep_rule *k, const struct table *columns, int32_t col)
{
    return columns->kinds[col] == TABLE_TEXT && col > 0 &&
           (!k->kind || column_find(k->kind->tables[TABLE_ROWS].columns, columns->names[col]));
}

int keep_take_column(struct keep_column *c, const struct keep_rule *k, const char *text,
                     const struct table *columns, struct err *e)
{
    c->large = strncmp(text, "max:", 4) == 0;
    const char *name = text + (c->large ? 4 : 0);
    int32_t col = table_find(columns, name);
    if (col < 0 || strlen(name) >= sizeof c->name)
        return fail_column(name, columns, e);
    if (holds_words(k, columns, col))
        return err_set(e, ERR_RANGE, "is \"%s\", which holds text, need a column of numbers", name);
    snprintf(c->name, sizeof c->name, "%s", name);
    return 0;
}

int keep_take_per(struct keep_rule *k, const char *text, const struct table *columns, struct err *e)
{
    if (table_find(columns, text) < 0 || strlen(text) >= sizeof k->per[0])
        return fail_column(text, columns, e);
    if (k->n_per == KEEP_MAX_PER)
        return err_set(e, ERR_RANGE, "has more than %d columns, need fewer", KEEP_MAX_PER);
    snprintf(k->per[k->n_per++], sizeof k->per[0], "%s", text);
    return 0;
}

int keep_take_limit(struct keep_rule *k, const char *text, const struct table *columns, struct err *e)
{
    double *coef = malloc(((size_t)columns->n_cols + 1) * sizeof *coef);
    struct linexpr limit = { .coef = coef };
    char *copy = strdup(text);
    int rc = coef && copy ? 0 : err_nomem(e, "limits");
    if (!rc && k->n_where == KEEP_MAX_LIMITS)
        rc = err_set(e, ERR_RANGE, "is limit %d, need at most %d", KEEP_MAX_LIMITS + 1, KEEP_MAX_LIMITS);
    if (!rc && linexpr_parse(&limit, text, (const char *const *)columns->names, columns->n_cols, e))
        rc = err_wrap(e, "is \"%.100s\"", text);
    for (int32_t i = 0; i < columns->n_cols && !rc; i++)
        if (coef[i] != 0 && holds_words(k, columns, i))
            rc = err_set(e, ERR_RANGE, "is \"%.100s\", but %s holds text, need columns of numbers", text,
                         columns->names[i]);
    free(coef);
    if (rc)
        free(copy);
    else
        k->where[k->n_where++] = copy;
    return rc;
}

/* Is @p name one of the keys, or below one? */
static bool is_below(const char *name, const char *const *keys)
{
    for (; keys && *keys; keys++)
        if (strncmp(name, *keys, strlen(*keys)) == 0)
            return true;
    return false;
}

/* Does the column tell different work apart? */
static bool is_work(const struct keep_rule *k, const char *name)
{
    return k->kind && is_below(name, k->kind->work) && !is_below(name, k->kind->not_work);
}

void keep_default_per(struct keep_rule *k, const struct table *columns)
{
    struct err ignored = { 0 };
    for (int32_t i = 0; i < columns->n_cols && k->n_per < KEEP_MAX_PER; i++)
        if (is_work(k, columns->names[i]))
            keep_take_per(k, columns->names[i], columns, &ignored);
}

/* ---- reading ---- */

struct reading {
    struct keep_rule *k;
    const struct yaml_doc *doc;
    const struct table *columns;
};

typedef int take_text(struct reading *r, const char *text, struct err *e);

static int take_front(struct reading *r, const char *text, struct err *e)
{
    struct keep_rule *k = r->k;
    if (k->n_front == FRONT_MAX_COLUMNS)
        return err_set(e, ERR_RANGE, "has more than %d columns, need 2 to %d", FRONT_MAX_COLUMNS,
                       FRONT_MAX_COLUMNS);
    int rc = keep_take_column(&k->front[k->n_front], k, text, r->columns, e);
    for (int32_t i = 0; i < k->n_front && !rc; i++)
        if (strcmp(k->front[i].name, k->front[k->n_front].name) == 0)
            rc = err_set(e, ERR_RANGE, "is \"%s\" for a second time, need other columns", k->front[i].name);
    k->n_front += !rc;
    return rc;
}

static int take_per(struct reading *r, const char *text, struct err *e)
{
    return keep_take_per(r->k, text, r->columns, e);
}

static int take_where(struct reading *r, const char *text, struct err *e)
{
    return keep_take_limit(r->k, text, r->columns, e);
}

static int take_top(struct reading *r, const char *text, struct err *e)
{
    return keep_take_column(&r->k->top, r->k, text, r->columns, e);
}

static int read_text(struct reading *r, yaml_id id, take_text *take, struct err *e)
{
    const char *text;
    struct err inner = { 0 };
    int rc = yaml_text(r->doc, id, &text, e);
    if (rc || !take(r, text, &inner))
        return rc;
    return inner.code == ERR_NOMEM ? err_nomem(e, "keep")
                                   : yaml_fail(r->doc, id, e, inner.code, "%s", inner.msg);
}

static int read_list(struct reading *r, yaml_id list, take_text *take, struct err *e)
{
    if (list < 0)
        return 0;
    int rc = yaml_need(r->doc, list, YAML_SEQ, e);
    if (!rc && r->doc->nodes[list].n == 0)
        rc = yaml_fail(r->doc, list, e, ERR_PARSE, "is empty, need at least one");
    if (rc)
        return rc;
    yaml_each (id, r->doc, list)
        if (!rc)
            rc = read_text(r, id, take, e);
    return rc;
}

static int read_top(struct reading *r, yaml_id id, struct err *e)
{
    struct top_conf top;
    if (id < 0)
        return 0;
    int rc = schema_read(&top, &keep_top_section, r->doc, id, e);
    if (!rc)
        rc = read_text(r, top.by, take_top, e);
    if (!rc)
        r->k->n_top = top.n;
    return rc;
}

/* Does `vary` have the key, at whatever depth of grids? */
static bool is_varied(const struct yaml_doc *doc, yaml_id at, const char *key)
{
    bool found = false;
    if (at < 0 || doc->nodes[at].kind == YAML_SCALAR)
        return false;
    yaml_each (id, doc, at) {
        const char *name = doc->nodes[id].key;
        found = found || (name && strcmp(name, key) == 0) || is_varied(doc, id, key);
    }
    return found;
}

static bool is_apart(const struct keep_rule *k, const char *column)
{
    for (int32_t i = 0; i < k->n_per; i++)
        if (strcmp(k->per[i], column) == 0)
            return true;
    return false;
}

/* Times of different work do not compare, so a front over them says nothing. */
static void note_work(struct reading *r, yaml_id at)
{
    char place[400];
    yaml_id vary = yaml_get(r->doc, r->doc->root, "vary");
    for (int32_t i = 0; i < r->columns->n_cols; i++) {
        const char *name = r->columns->names[i];
        bool varies = strcmp(name, "workload") != 0 || is_varied(r->doc, vary, "workload") ||
                      is_varied(r->doc, vary, "workloads");
        if (is_work(r->k, name) && varies && !is_apart(r->k, name))
            text_printf(&r->k->notes,
                        "%s: keep.per is without %s, which varies: rows of different work are held against "
                        "each other\n",
                        yaml_place(r->doc, at, place, sizeof place), name);
    }
}

static int check(struct reading *r, const struct keep_conf *conf, yaml_id id, struct err *e)
{
    const struct keep_rule *k = r->k;
    if (k->n_front == 1)
        return yaml_fail(r->doc, conf->front, e, ERR_PARSE, "has one column, need 2 to %d",
                         FRONT_MAX_COLUMNS);
    if (conf->prune && k->n_front == 0)
        return yaml_fail_key(r->doc, yaml_get(r->doc, id, "prune"), e, ERR_RANGE,
                             "is true without a front, need front");
    if (conf->prune && k->n_top > 0) /* the best in one column may lie behind the front */
        return yaml_fail_key(r->doc, yaml_get(r->doc, id, "prune"), e, ERR_RANGE,
                             "is true with top, whose points may lie behind the front, need front alone");
    if (k->prune && k->kind && !k->kind->has_prune)
        return yaml_fail_key(r->doc, yaml_get(r->doc, id, "prune"), e, ERR_RANGE,
                             "is true, need false: nothing bounds the rows of a %s study", k->kind->word);
    if (conf->per >= 0 && k->n_front == 0 && k->n_top == 0)
        return yaml_fail_key(r->doc, conf->per, e, ERR_RANGE, "is without a front, need front or top");
    if (keep_all(k))
        return yaml_fail(r->doc, id, e, ERR_PARSE, "says nothing to keep, need front, top or where");
    return 0;
}

int keep_read(struct keep_rule *k, const struct study_kind *kind, const struct yaml_doc *doc, yaml_id id,
              const struct table *columns, struct err *e)
{
    struct reading r = { k, doc, columns };
    struct keep_conf conf;
    *k = (struct keep_rule){ .kind = kind };
    if (id < 0)
        return 0;
    int rc = schema_read(&conf, &keep_section, doc, id, e);
    if (rc)
        return rc;
    k->prune = conf.prune;
    if ((rc = read_list(&r, conf.front, take_front, e)) || (rc = read_list(&r, conf.per, take_per, e)) ||
        (rc = read_top(&r, conf.top, e)) || (rc = read_list(&r, conf.where, take_where, e)) ||
        (rc = check(&r, &conf, id, e))) {
        keep_rule_free(k);
        return rc;
    }
    if (k->n_front == 0 && k->n_top == 0)
        return 0;
    if (conf.per < 0)
        keep_default_per(k, columns);
    note_work(&r, conf.per < 0 ? id : conf.per);
    return text_check(&k->notes, e);
}

void keep_rule_free(struct keep_rule *k)
{
    for (int32_t i = 0; i < k->n_where; i++)
        free(k->where[i]);
    text_free(&k->notes);
    *k = (struct keep_rule){ 0 };
}

bool keep_all(const struct keep_rule *k)
{
    return k->n_front == 0 && k->n_top == 0 && k->n_where == 0;
}
