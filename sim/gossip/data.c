/*
 * Examples: drawn from a teacher, or read from CSV files; and how workers share them.
 */
#include "sim/gossip/data.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/vec.h"
#include "base/num.h"
#include "base/json_read.h"
#include "base/rng.h"
#include "base/text.h"

const char *const gossip_sharding_words[] = { "iid", "label-skew", NULL };

/* Streams of one seed. */
enum { STREAM_EXAMPLES = 1, STREAM_NOISE, STREAM_SHUFFLE, STREAM_WEIGHTS = 16 /* and the version */ };

/* ---- examples ---- */

/* Examples as rows of floats with a class each; limits are checked before anything is allocated. */
int gossip_data_build(struct gossip_data *d, int64_t n, int32_t n_features, int32_t n_classes, struct err *e)
{
    int64_t cells;
    *d = (struct gossip_data){ 0 };
    if (n < 1)
        return err_set(e, ERR_RANGE, "examples: are %lld, expected at least 1", (long long)n);
    if (n_features < 1 || n_features > GOSSIP_MAX_FEATURES)
        return err_set(e, ERR_RANGE, "features: are %d, expected 1 to %d", n_features, GOSSIP_MAX_FEATURES);
    if (n_classes < 2 || n_classes > GOSSIP_MAX_CLASSES)
        return err_set(e, ERR_RANGE, "classes: are %d, expected 2 to %d", n_classes, GOSSIP_MAX_CLASSES);
    if (!num_mul(n, n_features, &cells))
        return err_set(e, ERR_RANGE, "examples: are %lld of %d features", (long long)n, n_features);
    *d = (struct gossip_data){ .n_features = n_features, .n_classes = n_classes, .n = n };
    d->x = calloc((size_t)cells, sizeof *d->x);
    d->y = calloc((size_t)n, sizeof *d->y);
    if (d->x && d->y)
        return 0;
    gossip_data_free(d);
    return err_nomem(e, "examples");
}

void gossip_data_free(struct gossip_data *d)
{
    free(d->x);
    free(d->y);
    *d = (struct gossip_data){ 0 };
}

/* ---- the teacher ---- */

struct weights {
    struct arena arena;
    double *w1, *w2; /* shape [n_features][hidden], [hidden][n_classes] */
    double *h;       /* shape [hidden] */
};

/* A two-layer network with random weights. `version` shifts its stream: concept drift is another teacher over
 * the same examples. */
static int draw_weights(struct weights *w, const struct gossip_teacher *t, struct err *e)
{
    size_t n1 = (size_t)t->n_features * (size_t)t->hidden, n2 = (size_t)t->hidden * (size_t)t->n_classes;
    double sigma = t->gain / sqrt(t->n_features);
    struct rng *r = NULL;
    w->w1 = ARENA_TAKE(&w->arena, n1, *w->w1);
    w->w2 = ARENA_TAKE(&w->arena, n2, *w->w2);
    w->h = ARENA_TAKE(&w->arena, t->hidden, *w->h);
    int rc = arena_check(&w->arena, "a teacher", e);
    if (!rc)
        rc = rng_build(&r, t->seed, STREAM_WEIGHTS + (uint64_t)t->version, e);
    if (rc)
        return rc;
    for (size_t i = 0; i < n1; i++)
        w->w1[i] = sigma * rng_normal(r);
    for (size_t i = 0; i < n2; i++)
        w->w2[i] = rng_normal(r);
    rng_free(r);
    return 0;
}

/* The class of one example. */
static int32_t teacher_ask(const struct weights *w, const struct gossip_teacher *t, const float *x)
{
    int32_t best = 0;
    double most = -INFINITY;
    for (int32_t j = 0; j < t->hidden; j++) {
        double z = 0;
        for (int32_t i = 0; i < t->n_features; i++)
            z += (double)x[i] * w->w1[i * t->hidden + j];
        w->h[j] = z;
    }
    elementary_tanh(w->h, t->hidden);
    for (int32_t k = 0; k < t->n_classes; k++) {
        double score = 0;
        for (int32_t j = 0; j < t->hidden; j++)
            score += w->h[j] * w->w2[j * t->n_classes + k];
        if (score > most) {
            most = score;
            best = k;
        }
    }
    return best;
}

static void csv_fill(struct gossip_data *d, const struct weights *w, const struct gossip_teacher *t,
                     struct rng *examples)
{
    for (int64_t i = 0; i < d->n; i++) {
        float *x = d->x + i * d->n_features;
        for (int32_t k = 0; k < d->n_features; k++)
            x[k] = (float)rng_normal(examples);
        d->y[i] = teacher_ask(w, t, x);
    }
}

static void mislabel(struct gossip_data *d, double share, struct rng *r)
{
    for (int64_t i = 0; i < d->n; i++)
        if (rng_uniform(r) < share)
            d->y[i] = (int32_t)rng_below(r, d->n_classes);
}

/* Ranges that the key table does not hold. */
static int check_teacher(const struct gossip_teacher *t, struct err *e)
{
    if (t->hidden < 1 || t->hidden > GOSSIP_MAX_FEATURES)
        return err_set(e, ERR_RANGE, "teacher: has %d hidden units, expected 1 to %d", t->hidden,
                       GOSSIP_MAX_FEATURES);
    if (!(isfinite(t->gain) && t->gain > 0))
        return err_set(e, ERR_RANGE, "teacher: gain is %g, expected > 0", t->gain);
    if (!(t->noise >= 0 && t->noise <= 1))
        return err_set(e, ERR_RANGE, "teacher: noise is %g, expected 0 to 1", t->noise);
    if (t->version < 0)
        return err_set(e, ERR_RANGE, "teacher: version is %d, expected >= 0", t->version);
    return 0;
}

/* Examples, weights and noise have streams of their own: more noise leaves the examples as they were. */
int gossip_teach(struct gossip_data *train, struct gossip_data *test, const struct gossip_teacher *t,
                 struct err *e)
{
    struct weights w = { 0 };
    struct rng *examples = NULL, *noise = NULL;
    *train = *test = (struct gossip_data){ 0 };
    int rc = check_teacher(t, e);
    if (!rc)
        rc = gossip_data_build(train, t->n_train, t->n_features, t->n_classes, e);
    if (!rc)
        rc = gossip_data_build(test, t->n_test, t->n_features, t->n_classes, e);
    if (!rc)
        rc = draw_weights(&w, t, e);
    if (!rc)
        rc = rng_build(&examples, t->seed, STREAM_EXAMPLES, e);
    if (!rc)
        rc = rng_build(&noise, t->seed, STREAM_NOISE, e);
    if (!rc) {
        csv_fill(train, &w, t, examples);
        csv_fill(test, &w, t, examples);
        mislabel(train, t->noise, noise);
    } else {
        gossip_data_free(train);
        gossip_data_free(test);
    }
    arena_free(&w.arena);
    rng_free(examples);
    rng_free(noise);
    return rc;
}

/* ---- shards ---- */

/* Fisher and Yates. */
static void shuffle(int64_t *order, int64_t n, struct rng *r)
{
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t k = rng_below(r, i + 1), swap = order[i];
        order[i] = order[k];
        order[k] = swap;
    }
}

/* By class, equals in the order they had: counting sort. */
static int sort_by_class(int64_t *order, const struct gossip_data *d, struct err *e)
{
    int64_t *at = calloc((size_t)d->n_classes + 1, sizeof *at);
    int64_t *sorted = malloc((size_t)d->n * sizeof *sorted);
    if (at && sorted) {
        for (int64_t i = 0; i < d->n; i++)
            at[d->y[i] + 1]++;
        for (int32_t k = 0; k < d->n_classes; k++)
            at[k + 1] += at[k];
        for (int64_t i = 0; i < d->n; i++)
            sorted[at[d->y[order[i]]]++] = order[i];
        for (int64_t i = 0; i < d->n; i++)
            order[i] = sorted[i];
    }
    int rc = at && sorted ? 0 : err_nomem(e, "examples by class");
    free(at);
    free(sorted);
    return rc;
}

/* Examples are dealt out evenly after a shuffle, or (skew) sorted by class first, so that a worker sees few
 * classes. Sizes of shards differ by one at most. */
int gossip_shards_build(struct gossip_shards *s, const struct gossip_data *d, int32_t n_workers,
                        enum gossip_sharding how, uint64_t seed, struct err *e)
{
    struct rng *r = NULL;
    *s = (struct gossip_shards){ 0 };
    if (n_workers < 1 || n_workers > d->n)
        return err_set(e, ERR_RANGE, "workers: are %d for %lld examples, expected 1 to that many", n_workers,
                       (long long)d->n);
    int rc = rng_build(&r, seed, STREAM_SHUFFLE, e);
    if (rc)
        return rc;
    s->n_workers = n_workers;
    s->order = ARENA_TAKE(&s->arena, d->n, *s->order);
    s->first = ARENA_TAKE(&s->arena, n_workers + 1, *s->first);
    rc = arena_check(&s->arena, "shards", e);
    if (!rc) {
        for (int64_t i = 0; i < d->n; i++)
            s->order[i] = i;
        shuffle(s->order, d->n, r);
        for (int32_t w = 0; w <= n_workers; w++)
            s->first[w] = d->n / n_workers * w + (d->n % n_workers) * w / n_workers;
        if (how == GOSSIP_SKEW)
            rc = sort_by_class(s->order, d, e);
    }
    rng_free(r);
    if (rc)
        gossip_shards_free(s);
    return rc;
}

void gossip_shards_free(struct gossip_shards *s)
{
    arena_free(&s->arena);
    *s = (struct gossip_shards){ 0 };
}

enum { MAX_LINE = 1 << 22, MAX_COLUMNS = GOSSIP_MAX_FEATURES + 1, SHOWN = 40 };

/* A field of the line at hand, terminated, and the byte of the line it begins at, from 1. */
struct field {
    char *s;
    int64_t column;
};

struct class_name {
    char *name; /* owned */
    int32_t id; /* by first appearance */
};

struct data_reader {
    struct lines lines;
    struct gossip_labels *labels;
    bool training;        /* labels are being filled */
    struct field *fields; /* shape [n_fields], owned */
    int32_t n_fields, cap_fields;
    int32_t n_columns, at; /* of the header; which holds the class */
    struct class_name
        *classes; /* shape [n_classes], owned: of a training file, in the order of their names */
    int32_t n_classes, cap_classes;
    double *x;  /* shape [n][n_columns - 1], owned */
    int32_t *y; /* shape [n], owned: class.id, or the number of the class in the labels */
    int32_t n, cap_y;
    int64_t cap_x;
    struct err *e;
};

/* ---- messages ---- */

static int csv_fail_at(const struct data_reader *r, int64_t column, const char *what)
{
    return err_set(r->e, ERR_PARSE, "%s:%lld:%lld: %s", r->lines.path, (long long)r->lines.line,
                   (long long)column, what);
}

/* "path:3:7: age: is "x", expected NEED". */
static int fail_field(const struct data_reader *r, enum err_code code, int32_t k, const char *need)
{
    const struct gossip_labels *l = r->labels;
    const struct field *f = &r->fields[k];
    const char *name = k == r->at ? l->label : l->features[k - (k > r->at)];
    if (*f->s == '\0')
        return err_set(r->e, code, "%s:%lld:%lld: %.*s: is blank, expected %s", r->lines.path,
                       (long long)r->lines.line, (long long)f->column, SHOWN, name, need);
    return err_set(r->e, code, "%s:%lld:%lld: %.*s: is \"%.*s\", expected %s", r->lines.path,
                   (long long)r->lines.line, (long long)f->column, SHOWN, name, SHOWN, f->s, need);
}

/* ---- a line into fields ---- */

/* The end of the field at *s, of which blanks around are taken off and quotes too; NULL after a fault. */
static char *end_of_field(struct data_reader *r, char **s)
{
    char *start = *s + strspn(*s, " \t"), *end;
    int64_t column = start - r->lines.s + 1;
    *s = start;
    if (*start != '"') {
        end = start + strcspn(start, ",");
        char *last = end;
        while (last > start && (last[-1] == ' ' || last[-1] == '\t'))
            last--;
        if (last < end) /* the comma is read by the caller */
            *last = '\0';
        return end;
    }
    end = text_unquote(start);
    if (!end) {
        csv_fail_at(r, column, "quote is not closed on its line");
        return NULL;
    }
    end += strspn(end, " \t");
    if (*end == ',' || *end == '\0')
        return end;
    csv_fail_at(r, end - r->lines.s + 1,
                "text after a closing quote, expected a comma or the end of the line");
    return NULL;
}

/* Fields of the current line, in place; quotes as in RFC 4180 but within one line. */
static int csv_split(struct data_reader *r)
{
    char *s = r->lines.s;
    r->n_fields = 0;
    for (bool more = true; more;) {
        if (r->n_fields == MAX_COLUMNS)
            return err_set(r->e, ERR_RANGE, "%s:%lld: has more than %d fields, the most allowed many",
                           r->lines.path, (long long)r->lines.line, MAX_COLUMNS);
        if (!vec_reserve(r->fields, r->cap_fields, r->n_fields + 1))
            return err_nomem(r->e, r->lines.path);
        char *end = end_of_field(r, &s);
        if (!end)
            return r->e->code;
        more = *end == ',';
        *end = '\0';
        r->fields[r->n_fields++] = (struct field){ s, s - r->lines.s + 1 };
        s = end + more;
    }
    return 0;
}

/* The next line that is not empty into fields; `more` is false at the end of the file. */
static int next_row(struct data_reader *r, bool *more)
{
    for (;;) {
        int rc = lines_next(&r->lines, more, r->e);
        if (rc || !*more)
            return rc;
        if (r->n_columns == 0 && r->lines.line == 1 && strncmp(r->lines.s, "\xef\xbb\xbf", 3) == 0)
            memmove(r->lines.s, r->lines.s + 3, r->lines.n - 2); /* byte order mark, as spreadsheets write */
        bool comment = r->n_columns == 0 && r->lines.s[0] == '#';
        if (!comment && r->lines.s[strspn(r->lines.s, " \t")] != '\0')
            return csv_split(r);
    }
}

/* ---- the header ---- */

static int compare_fields(const void *a, const void *b)
{
    const struct field *f = a, *g = b;
    int by_name = strcmp(f->s, g->s);
    return by_name ? by_name : (f->column > g->column) - (f->column < g->column);
}

/* Sorted, so that a thousand columns cost no million comparisons. */
static int csv_check_names(const struct data_reader *r)
{
    struct field *sorted = malloc((size_t)r->n_fields * sizeof *sorted);
    if (!sorted)
        return err_nomem(r->e, r->lines.path);
    memcpy(sorted, r->fields, (size_t)r->n_fields * sizeof *sorted);
    qsort(sorted, (size_t)r->n_fields, sizeof *sorted, compare_fields);
    int rc = 0;
    for (int32_t i = 1; i < r->n_fields && !rc; i++)
        if (strcmp(sorted[i - 1].s, sorted[i].s) == 0)
            rc = err_set(r->e, ERR_PARSE, "%s:%lld:%lld: column \"%.*s\" is there twice; names must differ",
                         r->lines.path, (long long)r->lines.line, (long long)sorted[i].column, SHOWN,
                         sorted[i].s);
    free(sorted);
    return rc;
}

/* The named column, or the last one; a near name is suggested. */
static int find_label(struct data_reader *r, const char *label)
{
    const char **names;
    r->at = r->n_fields - 1;
    if (!label)
        return 0;
    for (r->at = 0; r->at < r->n_fields; r->at++)
        if (strcmp(r->fields[r->at].s, label) == 0)
            return 0;
    names = malloc((size_t)r->n_fields * sizeof *names);
    if (!names)
        return err_nomem(r->e, r->lines.path);
    for (int32_t k = 0; k < r->n_fields; k++)
        names[k] = r->fields[k].s;
    err_set(r->e, ERR_PARSE, "%s:%lld:1: has no column \"%.*s\", required for the classes", r->lines.path,
            (long long)r->lines.line, SHOWN, label);
    err_suggest(r->e, text_nearest(label, names, (size_t)r->n_fields));
    free(names);
    return ERR_PARSE;
}

/* The training file sets names, means and deviations, which the test file is then held to. */
static int copy_names(struct data_reader *r)
{
    struct gossip_labels *l = r->labels;
    size_t n = (size_t)r->n_fields - 1;
    l->label = strdup(r->fields[r->at].s);
    l->features = ARENA_TAKE(&l->arena, n, *l->features);
    l->mean = ARENA_TAKE(&l->arena, n, *l->mean);
    l->deviation = ARENA_TAKE(&l->arena, n, *l->deviation);
    if (!l->label || l->arena.failed)
        return err_nomem(r->e, r->lines.path);
    l->n_features = (int32_t)n;
    for (int32_t k = 0; k < l->n_features; k++)
        if (!(l->features[k] = strdup(r->fields[k + (k >= r->at)].s)))
            return err_nomem(r->e, r->lines.path);
    return 0;
}

/* A test file has the features of the training file in their order. */
static int compare_names(const struct data_reader *r)
{
    const struct gossip_labels *l = r->labels;
    if (r->n_fields != l->n_features + 1)
        return err_set(r->e, ERR_PARSE, "%s:%lld:1: has %d columns, expected %d as in the training file",
                       r->lines.path, (long long)r->lines.line, (int)r->n_fields, (int)l->n_features + 1);
    for (int32_t k = 0; k < l->n_features; k++) {
        const struct field *f = &r->fields[k + (k >= r->at)];
        if (strcmp(f->s, l->features[k]) != 0)
            return err_set(r->e, ERR_PARSE,
                           "%s:%lld:%lld: column is \"%.*s\", expected \"%.*s\" as in the training file",
                           r->lines.path, (long long)r->lines.line, (long long)f->column, SHOWN, f->s, SHOWN,
                           l->features[k]);
    }
    return 0;
}

/* The test file must have the same columns in the same order: features are told apart by place. */
static int csv_read_header(struct data_reader *r, const char *label)
{
    bool more;
    int rc = next_row(r, &more);
    if (!rc && !more)
        rc =
            err_set(r->e, ERR_PARSE, "%s:1:1: file is empty, expected a line of column names", r->lines.path);
    if (!rc && r->n_fields < 2)
        rc = csv_fail_at(r, 1, "has 1 column, expected a class and at least one feature");
    if (!rc)
        rc = csv_check_names(r);
    if (!rc)
        rc = find_label(r, r->training ? label : r->labels->label);
    if (!rc)
        rc = r->training ? copy_names(r) : compare_names(r);
    r->n_columns = r->n_fields;
    return rc;
}

/* ---- rows ---- */

/* Numbers by value, then words: a total order of names. */
static int compare_classes(const char *a, const char *b)
{
    double x = HUGE_VAL, y = HUGE_VAL;
    num_parse_real(a, &x);
    num_parse_real(b, &y);
    return x != y ? (x < y ? -1 : 1) : strcmp(a, b);
}

/* Where @p name is among the classes so far, or has to be put. */
static int32_t csv_place_of(const struct data_reader *r, const char *name)
{
    int32_t lo = 0, hi = r->training ? r->n_classes : r->labels->n_classes;
    while (lo < hi) {
        int32_t mid = lo + (hi - lo) / 2;
        const char *there = r->training ? r->classes[mid].name : r->labels->classes[mid];
        if (compare_classes(there, name) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Classes in alphabetical order for look-up, with numbers in order of appearance for now; number_classes()
 * settles them. */
static int add_class(struct data_reader *r, int32_t place, const char *name)
{
    if (r->n_classes == GOSSIP_MAX_CLASSES)
        return err_set(r->e, ERR_RANGE, "%s:%lld:%lld: %.*s: \"%.*s\" is class %d, expected at most %d",
                       r->lines.path, (long long)r->lines.line, (long long)r->fields[r->at].column, SHOWN,
                       r->labels->label, SHOWN, name, (int)r->n_classes + 1, GOSSIP_MAX_CLASSES);
    if (!vec_reserve(r->classes, r->cap_classes, r->n_classes + 1))
        return err_nomem(r->e, r->lines.path);
    char *copy = strdup(name);
    if (!copy)
        return err_nomem(r->e, r->lines.path);
    memmove(r->classes + place + 1, r->classes + place, (size_t)(r->n_classes - place) * sizeof *r->classes);
    r->classes[place].name = copy;
    r->classes[place].id = r->n_classes++;
    return 0;
}

/* A class that only the test file has cannot be learned, and is an error. */
static int read_class(struct data_reader *r, int32_t *y)
{
    const struct gossip_labels *l = r->labels;
    const char *name = r->fields[r->at].s;
    int32_t place = csv_place_of(r, name);
    if (*name == '\0')
        return fail_field(r, ERR_PARSE, r->at, "a class");
    *y = place;
    if (!r->training)
        return place < l->n_classes && strcmp(l->classes[place], name) == 0
                   ? 0
                   : fail_field(r, ERR_RANGE, r->at, "a class of the training file");
    if (place == r->n_classes || strcmp(r->classes[place].name, name) != 0) {
        int rc = add_class(r, place, name);
        if (rc)
            return rc;
    }
    *y = r->classes[place].id;
    return 0;
}

static int csv_make_room(struct data_reader *r)
{
    bool room = vec_reserve(r->x, r->cap_x, ((int64_t)r->n + 1) * r->labels->n_features) &&
                vec_reserve(r->y, r->cap_y, r->n + 1);
    return room ? 0 : err_nomem(r->e, r->lines.path);
}

/* In deviations of the training file. */
static double standard(const struct gossip_labels *l, int32_t k, double x)
{
    return l->deviation[k] > 0 ? (x - l->mean[k]) / l->deviation[k] : 0;
}

static int read_feature(const struct data_reader *r, int32_t k, double *x)
{
    if (!num_parse_real(r->fields[k].s, x))
        return fail_field(r, ERR_PARSE, k, "a number");
    if (fabs(*x) > GOSSIP_CSV_MOST)
        return fail_field(r, ERR_RANGE, k, "-1e100 to 1e100");
    if (!r->training && !(fabs(standard(r->labels, k - (k > r->at), *x)) <= FLT_MAX))
        return fail_field(r, ERR_RANGE, k, "at most 3e38 deviations from the mean of the training file");
    return 0;
}

/* One example; the class may stand in any column. */
static int csv_read_row(struct data_reader *r)
{
    if (r->n_fields != r->n_columns)
        return err_set(r->e, ERR_PARSE, "%s:%lld:1: has %d field%s, expected %d", r->lines.path,
                       (long long)r->lines.line, (int)r->n_fields, r->n_fields == 1 ? "" : "s",
                       (int)r->n_columns);
    int rc = csv_make_room(r);
    double *x = r->x + (int64_t)r->n * r->labels->n_features;
    for (int32_t k = 0; k < r->n_fields && !rc; k++)
        if (k != r->at)
            rc = read_feature(r, k, x++);
    if (!rc)
        rc = read_class(r, &r->y[r->n]);
    r->n += !rc;
    return rc;
}

/* At least one row, and two classes in training. */
static int csv_read_rows(struct data_reader *r)
{
    bool more = true;
    int rc = 0;
    while (!rc && more) {
        rc = next_row(r, &more);
        if (!rc && more)
            rc = csv_read_row(r);
    }
    if (!rc && r->n == 0)
        rc = err_set(r->e, ERR_PARSE, "%s:%lld:1: has no rows below the header, expected at least 1",
                     r->lines.path, (long long)r->lines.line);
    if (!rc && r->training && r->n_classes < 2)
        rc = err_set(r->e, ERR_RANGE,
                     "%s:%lld:1: %.*s: is \"%.*s\" in every row, expected at least 2 classes", r->lines.path,
                     (long long)r->lines.line, SHOWN, r->labels->label, SHOWN, r->classes[0].name);
    return rc;
}

/* ---- what was read as a data set ---- */

/* Names go to the labels; classes are numbered in their order from here on. */
static int number_classes(struct data_reader *r)
{
    struct gossip_labels *l = r->labels;
    int32_t *number = malloc((size_t)r->n_classes * sizeof *number);
    l->classes = ARENA_TAKE(&l->arena, r->n_classes, *l->classes);
    if (number && l->classes) {
        l->n_classes = r->n_classes;
        for (int32_t k = 0; k < r->n_classes; k++) {
            number[r->classes[k].id] = k;
            l->classes[k] = r->classes[k].name;
        }
        for (int32_t i = 0; i < r->n; i++)
            r->y[i] = number[r->y[i]];
        r->n_classes = 0;
    }
    free(number);
    return l->classes && l->n_classes ? 0 : err_nomem(r->e, r->lines.path);
}

/* Mean and deviation of each column in one pass (B. P. Welford, Technometrics 4, 1962, page 419): no
 * difference of large squares, and exactly 0 for a constant. */
static void csv_measure(struct gossip_labels *l, const double *x, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < l->n_features; k++, x++) {
            double before = *x - l->mean[k];
            l->mean[k] += before / (i + 1);
            l->deviation[k] += before * (*x - l->mean[k]);
        }
    for (int32_t k = 0; k < l->n_features; k++)
        l->deviation[k] = sqrt(fmax(0, l->deviation[k] / n));
}

/* Means and deviations are those of the training file for both files. */
static int csv_standardise(struct gossip_data *d, const struct data_reader *r)
{
    const struct gossip_labels *l = r->labels;
    int rc = gossip_data_build(d, r->n, l->n_features, l->n_classes, r->e);
    if (rc)
        return rc;
    /* Training examples are within sqrt(n) deviations; read_feature() has looked at the others. */
    for (int64_t i = 0; i < (int64_t)r->n * l->n_features; i++)
        d->x[i] = (float)standard(l, (int32_t)(i % l->n_features), r->x[i]);
    memcpy(d->y, r->y, (size_t)r->n * sizeof *d->y);
    return 0;
}

static void reader_free(struct data_reader *r)
{
    for (int32_t k = 0; k < r->n_classes; k++)
        free(r->classes[k].name);
    free(r->classes);
    free(r->fields);
    free(r->x);
    free(r->y);
    lines_close(&r->lines);
}

/* Call it for the training file first: labels are empty then and are filled; the test file is read against
 * them. */
int gossip_data_read_csv(struct gossip_data *d, struct gossip_labels *labels, const char *path,
                         const char *label, struct err *e)
{
    struct data_reader r = { .labels = labels, .training = !labels->label, .e = e };
    *d = (struct gossip_data){ 0 };
    int rc = lines_open(&r.lines, path, MAX_LINE, e);
    if (!rc)
        rc = csv_read_header(&r, label);
    if (!rc)
        rc = csv_read_rows(&r);
    if (!rc && r.training) {
        csv_measure(labels, r.x, r.n);
        rc = number_classes(&r);
    }
    if (!rc)
        rc = csv_standardise(d, &r);
    if (rc)
        gossip_data_free(d);
    if (rc && r.training)
        gossip_labels_free(labels);
    reader_free(&r);
    return rc;
}

/* Names, classes and statistics of both files. */
void gossip_labels_free(struct gossip_labels *l)
{
    for (int32_t k = 0; k < l->n_features && l->features; k++)
        free(l->features[k]);
    for (int32_t k = 0; k < l->n_classes && l->classes; k++)
        free(l->classes[k]);
    free(l->label);
    arena_free(&l->arena);
    *l = (struct gossip_labels){ 0 };
}
