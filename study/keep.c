/*
 * Which rows a study keeps: the Pareto front of each group over a few columns, the best few of each group,
 * both within linear limits; and how `keep` of a study says so.
 *
 * Rows come in any order and the survivors do not depend on it: of designs with equal values a front keeps
 * all (study/front.c), the best few are ordered by value, then by point. A row that is offered is a survivor
 * until something better comes; keep_changes() tells which came and which went since the last call, so that a
 * store holds survivors alone. Rows not handed over yet stay in `fresh`, in the order in which they came; one
 * that goes before it was handed over is marked (its point becomes blank) and swept out in bulk, so that a
 * sweep whose every row is better than the last costs O(1) a row.
 *
 * A survivor may be kept for two reasons, the front and the best few; it goes when the last of them does.
 * Limits hold as those of `where` do (linexpr_holds()).
 */
#include "study/keep.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/heap.h"
#include "base/linexpr.h"
#include "base/num.h"
#include "base/stat.h"
#include "base/vec.h"
#include "study/kind.h"

/* ---- the best few points of each group ---- */

/* The best of one group: a heap, the worst first. */
struct top {
    char *group;             /**< owned */
    struct stat_rank *items; /**< shape [n], owned: value and point */
    int64_t n, cap;
};

/* Zero-initialise but for most; release with top_set_free(). */
struct top_set {
    int64_t most;     /**< points of a group */
    struct top *tops; /**< shape [n], owned; by group */
    int32_t n, cap;
};

/* A total order: which points stay does not depend on the order in which they come. */
static bool keep_is_worse(const struct stat_rank *a, const struct stat_rank *b)
{
    return stat_before(b, a);
}

HEAP(top_heap, struct stat_rank, keep_is_worse)

/* The group's place, where it is put if it is not there yet. By halving in a sorted array: groups are few and
 * live on. */
static struct top *find(struct top_set *s, const char *group)
{
    int32_t lo = 0, hi = s->n;
    while (lo < hi) {
        int32_t mid = lo + (hi - lo) / 2;
        if (strcmp(s->tops[mid].group, group) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo < s->n && strcmp(s->tops[lo].group, group) == 0)
        return &s->tops[lo];
    char *copy = vec_reserve(s->tops, s->cap, s->n + 1) ? strdup(group) : NULL;
    if (!copy)
        return NULL;
    struct top *at = s->tops + lo;
    memmove(at + 1, at, (size_t)(s->n++ - lo) * sizeof *at);
    *at = (struct top){ .group = copy };
    return at;
}

/* Offer a point: less is better, of equal values the lower point. *in: it is among the best now; *out: the
 * point that is no more, -1 = none. A value that is not finite is never among them. O(log most + log groups).
 */
static int top_offer(struct top_set *s, const char *group, struct stat_rank item, bool *in, int64_t *out,
                     struct err *e)
{
    *in = false;
    *out = -1;
    if (!isfinite(item.key))
        return 0;
    struct top *t = find(s, group);
    if (!t)
        return err_nomem(e, "the best points");
    /* The worst of a full heap is at least as good. */
    if (t->n == s->most && !keep_is_worse(&t->items[0], &item))
        return 0;
    if (t->n < s->most && !vec_reserve(t->items, t->cap, t->n + 1))
        return err_nomem(e, "the best points");
    *in = true;
    if (t->n < s->most) {
        top_heap_push(t->items, t->n++, item);
        return 0;
    }
    *out = t->items[0].at;
    top_heap_replace(t->items, t->n, item);
    return 0;
}

static void top_set_free(struct top_set *s)
{
    for (int32_t i = 0; i < s->n; i++) {
        free(s->tops[i].group);
        free(s->tops[i].items);
    }
    free(s->tops);
    *s = (struct top_set){ .most = s->most };
}

/* ---- keys ---- */

static const struct key keep_keys[] = {
    K_ELSEWHERE(
        "front",
        "keep the Pareto front over these 2 to 5 columns of the rows; min: or max: before one says what "
        "is better, as in max:speedup (default: what the column is known by)",
        .form = "list of texts"),
    K_ELSEWHERE("per", "group rows by these columns (default: workload, and keys below it that vary)",
                .form = "list of texts"),
    K_ELSEWHERE("top", "keep the best few, see keep.top", .form = "<keep.top>"),
    K_ELSEWHERE("where", "keep rows within all these limits over columns alone: \"cost_usd <= 2e6\"",
                .form = "list of texts"),
    K_BOOL(struct keep_rule, prune, "prune", 0,
           "true: points proved to lie behind the front are not solved (default: false)"),
};

static const struct key top_keys[] = {
    K_ELSEWHERE("by",
                "column; min: or max: before it says what is better (default: what the column is known by)",
                .required = true, .form = "text"),
    K_COUNT(struct keep_rule, n_top, "n", 1, 1e9, SCHEMA_NONE,
            "how many for each group of per; ties go to the lower points", .required = true),
};

K_SECTION(keep_section, struct keep_rule, "keep", keep_keys,
          "which rows of a sweep are stored (default: all); the others are counted");
K_SECTION(keep_top_section, struct keep_rule, "keep.top", top_keys, "the best few by one column");

/* ---- columns ---- */

static int fail_column(const char *name, const struct table *columns, struct err *e)
{
    err_set(e, ERR_RANGE, "is \"%.60s\", expected a column of the rows", name);
    return err_suggest(e, text_suggest(name, (const char *const *)columns->names, (size_t)columns->n_cols));
}

/* Axes are no columns of the kind; their values are kept as they were written. */
static bool holds_words(const struct keep_rule *k, const struct table *columns, int32_t col)
{
    return columns->kinds[col] == TABLE_TEXT && col > 0 &&
           (!k->kind || column_find(k->kind->tables[TABLE_ROWS].columns, columns->names[col]));
}

int keep_direction(const char *text, const char **name)
{
    int better = strncmp(text, "max:", 4) == 0 ? 1 : strncmp(text, "min:", 4) == 0 ? -1 : 0;
    *name = text + (better ? 4 : 0);
    return better;
}

/* On failure the message says what is amiss with the word alone; callers add where it stands. */
int keep_take_column(struct keep_column *c, const struct keep_rule *k, const char *text,
                     const struct table *columns, struct err *e)
{
    const char *name;
    int better = keep_direction(text, &name);
    int32_t col = table_find(columns, name);
    if (col < 0 || strlen(name) >= sizeof c->name)
        return fail_column(name, columns, e);
    int rc = table_need_numbers(columns, col, e);
    if (rc == ERR_PARSE)
        return rc;
    if (rc || holds_words(k, columns, col))
        return err_set(e, ERR_RANGE, "is \"%s\", which holds text, expected a column of numbers", name);
    better = better ? better : columns->better[col];
    if (!better)
        return err_set(e, ERR_RANGE,
                       "is \"%s\", of which less or more may be better, expected min:%s or max:%s", name,
                       name, name);
    c->large = better > 0;
    c->unit = columns->units[col];
    snprintf(c->name, sizeof c->name, "%s", name);
    return 0;
}

int keep_take_front(struct keep_rule *k, const char *text, const struct table *columns, struct err *e)
{
    if (k->n_front == FRONT_MAX_COLUMNS)
        return err_set(e, ERR_RANGE, "has more than %d columns, expected 2 to %d", FRONT_MAX_COLUMNS,
                       FRONT_MAX_COLUMNS);
    int rc = keep_take_column(&k->front[k->n_front], k, text, columns, e);
    for (int32_t i = 0; i < k->n_front && !rc; i++)
        if (strcmp(k->front[i].name, k->front[k->n_front].name) == 0)
            rc = err_set(e, ERR_RANGE, "is \"%s\" for a second time; choose other columns", k->front[i].name);
    k->n_front += !rc;
    return rc;
}

int keep_take_per(struct keep_rule *k, const char *text, const struct table *columns, struct err *e)
{
    if (table_find(columns, text) < 0 || strlen(text) >= sizeof k->per[0])
        return fail_column(text, columns, e);
    if (k->n_per == KEEP_MAX_PER)
        return err_set(e, ERR_RANGE, "has more than %d columns", KEEP_MAX_PER);
    snprintf(k->per[k->n_per++], sizeof k->per[0], "%s", text);
    return 0;
}

/* Parsed to be checked, kept as text: the columns that a limit is compared with later may stand elsewhere. */
int keep_take_limit(struct keep_rule *k, const char *text, const struct table *columns, struct err *e)
{
    double *coef = malloc(((size_t)columns->n_cols + 1) * sizeof *coef);
    struct linexpr limit = { .coef = coef };
    char *copy = strdup(text);
    int rc = coef && copy ? 0 : err_nomem(e, "limits");
    if (!rc && k->n_where == KEEP_MAX_LIMITS)
        rc = err_set(e, ERR_RANGE, "is limit %d, expected at most %d", KEEP_MAX_LIMITS + 1, KEEP_MAX_LIMITS);
    if (!rc && linexpr_parse(&limit, text, (const char *const *)columns->names, columns->n_cols, e))
        rc = err_wrap(e, "is \"%.100s\"", text);
    /* ERR_PARSE is of a cell alone. */
    if (rc == ERR_PARSE)
        rc = e->code = ERR_RANGE;
    for (int32_t i = 0; i < columns->n_cols && !rc; i++)
        if (coef[i] != 0 && (rc = table_need_numbers(columns, i, e)) != ERR_PARSE &&
            (rc || holds_words(k, columns, i)))
            rc = err_set(e, ERR_RANGE, "is \"%.100s\", but %s holds text, expected columns of numbers", text,
                         columns->names[i]);
    free(coef);
    if (rc)
        free(copy);
    else
        k->where[k->n_where++] = copy;
    return rc;
}

int keep_take_list(struct keep_rule *k, const char *list, keep_take *take, const struct table *columns,
                   struct err *e)
{
    char *copy = strdup(list), *rest = copy;
    int rc = copy ? 0 : err_nomem(e, "columns");
    for (char *name; !rc && (name = text_split(&rest, ','));)
        rc = take(k, name, columns, e);
    free(copy);
    return rc;
}

/* Is @p name one of the keys, or below one? Of a member of a list ("workloads[1].workload.parallel.batch")
 * likewise. */
static bool keep_is_below(const char *name, const char *const *keys)
{
    for (; keys && *keys; keys++) {
        const char *at = strstr(name, *keys);
        if (at && (at == name || at[-1] == '.'))
            return true;
    }
    return false;
}

bool keep_tells_work(const struct study_kind *kind, const char *name)
{
    return kind && keep_is_below(name, kind->work) && !keep_is_below(name, kind->not_work);
}

bool keep_tells_batch(const struct study_kind *kind, const char *name)
{
    return kind && kind->rate && keep_is_below(name, kind->batch);
}

/* More than KEEP_MAX_PER columns are left out without a word; those taken are enough to keep work apart. */
void keep_default_per(struct keep_rule *k, const struct table *columns)
{
    struct err ignored = { 0 };
    for (int32_t i = 0; i < columns->n_cols && k->n_per < KEEP_MAX_PER; i++)
        if (keep_tells_work(k->kind, columns->names[i]))
            keep_take_per(k, columns->names[i], columns, &ignored);
}

/* ---- reading ---- */

struct keep_reading {
    struct keep_rule *k;
    const struct yaml_doc *doc;
    const struct table *columns;
};

typedef int take_text(struct keep_reading *r, const char *text, struct err *e);

static int take_front(struct keep_reading *r, const char *text, struct err *e)
{
    return keep_take_front(r->k, text, r->columns, e);
}

static int take_per(struct keep_reading *r, const char *text, struct err *e)
{
    return keep_take_per(r->k, text, r->columns, e);
}

static int take_where(struct keep_reading *r, const char *text, struct err *e)
{
    return keep_take_limit(r->k, text, r->columns, e);
}

static int take_top(struct keep_reading *r, const char *text, struct err *e)
{
    return keep_take_column(&r->k->top, r->k, text, r->columns, e);
}

static int keep_read_text(struct keep_reading *r, yaml_id id, take_text *take, struct err *e)
{
    const char *text;
    struct err inner = { 0 };
    int rc = yaml_text(r->doc, id, &text, e);
    /* Its message lacks the place, which is put before it here. */
    if (rc || !take(r, text, &inner))
        return rc;
    return inner.code == ERR_NOMEM ? err_nomem(e, "keep")
                                   : yaml_fail(r->doc, id, e, inner.code, "%s", inner.msg);
}

static int keep_read_list(struct keep_reading *r, yaml_id list, take_text *take, struct err *e)
{
    if (list < 0)
        return 0;
    int rc = yaml_need_list(r->doc, list, INT32_MAX, "one", e);
    if (rc)
        return rc;
    yaml_each (id, r->doc, list)
        if (!rc)
            rc = keep_read_text(r, id, take, e);
    return rc;
}

static int read_top(struct keep_reading *r, yaml_id id, struct err *e)
{
    if (id < 0)
        return 0;
    int rc = schema_read(r->k, &keep_top_section, r->doc, id, e);
    return rc ? rc : keep_read_text(r, yaml_get(r->doc, id, "by"), take_top, e);
}

/* Does `vary` have the key, at whatever depth of grids? Values are passed over, as they are scalars or lists
 * of them. */
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
static void note_work(struct keep_reading *r, yaml_id at)
{
    char place[400];
    yaml_id vary = yaml_get(r->doc, r->doc->root, "vary");
    for (int32_t i = 0; i < r->columns->n_cols; i++) {
        const char *name = r->columns->names[i];
        bool varies = strcmp(name, "workload") != 0 || is_varied(r->doc, vary, "workload") ||
                      is_varied(r->doc, vary, "workloads");
        if (keep_tells_work(r->k->kind, name) && varies && !is_apart(r->k, name))
            text_printf(
                &r->k->notes,
                "%s: keep.per lacks %s, which varies: rows of different work are compared with each other\n",
                yaml_place(r->doc, at, place, sizeof place), name);
    }
}

/* Is the time of a row among what is to be small? */
static bool seeks_time(const struct keep_rule *k)
{
    const char *time = k->kind ? k->kind->time : NULL;
    bool seeks = time && k->n_top && strcmp(k->top.name, time) == 0;
    for (int32_t i = 0; i < k->n_front && time; i++)
        seeks = seeks || strcmp(k->front[i].name, time) == 0;
    return seeks;
}

/* A step of fewer samples takes less, which makes nothing faster. */
static void note_batch(struct keep_reading *r, yaml_id at)
{
    char place[400];
    const struct study_kind *kind = r->k->kind;
    for (int32_t i = 0; i < r->columns->n_cols && seeks_time(r->k); i++) {
        const char *name = r->columns->names[i];
        if (keep_tells_batch(kind, name) && !is_apart(r->k, name))
            text_printf(&r->k->notes,
                        "%s: keep compares %s, and %s varies: rows of different work are compared; give "
                        "max:%s, or per\n",
                        yaml_place(r->doc, at, place, sizeof place), kind->time, name, kind->rate);
    }
}

static int keep_check(struct keep_reading *r, yaml_id id, struct err *e)
{
    const struct keep_rule *k = r->k;
    yaml_id per = yaml_get(r->doc, id, "per");
    if (k->n_front == 1)
        return yaml_fail(r->doc, yaml_get(r->doc, id, "front"), e, ERR_PARSE,
                         "has one column, expected 2 to %d", FRONT_MAX_COLUMNS);
    if (k->prune && k->n_front == 0)
        return yaml_fail_key(r->doc, yaml_get(r->doc, id, "prune"), e, ERR_RANGE,
                             "is true without a front; give front");
    if (k->prune && k->n_top > 0) /* the best in one column may lie behind the front */
        return yaml_fail_key(r->doc, yaml_get(r->doc, id, "prune"), e, ERR_RANGE,
                             "is true with top, whose points may lie behind the front; give front alone");
    if (k->prune && k->kind && !k->kind->has_prune)
        return yaml_fail_key(r->doc, yaml_get(r->doc, id, "prune"), e, ERR_RANGE,
                             "is true, but nothing bounds the rows of a %s study; choose false",
                             k->kind->word);
    if (per >= 0 && k->n_front == 0 && k->n_top == 0)
        return yaml_fail_key(r->doc, per, e, ERR_RANGE, "has no front; give front or top");
    if (keep_all(k))
        return yaml_fail(r->doc, id, e, ERR_PARSE, "keeps nothing; give front, top or where");
    return 0;
}

int keep_read(struct keep_rule *k, const struct study_kind *kind, const struct yaml_doc *doc, yaml_id id,
              const struct table *columns, struct err *e)
{
    *k = (struct keep_rule){ .kind = kind };
    struct keep_reading r = { k, doc, columns };
    if (id < 0)
        return 0;
    yaml_id per = yaml_get(doc, id, "per");
    int rc = schema_read(k, &keep_section, doc, id, e);
    if (rc)
        return rc;
    /* In the order of the manual, so that the first mistake of a reader is the one that is named. */
    if ((rc = keep_read_list(&r, yaml_get(doc, id, "front"), take_front, e)) ||
        (rc = keep_read_list(&r, per, take_per, e)) || (rc = read_top(&r, yaml_get(doc, id, "top"), e)) ||
        (rc = keep_read_list(&r, yaml_get(doc, id, "where"), take_where, e)) ||
        (rc = keep_check(&r, id, e))) {
        keep_rule_free(k);
        return rc;
    }
    /* Limits alone look at each row by itself: groups play no part. */
    if (k->n_front == 0 && k->n_top == 0)
        return 0;
    if (per < 0)
        keep_default_per(k, columns);
    note_work(&r, per < 0 ? id : per);
    note_batch(&r, per < 0 ? id : per);
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

enum { KEEP_FRONT = 1, KEEP_TOP = 2 };

struct survivor {
    int64_t point; /* >= 0 */
    int64_t row;   /* among the rows not handed over yet; -1 = it was */
    unsigned ways; /* bits: why it is kept */
};

struct keep {
    const struct keep_rule *rule;
    int32_t point, result[STUDY_MAX_RESULT];
    int32_t front[FRONT_MAX_COLUMNS], per[KEEP_MAX_PER], top;
    struct linexpr limits[KEEP_MAX_LIMITS]; /* coef shape [fresh.n_cols], owned */
    struct front_set fronts;
    struct top_set tops;
    struct survivor *survivors; /* shape [n_survivors], owned: those that may still be taken off */
    int32_t n_survivors, cap_survivors;
    struct hash by_point; /* where a survivor is */
    struct table fresh;   /* rows not handed over yet; those that are survivors no more have no point */
    int64_t n_dead;       /* of them */
    int64_t *gone, n_gone, cap_gone;
    int64_t *told; /* those of the call before */
    struct text group;
    struct keep_counts counts;
};

/* ---- set-up ---- */

int32_t keep_id_column(const struct table *columns)
{
    static const char *const names[] = { KEEP_ROW, "id", "point" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int32_t col = table_find(columns, names[i]);
        if (col >= 0 && (columns->kinds[col] == TABLE_COUNT || i == 2))
            return col;
    }
    return -1;
}

static int find_column(int32_t *out, const struct table *columns, const char *name, struct err *e)
{
    *out = table_find(columns, name);
    return *out >= 0 ? 0 : err_set(e, ERR_PARSE, "column %s is missing, required to choose rows", name);
}

static int find_columns(struct keep *k, const struct table *columns, struct err *e)
{
    const struct keep_rule *r = k->rule;
    k->point = keep_id_column(columns);
    int rc = k->point >= 0 ? 0 : find_column(&k->point, columns, "point", e);
    if (!rc && columns->kinds[k->point] != TABLE_COUNT)
        rc = err_set(e, ERR_PARSE, "column point: holds no whole numbers, expected points of a sweep");
    for (int32_t i = 0; r->kind && r->kind->result_columns[i]; i++)
        k->result[i] = table_find(columns, r->kind->result_columns[i]);
    for (int32_t i = 0; i < r->n_front && !rc; i++)
        rc = find_column(&k->front[i], columns, r->front[i].name, e);
    for (int32_t i = 0; i < r->n_per && !rc; i++)
        rc = find_column(&k->per[i], columns, r->per[i], e);
    if (!rc && r->n_top > 0)
        rc = find_column(&k->top, columns, r->top.name, e);
    return rc;
}

static int parse_limits(struct keep *k, const struct table *columns, struct err *e)
{
    for (int32_t i = 0; i < k->rule->n_where; i++) {
        k->limits[i].coef = malloc(((size_t)columns->n_cols + 1) * sizeof *k->limits[i].coef);
        if (!k->limits[i].coef)
            return err_nomem(e, "limits");
        int rc = linexpr_parse(&k->limits[i], k->rule->where[i], (const char *const *)columns->names,
                               columns->n_cols, e);
        if (rc)
            return rc;
    }
    return 0;
}

/* On failure the table is to be freed all the same. */
static int copy_columns(struct table *t, const struct table *columns, struct err *e)
{
    *t = (struct table){ 0 };
    table_columns_of(t, columns);
    return t->failed ? err_nomem(e, "rows to keep") : 0;
}

int keep_build(struct keep **out, const struct keep_rule *rule, const struct table *columns, struct err *e)
{
    struct keep *k = calloc(1, sizeof *k);
    *out = NULL;
    if (!k)
        return err_nomem(e, "rows to keep");
    k->rule = rule;
    k->fronts.n_cols = rule->n_front;
    k->fronts.most_equal = rule->most_equal;
    k->tops.most = rule->n_top;
    int rc = find_columns(k, columns, e);
    if (!rc)
        rc = parse_limits(k, columns, e);
    if (!rc)
        rc = copy_columns(&k->fresh, columns, e);
    if (rc)
        keep_free(k);
    else
        *out = k;
    return rc;
}

void keep_free(struct keep *k)
{
    if (!k)
        return;
    for (int32_t i = 0; i < k->rule->n_where; i++)
        free(k->limits[i].coef);
    front_set_free(&k->fronts);
    top_set_free(&k->tops);
    free(k->survivors);
    hash_free(&k->by_point);
    table_free(&k->fresh);
    text_free(&k->group);
    free(k->gone);
    free(k->told);
    free(k);
}

/* ---- what a row says ---- */

/* Axes are texts as they were written, also where they are numbers. */
double keep_number(const struct table *rows, int64_t row, int32_t col)
{
    double x = NAN;
    if (rows->kinds[col] != TABLE_TEXT)
        return table_number(rows, row, col);
    const char *text = table_text(rows, row, col);
    return text && num_parse_real(text, &x) ? x : NAN;
}

bool keep_is_design(const struct keep *k, const struct table *rows, int64_t row)
{
    const struct study_kind *kind = k->rule->kind;
    return table_count(rows, row, k->point) >= 0 && (!kind || kind->is_result(rows, row, k->result));
}

/* By how much the row misses a limit; 0: it is within. NaN where a column of the limit is blank, which no
 * comparison passes. */
static double miss_of(const struct linexpr *limit, const struct table *rows, int64_t row)
{
    double sum = 0, size = 0;
    for (int32_t i = 0; i < rows->n_cols; i++)
        if (limit->coef[i] != 0) {
            double x = limit->coef[i] * keep_number(rows, row, i);
            sum += x;
            size += fabs(x);
        }
    return linexpr_holds(limit->sense, limit->rhs, sum, size) ? 0 : fabs(sum - limit->rhs);
}

/* The first limit that the row is beyond; -1: none. */
static int32_t find_missed(double *by, const struct keep *k, const struct table *rows, int64_t row)
{
    for (int32_t i = 0; i < k->rule->n_where; i++) {
        *by = miss_of(&k->limits[i], rows, row);
        if (*by != 0)
            return i;
    }
    return -1;
}

bool keep_is_within(const struct keep *k, const struct table *rows, int64_t row)
{
    double by;
    return find_missed(&by, k, rows, row) < 0;
}

/* Texts with newlines between, which no cell has: equal texts are equal groups. */
int keep_group(struct text *out, const struct keep *k, const struct table *rows, int64_t row, struct err *e)
{
    text_clear(out);
    for (int32_t i = 0; i < k->rule->n_per; i++) {
        text_puts(out, i ? "\n" : "");
        table_cell_text(out, rows, row, k->per[i]);
    }
    return text_check(out, e);
}

/* Less is better from here on. */
static double keep_value_of(const struct keep_column *c, const struct table *rows, int64_t row, int32_t col)
{
    double x = keep_number(rows, row, col);
    return c->large ? -x : x;
}

void keep_values(double *x, const struct keep *k, const struct table *rows, int64_t row)
{
    for (int32_t i = 0; i < k->rule->n_front; i++)
        x[i] = keep_value_of(&k->rule->front[i], rows, row, k->front[i]);
}

/* ---- rows ---- */

static int keep_add_row(struct keep *k, const struct table *rows, int64_t row, struct err *e)
{
    table_copy_row(&k->fresh, rows, row);
    return k->fresh.failed ? err_nomem(e, "rows to keep") : 0;
}

static struct table_cell *cells_of(const struct keep *k, int64_t row)
{
    return k->fresh.cells + row * k->fresh.n_cols;
}

static bool is_alive(const void *keep, const struct table *fresh, int64_t row)
{
    const struct keep *k = keep;
    return table_count(fresh, row, k->point) != INT64_MIN;
}

/* NULL: it is none. Borrowed until one comes or goes. */
static struct survivor *find_survivor(const struct keep *k, int64_t point)
{
    hash_each (id, &k->by_point, (uint64_t)point)
        if (k->survivors[id].point == point)
            return &k->survivors[id];
    return NULL;
}

static int add_survivor(struct keep *k, struct survivor s, struct err *e)
{
    if (!vec_reserve(k->survivors, k->cap_survivors, k->n_survivors + 1) ||
        !hash_add(&k->by_point, (uint64_t)s.point, k->n_survivors))
        return err_nomem(e, "points to keep");
    k->survivors[k->n_survivors++] = s;
    return 0;
}

/* The last one takes its place. */
static void remove_survivor(struct keep *k, struct survivor *s)
{
    int32_t at = (int32_t)(s - k->survivors), last = --k->n_survivors;
    hash_remove(&k->by_point, (uint64_t)s->point, at);
    if (at == last)
        return;
    hash_remove(&k->by_point, (uint64_t)k->survivors[last].point, last);
    *s = k->survivors[last];
    hash_add(&k->by_point, (uint64_t)s->point, at); /* two places are free: it needs no memory */
}

/* Rows that are survivors no more go; the others move up. */
static void drop_dead(struct keep *k)
{
    if (k->n_dead == 0)
        return;
    table_keep_rows(&k->fresh, is_alive, k);
    for (int64_t row = 0; row < k->fresh.n_rows; row++) {
        struct survivor *p = find_survivor(k, table_count(&k->fresh, row, k->point));
        if (p)
            p->row = row;
    }
    k->n_dead = 0;
}

/* ---- survivors ---- */

static int note_gone(struct keep *k, int64_t point, struct err *e)
{
    if (!vec_reserve(k->gone, k->cap_gone, k->n_gone + 1))
        return err_nomem(e, "points that are not kept");
    k->gone[k->n_gone++] = point;
    return 0;
}

/* The point is not kept for that reason any more. */
static int leave(struct keep *k, int64_t point, unsigned way, struct err *e)
{
    struct survivor *p = find_survivor(k, point);
    assert(p && (p->ways & way));
    p->ways &= ~way;
    if (p->ways)
        return 0;
    int rc = 0;
    /* Never handed over: nobody need hear of it. */
    if (p->row >= 0) {
        cells_of(k, p->row)[k->point].count = INT64_MIN;
        k->n_dead++;
    } else {
        rc = note_gone(k, point, e);
    }
    remove_survivor(k, p);
    return rc;
}

/* f is NULL where the offer failed before a front was there. */
static int offer_to_front(struct keep *k, const struct table *rows, int64_t row, int64_t point,
                          unsigned *ways, struct err *e)
{
    double x[FRONT_MAX_COLUMNS];
    struct front *f = NULL;
    bool on = false, blank = false;
    keep_values(x, k, rows, row);
    for (int32_t i = 0; i < k->rule->n_front; i++)
        blank = blank || !isfinite(x[i]);
    k->counts.blank += blank;
    int rc = blank ? 0 : front_set_offer(&k->fronts, text_str(&k->group), x, point, &on, &f, e);
    for (int64_t i = 0; f && i < f->n_off && !rc; i++)
        rc = leave(k, f->off[i], KEEP_FRONT, e);
    if (f)
        f->n_off = 0;
    *ways |= on ? KEEP_FRONT : 0;
    return rc;
}

static int offer_to_top(struct keep *k, const struct table *rows, int64_t row, int64_t point, unsigned *ways,
                        struct err *e)
{
    bool in;
    int64_t out;
    struct stat_rank item = { keep_value_of(&k->rule->top, rows, row, k->top), point };
    k->counts.blank += isnan(item.key) && !k->rule->n_front;
    int rc = top_offer(&k->tops, text_str(&k->group), item, &in, &out, e);
    if (!rc && out >= 0)
        rc = leave(k, out, KEEP_TOP, e);
    *ways |= in ? KEEP_TOP : 0;
    return rc;
}

/* Hold a design against the others of its group. */
static int compete(struct keep *k, const struct table *rows, int64_t row, struct err *e)
{
    int64_t point = table_count(rows, row, k->point);
    unsigned ways = 0;
    /* A point that is kept already, as when a resumed study offers what its store holds. */
    if (find_survivor(k, point))
        return 0;
    int rc = keep_group(&k->group, k, rows, row, e);
    if (!rc && k->rule->n_front > 0)
        rc = offer_to_front(k, rows, row, point, &ways, e);
    if (!rc && k->rule->n_top > 0)
        rc = offer_to_top(k, rows, row, point, &ways, e);
    /* Offered and beaten at once: the row is never copied. */
    if (rc || !ways)
        return rc;
    rc = keep_add_row(k, rows, row, e);
    return rc ? rc : add_survivor(k, (struct survivor){ point, k->fresh.n_rows - 1, ways }, e);
}

static int offer_row(struct keep *k, const struct table *rows, int64_t row, struct err *e)
{
    k->counts.seen++;
    if (keep_all(k->rule))
        return keep_add_row(k, rows, row, e);
    if (!keep_is_design(k, rows, row)) {
        k->counts.no_design++;
        return 0;
    }
    double by;
    int32_t missed = find_missed(&by, k, rows, row);
    if (missed >= 0) {
        struct keep_missed *m = &k->counts.missed[missed];
        m->least = fmin(m->n ? m->least : INFINITY, by);
        m->n++;
        k->counts.beyond++;
        return 0;
    }
    return k->rule->n_front > 0 || k->rule->n_top > 0 ? compete(k, rows, row, e)
                                                      : keep_add_row(k, rows, row, e);
}

/* A store leaves out columns that are blank in all its rows. Rows that a store gives back then have fewer. */
static bool has_columns(const struct keep *k, const struct table *rows)
{
    bool same = rows->n_cols == k->fresh.n_cols;
    for (int32_t i = 0; i < rows->n_cols && same; i++)
        same = rows->kinds[i] == k->fresh.kinds[i] && strcmp(rows->names[i], k->fresh.names[i]) == 0;
    return same;
}

static void put_as(struct table *to, const struct table *rows, int64_t row, int32_t from, struct text *text)
{
    enum table_kind kind = to->kinds[to->col];
    text_clear(text);
    if (from >= 0 && kind == TABLE_TEXT)
        table_cell_text(text, rows, row, from);
    double x = from < 0 || kind == TABLE_TEXT ? NAN : keep_number(rows, row, from);
    if (kind == TABLE_REAL)
        table_put_real(to, x);
    else if (kind == TABLE_COUNT && isfinite(x))
        table_put_count(to, (int64_t)x);
    else if (kind == TABLE_TEXT && text->n > 0)
        table_put_text(to, text_str(text));
    else
        table_put_none(to);
}

/* The rows in the columns of the others. */
static int adapt(struct table *out, const struct keep *k, const struct table *rows, struct err *e)
{
    struct text text = { 0 };
    int rc = copy_columns(out, &k->fresh, e);
    for (int64_t row = 0; row < rows->n_rows && !rc; row++) {
        table_row(out);
        for (int32_t i = 0; i < k->fresh.n_cols; i++)
            put_as(out, rows, row, table_find(rows, k->fresh.names[i]), &text);
    }
    bool failed = out->failed || text.failed;
    text_free(&text);
    return rc ? rc : failed ? err_nomem(e, "rows to keep") : 0;
}

static int offer_rows(struct keep *k, const struct table *rows, struct err *e)
{
    int rc = 0;
    for (int64_t row = 0; row < rows->n_rows && !rc; row++)
        rc = offer_row(k, rows, row, e);
    return rc;
}

int keep_offer(struct keep *k, const struct table *rows, struct err *e)
{
    /* Sweeping costs O(rows): only when most of many are dead. */
    enum { FEW = 1024 };
    struct table adapted = { 0 };
    int rc = 0;
    if (!has_columns(k, rows))
        rc = adapt(&adapted, k, rows, e);
    if (!rc)
        rc = offer_rows(k, adapted.n_cols > 0 ? &adapted : rows, e);
    table_free(&adapted);
    if (k->n_dead > FEW && k->n_dead > k->fresh.n_rows / 2)
        drop_dead(k);
    return rc;
}

/* The caller owns @p fresh; @p gone lasts until the next call. On failure nothing has changed. */
int keep_changes(struct keep *k, struct table *fresh, const int64_t **gone, int64_t *n_gone, struct err *e)
{
    /* Taken first: it is the only thing here that can fail. */
    struct table empty;
    *fresh = (struct table){ 0 };
    *gone = NULL;
    *n_gone = 0;
    int rc = copy_columns(&empty, &k->fresh, e);
    if (rc) {
        table_free(&empty);
        return rc;
    }
    drop_dead(k);
    for (int64_t row = 0; row < k->fresh.n_rows; row++) {
        struct survivor *p = find_survivor(k, cells_of(k, row)[k->point].count);
        if (p)
            p->row = -1;
    }
    *fresh = k->fresh;
    k->fresh = empty;
    free(k->told);
    *gone = k->told = k->gone;
    *n_gone = k->n_gone;
    k->gone = NULL;
    k->n_gone = k->cap_gone = 0;
    return 0;
}

const struct front_set *keep_fronts(const struct keep *k)
{
    return &k->fronts;
}

void keep_add_left_out(struct keep *k, const struct keep *from)
{
    front_set_add_left_out(&k->fronts, &from->fronts);
}

int keep_sort_fronts(struct keep *k, struct err *e)
{
    int rc = 0;
    for (int32_t i = 0; i < k->fronts.n && !rc; i++)
        rc = front_sort(&k->fronts.fronts[i], e);
    return rc;
}

struct keep_counts keep_counts_of(const struct keep *k)
{
    return k->counts;
}
