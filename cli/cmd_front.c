/*
 * weft front: which rows of a CSV or a store no other row beats in all of a few columns, what lies behind
 * them, how far a design is from them, and a sketch of it.
 *
 * Rows are read a batch at a time and offered to the fronts (study/keep.c): those of all rows, and with
 * --limit those of the rows within it. A row is told by its point, where points have several rows by a number
 * too (KEEP_ROW), which people see as POINT:LABEL.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/num.h"
#include "base/sheet.h"
#include "base/stat.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/filters.h"
#include "cli/front_source.h"
#include "cli/output.h"
#include "cli/points.h"
#include "plots/scale.h"
#include "kinds/design/answer/columns.h"
#include "study/keep.h"
#include "study/store.h"
#include "study/study.h"

/* ---- what is found: fronts, with and without limits, and a design held against them ---- */

/** The fronts of all rows, or of those within the limits. */
struct front_side {
    struct keep_rule rule;
    struct keep *keep;                    /**< owned */
    struct table rows;                    /**< owned: those on the fronts, in the order of the table */
    struct hash by_id;                    /**< owned: rows by their id */
    int32_t point_col, id_col, label_col; /**< -1: there is none */
};

/** --design or --at. */
struct front_design {
    bool asked, found;
    int64_t point;               /**< -1 = --at */
    const char *label;           /**< which of the point's rows; NULL: its first */
    double x[FRONT_MAX_COLUMNS]; /**< shape [n_front of the rule], sign changed where more is better */
    struct text group;           /**< owned; of --at no group: it is held against all */
    struct table row;            /**< owned: of --at the values alone */
};

/** Some of the designs that were seen, spread by a hash of their points: every so many along an axis of the
 * sweep would meet the same values of another. */
struct front_sample {
    struct table rows;   /**< owned */
    int64_t most, every; /**< rows at most, 0 = none are wanted; one in `every` points */
};

enum { FRONT_ALL, FRONT_WITHIN, FRONT_SIDES };

/** Zero-initialise; release with front_job_free(). */
struct front_job {
    struct front_source source;
    struct filters filters;
    struct front_side sides[FRONT_SIDES]; /**< shape [n_sides]: the second where there are limits */
    int32_t n_sides;
    struct front_design design;
    struct front_sample sample;
    int64_t n_passed;             /**< rows that pass --where */
    struct text work, other_work; /**< owned: the workload of the first of them, and the first other one */
};

enum { FRONT_NAME = 160, USUAL_TIES = 10 };

/* ---- what is asked ---- */

static bool has_values(const struct table *rows, const char *name)
{
    int32_t col = table_find(rows, name);
    for (int64_t row = 0; row < rows->n_rows && col >= 0; row++)
        if (isfinite(keep_number(rows, row, col)))
            return true;
    return false;
}

/* The first two of the kind's columns that have values; where there are less, the first two. */
static void default_by(char out[160], const struct study_kind *kind, const struct table *rows)
{
    const char *found[2] = { kind->front[0], kind->front[1] };
    int n = 0;
    for (const char *const *name = kind->front; *name && n < 2; name++)
        if (has_values(rows, *name))
            found[n++] = *name;
    if (n == 1 && found[0] == kind->front[1])
        found[1] = kind->front[0];
    snprintf(out, 160, "%s,%s", found[0], found[1]);
}

static int take_rule(struct keep_rule *k, const struct options *opt, const struct table *columns,
                     struct err *e)
{
    char usual[160];
    default_by(usual, k->kind, columns);
    const char *by = opt->front_by ? opt->front_by : k->kind->label ? usual : "time_s,cost_usd";
    int rc = cmd_points_take_list(k, "by", by, keep_take_front, columns, e);
    if (rc == ERR_USAGE && !opt->front_by)
        rc = err_set(e, ERR_USAGE, "the rows have no numbers in %s; name the columns that count with --by",
                     by);
    if (!rc && k->n_front < 2)
        rc = err_set(e, ERR_USAGE, "option --by is \"%s\", expected 2 to %d columns", by, FRONT_MAX_COLUMNS);
    if (!rc && opt->front_per && opt->front_per[0])
        rc = cmd_points_take_list(k, "per", opt->front_per, keep_take_per, columns, e);
    if (!opt->front_per)
        keep_default_per(k, columns);
    return rc;
}

static int take_limits(struct keep_rule *k, const struct options *opt, const struct table *columns,
                       struct err *e)
{
    struct err inner = { 0 };
    for (int32_t i = 0; i < opt->limits.n; i++)
        if (keep_take_limit(k, opt->limits.items[i], columns, &inner))
            return options_misuse("limit", &inner, e);
    return 0;
}

/* "time_s=1.2": the column's place among those of the front, and the value. */
static int take_value(double *x, bool *given, const struct keep_rule *k, const char *text, struct err *e)
{
    const char *names[FRONT_MAX_COLUMNS], *equals = strchr(text, '=');
    size_t n = equals ? (size_t)(equals - text) : strlen(text);
    char name[64];
    double value;
    snprintf(name, sizeof name, "%.*s", n < sizeof name ? (int)n : (int)sizeof name - 1, text);
    for (int32_t i = 0; i < k->n_front; i++) {
        names[i] = k->front[i].name;
        if (strcmp(name, names[i]) != 0)
            continue;
        if (!equals || !num_parse_real(equals + 1, &value))
            return err_set(e, ERR_USAGE, "option --at has \"%.100s\", expected COLUMN=NUMBER", text);
        x[i] = k->front[i].large ? -value : value;
        given[i] = true;
        return 0;
    }
    err_set(e, ERR_USAGE, "option --at is about \"%s\", expected the columns of --by", name);
    return err_suggest(e, text_nearest(name, names, (size_t)k->n_front));
}

static int take_at(struct front_design *d, const struct keep_rule *k, const char *list, struct err *e)
{
    bool given[FRONT_MAX_COLUMNS] = { false };
    char *copy = strdup(list), *rest = copy;
    int rc = copy ? 0 : err_nomem(e, "columns");
    for (char *value; !rc && (value = text_split(&rest, ','));)
        rc = take_value(d->x, given, k, value, e);
    for (int32_t i = 0; i < k->n_front && !rc; i++)
        if (!given[i])
            rc = err_set(e, ERR_USAGE, "option --at lacks %s; give all columns of --by", k->front[i].name);
    free(copy);
    d->found = !rc;
    return rc;
}

/* "12", or "12:gadget". */
static bool parse_design(struct front_design *d, const char *text)
{
    char number[24];
    const char *colon = strchr(text, ':');
    size_t n = colon ? (size_t)(colon - text) : strlen(text);
    if (n >= sizeof number)
        return false;
    snprintf(number, sizeof number, "%.*s", (int)n, text);
    d->label = colon ? colon + 1 : NULL;
    return num_parse_count(number, &d->point);
}

static int take_design(struct front_design *d, const struct keep_rule *k, const struct options *opt,
                       struct err *e)
{
    d->asked = opt->front_design || opt->front_at;
    d->point = -1;
    if (opt->front_design && opt->front_at)
        return err_set(e, ERR_USAGE, "option --at is given together with --design; give one of them");
    if (opt->front_design && !parse_design(d, opt->front_design))
        return err_set(e, ERR_USAGE, "option --design is \"%.100s\", expected the number of a point",
                       opt->front_design);
    return opt->front_at ? take_at(d, k, opt->front_at, e) : 0;
}

static int take_options(struct front_job *j, const struct options *opt, struct err *e)
{
    const struct table *columns = &j->source.rows;
    j->n_sides = opt->limits.n > 0 ? 2 : 1;
    j->sample = (struct front_sample){ .most = opt->front_behind, .every = 1 };
    int rc = filters_read(&j->filters, &opt->where, e);
    for (int32_t i = 0; i < j->n_sides; i++) {
        j->sides[i].rule.kind = j->source.kind;
        j->sides[i].rule.most_equal = opt->front_ties ? opt->front_ties : USUAL_TIES;
    }
    for (int32_t i = 0; i < j->n_sides && !rc; i++)
        rc = take_rule(&j->sides[i].rule, opt, columns, e);
    if (!rc)
        rc = take_limits(&j->sides[FRONT_WITHIN].rule, opt, columns, e);
    if (!rc)
        rc = take_design(&j->design, &j->sides[0].rule, opt, e);
    if (!rc)
        rc = filters_check(&j->filters, columns, e);
    for (int32_t i = 0; i < j->n_sides && !rc; i++)
        rc = keep_build(&j->sides[i].keep, &j->sides[i].rule, columns, e);
    return rc;
}

/* ---- rows ---- */

/* Which column names a row within its point; -1: none does. */
static int32_t label_column(const struct study_kind *kind, const struct table *rows)
{
    int32_t col = kind && kind->label ? table_find(rows, kind->label) : -1;
    return col >= 0 && rows->kinds[col] == TABLE_TEXT ? col : -1;
}

static int find_design(struct front_job *j, const struct table *rows, struct err *e)
{
    struct front_design *d = &j->design;
    int32_t point = table_find(rows, "point"), label = label_column(j->source.kind, rows);
    int rc = 0;
    for (int64_t row = 0; row < rows->n_rows && d->point >= 0 && !d->found && !rc; row++) {
        const char *own = label < 0 ? NULL : table_text(rows, row, label);
        if (table_count(rows, row, point) != d->point || (d->label && (!own || strcmp(own, d->label) != 0)))
            continue;
        d->found = true;
        keep_values(d->x, j->sides[0].keep, rows, row);
        rc = keep_group(&d->group, j->sides[0].keep, rows, row, e);
        table_columns_of(&d->row, rows);
        table_copy_row(&d->row, rows, row);
    }
    return rc ? rc : d->row.failed ? err_nomem(e, "the design") : 0;
}

/* One in `every` points, a power of 2, at random. */
static bool is_sampled(const void *data, const struct table *t, int64_t row)
{
    const int64_t every = *(const int64_t *)data;
    return (hash_finish((uint64_t)table_count(t, row, keep_id_column(t))) & (uint64_t)(every - 1)) == 0;
}

/* Too many: about half of them go, and of those to come only as many are taken. */
static void thin(struct front_sample *s)
{
    s->every *= 2;
    table_keep_rows(&s->rows, is_sampled, &s->every);
}

static int take_sample(struct front_job *j, const struct table *rows, struct err *e)
{
    struct front_sample *s = &j->sample;
    table_columns_of(&s->rows, rows);
    for (int64_t row = 0; row < rows->n_rows && s->most > 0; row++) {
        if (!keep_is_design(j->sides[0].keep, rows, row) || !is_sampled(&s->every, rows, row))
            continue;
        table_copy_row(&s->rows, rows, row);
        if (s->rows.failed)
            break;
        while (s->rows.n_rows > s->most)
            thin(s);
    }
    return s->rows.failed ? err_nomem(e, "designs behind the front") : 0;
}

/* Times of different work do not compare: the first workload, and the first that differs. */
static void note_work(struct front_job *j, const struct table *rows)
{
    int32_t work = table_find(rows, "workload");
    struct text now = { 0 };
    for (int64_t row = 0; row < rows->n_rows && work >= 0 && !j->other_work.n; row++) {
        text_clear(&now);
        table_cell_text(&now, rows, row, work);
        if (!j->work.s)
            text_puts(&j->work, text_str(&now));
        else if (!now.failed && strcmp(text_str(&now), text_str(&j->work)) != 0)
            text_puts(&j->other_work, text_str(&now));
    }
    text_free(&now);
}

static void warn_work(const struct front_job *j, struct run *run)
{
    for (int32_t i = 0; i < j->sides[0].rule.n_per; i++)
        if (strcmp(j->sides[0].rule.per[i], "workload") == 0)
            return;
    if (j->other_work.n && run->warned.n == 0)
        output_warn(run, "designs for %s and %s are compared with each other; give workload in --per",
                    text_str(&j->work), text_str(&j->other_work));
}

static int front_read_rows(struct front_job *j, struct err *e)
{
    struct table *rows;
    int rc;
    while (!(rc = cmd_front_next(&j->source, &rows, e)) && rows) {
        rc = find_design(j, rows, e);
        filters_keep(&j->filters, rows);
        j->n_passed += rows->n_rows;
        note_work(j, rows);
        if (!rc)
            rc = take_sample(j, rows, e);
        for (int32_t i = 0; i < j->n_sides && !rc; i++)
            rc = keep_offer(j->sides[i].keep, rows, e);
        if (rc)
            break;
    }
    return rc;
}

/* ---- fronts ---- */

static int index_rows(struct front_side *s, struct err *e)
{
    s->id_col = keep_id_column(&s->rows);
    s->label_col = label_column(s->rule.kind, &s->rows);
    s->point_col = table_find(&s->rows, "point");
    for (int64_t row = 0; row < s->rows.n_rows; row++)
        if (!hash_add(&s->by_id, (uint64_t)table_count(&s->rows, row, s->id_col), (int32_t)row))
            return err_nomem(e, "the front");
    return 0;
}

/* Row of side @p s with that id, which is one of them. O(1). */
static int64_t front_row(const struct front_side *s, int64_t id)
{
    hash_each (row, &s->by_id, (uint64_t)id)
        if (table_count(&s->rows, row, s->id_col) == id)
            return row;
    assert(false);
    return 0;
}

/* What a row is called: "12", or where points have several rows "12:LABEL". Returns @p buf. */
static const char *front_name(char buf[FRONT_NAME], const struct front_side *s, int64_t id)
{
    int64_t row = front_row(s, id);
    const char *label = s->label_col < 0 ? NULL : table_text(&s->rows, row, s->label_col);
    snprintf(buf, FRONT_NAME, "%lld%s%s", (long long)table_count(&s->rows, row, s->point_col),
             label ? ":" : "", label ? label : "");
    return buf;
}

static int front_take_side(struct front_side *s, struct err *e)
{
    const int64_t *gone;
    int64_t n_gone;
    int rc = keep_changes(s->keep, &s->rows, &gone, &n_gone, e);
    if (!rc)
        rc = keep_sort_fronts(s->keep, e);
    return rc ? rc : index_rows(s, e);
}

static void put_columns(struct text *out, const struct keep_rule *k)
{
    for (int32_t i = 0; i < k->n_front; i++)
        text_printf(out, "%s%s", i == 0 ? "" : i + 1 < k->n_front ? ", " : " or ", k->front[i].name);
}

/* Why nothing is on a front. */
static int fail_empty(const struct front_job *j, const struct run *run, struct err *e)
{
    struct keep_counts n = keep_counts_of(j->sides[0].keep);
    struct text columns = { 0 };
    if (j->n_passed == 0 && j->filters.n > 0)
        return err_set(e, ERR_RANGE, "%s: no row passes --where", run->opt.operands[0]);
    put_columns(&columns, &j->sides[0].rule);
    err_set(e, ERR_NO_DESIGN,
            "%s: none of %lld rows is on a front: %lld are not solved or do not fit, %lld lack %s",
            run->opt.operands[0], (long long)n.seen, (long long)n.no_design, (long long)n.blank,
            text_str(&columns));
    text_free(&columns);
    return ERR_NO_DESIGN;
}

static int check_fronts(const struct front_job *j, const struct run *run, struct err *e)
{
    if (j->sides[FRONT_ALL].rows.n_rows == 0)
        return fail_empty(j, run, e);
    if (j->n_sides > 1 && j->sides[FRONT_WITHIN].rows.n_rows == 0)
        return err_set(e, ERR_NO_DESIGN, "%s: no design is within %s%s", run->opt.operands[0],
                       j->sides[FRONT_WITHIN].rule.where[0],
                       j->sides[FRONT_WITHIN].rule.n_where > 1 ? " and the other limits" : "");
    if (j->design.asked && !j->design.found)
        return err_set(e, ERR_USAGE, "option --design is %s, expected a point of %s", run->opt.front_design,
                       run->opt.operands[0]);
    for (int32_t i = 0; i < j->sides[0].rule.n_front && j->design.asked; i++)
        if (!isfinite(j->design.x[i]))
            return err_set(e, ERR_USAGE,
                           "option --design is %lld, a point without %s, expected one that is solved",
                           (long long)j->design.point, j->sides[0].rule.front[i].name);
    return 0;
}

static void front_job_free(struct front_job *j)
{
    for (int32_t i = 0; i < FRONT_SIDES; i++) {
        keep_free(j->sides[i].keep);
        keep_rule_free(&j->sides[i].rule);
        table_free(&j->sides[i].rows);
        hash_free(&j->sides[i].by_id);
    }
    text_free(&j->design.group);
    table_free(&j->design.row);
    table_free(&j->sample.rows);
    filters_free(&j->filters);
    text_free(&j->work);
    text_free(&j->other_work);
    cmd_front_close(&j->source);
    *j = (struct front_job){ 0 };
}

/* ---- stores that are read together ---- */

/*
 * What one of them has: fronts of its own rows, and all else that is looked for. A design that is on the
 * front of all is on that of its store, so the fronts of stores, which are few rows, are held against each
 * other. Stores are read on all threads.
 */
static int read_front_part(struct front_job *part, const struct front_job *j, const struct options *opt,
                           int32_t k, struct err *e)
{
    part->source = (struct front_source){ .kind = j->source.kind,
                                          .store = j->source.store,
                                          .walk = store_walk_all(STORE_RESULTS, false),
                                          .point = -1 };
    part->source.walk.part = k + 1;
    int rc = cmd_front_read(&part->source, e);
    rc = rc ? rc : take_options(part, opt, e);
    rc = rc ? rc : front_read_rows(part, e);
    for (int32_t i = 0; i < part->n_sides && !rc; i++)
        rc = front_take_side(&part->sides[i], e);
    part->source.store = NULL; /* that of all */
    return rc;
}

/* Samples are thinned by the same rule, whoever took them. */
static int add_sample(struct front_sample *s, struct front_sample *part, struct err *e)
{
    table_columns_of(&s->rows, &part->rows);
    s->every = part->every > s->every ? part->every : s->every;
    table_take_rows(&s->rows, &part->rows);
    if (s->rows.failed)
        return err_nomem(e, "designs behind the front");
    table_keep_rows(&s->rows, is_sampled, &s->every);
    while (s->rows.n_rows > s->most)
        thin(s);
    return 0;
}

static void add_design(struct front_design *d, struct front_design *part)
{
    if (d->found || !part->found || d->point < 0)
        return;
    d->found = true;
    memcpy(d->x, part->x, sizeof d->x);
    d->group = part->group;
    d->row = part->row;
    part->group = (struct text){ 0 };
    part->row = (struct table){ 0 };
}

static int add_part(struct front_job *j, struct front_job *part, struct err *e)
{
    int rc = add_sample(&j->sample, &part->sample, e);
    j->n_passed += part->n_passed;
    add_design(&j->design, &part->design);
    if (!j->work.s)
        text_puts(&j->work, text_str(&part->work));
    if (!j->other_work.n && part->work.n && strcmp(text_str(&part->work), text_str(&j->work)) != 0)
        text_puts(&j->other_work, text_str(&part->work));
    else if (!j->other_work.n)
        text_puts(&j->other_work, text_str(&part->other_work));
    for (int32_t i = 0; i < j->n_sides && !rc; i++)
        if (!(rc = keep_offer(j->sides[i].keep, &part->sides[i].rows, e)))
            keep_add_left_out(j->sides[i].keep, part->sides[i].keep);
    return rc;
}

static int front_read_parts(struct front_job *j, const struct options *opt, struct err *e)
{
    const int32_t n = store_n_parts(j->source.store);
    struct front_job *parts = calloc((size_t)n, sizeof *parts);
    struct err *errs = calloc((size_t)n, sizeof *errs);
    int rc = parts && errs ? 0 : err_nomem(e, "fronts");
    if (!rc) {
#pragma omp parallel for schedule(dynamic, 1)
        for (int32_t k = 0; k < n; k++)
            read_front_part(&parts[k], j, opt, k, &errs[k]);
    }
    for (int32_t k = 0; k < n && !rc; k++) {
        rc = (int)errs[k].code;
        if (rc)
            *e = errs[k];
        rc = rc ? rc : add_part(j, &parts[k], e);
    }
    for (int32_t k = 0; k < n && parts; k++)
        front_job_free(&parts[k]);
    free(parts);
    free(errs);
    return rc;
}

/* Designs that equal others fill no memory, but are told of. */
static void warn_left_out(const struct front_job *j, struct run *run)
{
    const struct front_set *set = keep_fronts(j->sides[FRONT_ALL].keep);
    int64_t n = 0;
    for (int32_t g = 0; g < set->n; g++)
        n += set->fronts[g].left_out;
    if (n > 0)
        output_warn(run,
                    "of each set of equal designs only the first %lld are listed, %lld are left out (--ties)",
                    (long long)j->sides[FRONT_ALL].rule.most_equal, (long long)n);
}

/* Another front than that of the study may be of designs that were dropped. */
static bool asks_for_others(const struct options *opt)
{
    return opt->limits.n || opt->front_by || opt->front_per;
}

/* Read the table of @p run and find the fronts. ERR_USAGE, ERR_PARSE; ERR_NO_DESIGN: no row is on a front,
 * or none within the limits. */
static int front_job_run(struct front_job *j, struct run *run, struct err *e)
{
    int rc = cmd_front_open(&j->source, run, e);
    output_notes(run, &j->source.read.notes);
    output_notes(run, &j->source.rows.notes);
    if (!rc && j->source.store)
        output_warn_incomplete(run, j->source.store, 0);
    if (!rc && j->source.survivors && asks_for_others(&run->opt))
        output_warn(run,
                    "%s: has only what keep of its study left, and may lack the best under other columns and "
                    "limits, expected a sweep with these in its keep, or without",
                    run->opt.operands[0]);
    if (!rc && j->source.store && j->source.rows.n_rows == 0)
        return err_set(e, ERR_NO_DESIGN, "%s: %s", run->opt.operands[0],
                       j->source.complete ? "is of a sweep that has kept no row" : "no row is there yet");
    if (!rc && (rc = take_options(j, &run->opt, e)) == ERR_PARSE)
        err_wrap(e, "%s:1:1", run->opt.operands[0]);
    bool together = j->source.store && store_n_parts(j->source.store) > 1;
    if (!rc)
        rc = together ? front_read_parts(j, &run->opt, e) : front_read_rows(j, e);
    if (!rc)
        warn_work(j, run);
    for (int32_t i = 0; i < j->n_sides && !rc; i++)
        rc = front_take_side(&j->sides[i], e);
    /* Why a front is empty only all rows tell. */
    if (!rc && together && j->sides[FRONT_ALL].rows.n_rows == 0)
        rc = front_read_rows(j, e);
    if (!rc)
        rc = check_fronts(j, run, e);
    if (!rc)
        warn_left_out(j, run);
    return rc;
}

/* Of a table that `weft front` wrote these are replaced. */
static bool is_own(const char *column)
{
    return strcmp(column, KEEP_ROW) == 0 || strcmp(column, "front") == 0 || strcmp(column, "knee") == 0 ||
           strcmp(column, "distance") == 0;
}

static void begin_rows(struct table *t, const struct table *from)
{
    for (int32_t i = 0; i < from->n_cols; i++)
        if (!is_own(from->names[i]))
            table_column_of(t, from, i);
    table_column(t, "front", TABLE_TEXT);
    table_column(t, "knee", TABLE_TEXT);
    table_column(t, "distance", TABLE_REAL);
}

static void put_front_row(struct table *t, const struct table *from, int64_t row, const char *front,
                          bool knee, double distance)
{
    table_row(t);
    for (int32_t i = 0; i < from->n_cols; i++)
        if (!is_own(from->names[i]))
            table_put_cell(t, from, row, i);
    table_put_text(t, front);
    table_put_text(t, knee ? "yes" : "no");
    table_put_real(t, distance);
}

static void front_job_put_side(struct table *t, const struct front_job *j, int32_t side)
{
    const struct front_side *s = &j->sides[side];
    const struct front_set *set = keep_fronts(s->keep), *all = keep_fronts(j->sides[FRONT_ALL].keep);
    for (int32_t g = 0; g < set->n; g++) {
        const struct front *f = &set->fronts[g], *free_of = front_of(all, set->groups[g]);
        int64_t knee = front_knee(f);
        for (int64_t i = 0; i < f->n_sorted; i++)
            put_front_row(t, &s->rows, front_row(s, f->id[i]), side == FRONT_ALL ? "all" : "within",
                          i == knee, side == FRONT_ALL ? 0 : front_distance(free_of, f->x + i * f->n_cols));
    }
}

/* A value of --at where its column has it, the group where that has it, else blank. */
static void front_job_put_value(struct table *to, const struct front_job *j, int64_t like, int32_t col)
{
    const struct front_side *s = &j->sides[FRONT_ALL];
    const char *name = s->rows.names[col];
    double x = NAN;
    for (int32_t k = 0; k < s->rule.n_front; k++)
        if (strcmp(s->rule.front[k].name, name) == 0)
            x = s->rule.front[k].large ? -j->design.x[k] : j->design.x[k];
    for (int32_t k = 0; k < s->rule.n_per; k++)
        if (strcmp(s->rule.per[k], name) == 0) {
            table_put_cell(to, &s->rows, like, col);
            return;
        }
    if (s->rows.kinds[col] == TABLE_REAL)
        table_put_real(to, x);
    else if (s->rows.kinds[col] == TABLE_COUNT && x == floor(x) && fabs(x) < 1e15)
        table_put_count(to, (int64_t)x);
    else
        table_put_none(to);
}

/* Of --at there is no row: its values are held against each group, whose rows all have its names. */
static void put_values(struct table *t, const struct front_job *j)
{
    const struct front_side *s = &j->sides[FRONT_ALL];
    const struct front_set *set = keep_fronts(s->keep);
    for (int32_t g = 0; g < set->n; g++) {
        struct table row = { 0 };
        int64_t like = front_row(s, set->fronts[g].id[0]);
        table_columns_of(&row, &s->rows);
        table_row(&row);
        for (int32_t i = 0; i < s->rows.n_cols && !row.failed; i++)
            front_job_put_value(&row, j, like, i);
        t->failed = t->failed || row.failed;
        if (!row.failed)
            put_front_row(t, &row, 0, "design", false, front_distance(&set->fronts[g], j->design.x));
        table_free(&row);
    }
}

static void front_job_put_design(struct table *t, const struct front_job *j)
{
    const struct front_design *d = &j->design;
    const struct front *f = front_of(keep_fronts(j->sides[FRONT_ALL].keep), text_str(&d->group));
    if (d->point < 0)
        put_values(t, j);
    else
        put_front_row(t, &d->row, 0, "design", false, f ? front_distance(f, d->x) : NAN);
}

/* Those of the sample that are on no front. */
static int put_behind(struct table *t, const struct front_job *j, struct err *e)
{
    const struct keep *k = j->sides[FRONT_ALL].keep;
    const struct table *rows = &j->sample.rows;
    struct text group = { 0 };
    double x[FRONT_MAX_COLUMNS];
    int rc = 0;
    for (int64_t row = 0; row < rows->n_rows && !rc; row++) {
        rc = keep_group(&group, k, rows, row, e);
        const struct front *f = rc ? NULL : front_of(keep_fronts(k), text_str(&group));
        keep_values(x, k, rows, row);
        if (f && front_dominates(f, x))
            put_front_row(t, rows, row, "behind", false, front_distance(f, x));
    }
    text_free(&group);
    return rc;
}

/* The fronts as rows: all columns of the table, then front (all, within, design), knee (yes, no) and
 * distance from the front of all. 0 or ERR_NOMEM. @p t: zero-initialised. */
static int front_table(struct table *t, const struct front_job *j, struct err *e)
{
    begin_rows(t, &j->sides[FRONT_ALL].rows);
    for (int32_t i = 0; i < j->n_sides; i++)
        front_job_put_side(t, j, i);
    if (j->design.asked)
        front_job_put_design(t, j);
    int rc = put_behind(t, j, e);
    return rc ? rc : t->failed ? err_nomem(e, "the front") : 0;
}

/*
 * A plot of marks in plain characters, 80 columns wide, the same in every terminal.
 */

/** How a column is shown: "time [ms]". */
struct column_look {
    char title[64]; /**< without the unit's suffix */
    char unit[16];  /**< "" for none */
    double scale;   /**< a value over it is in `unit` */
};

enum { WIDTH = 62, HEIGHT = 17, MAX_TICS = 24 };

struct front_plot {
    struct column_look x_look, y_look;
    struct axis x, y;
    char cells[HEIGHT][WIDTH + 1]; /**< the top row first */
};

/* Numbers along an axis; of a log one 1, 2 and 5 of three decades. */
#define MOST_TICS(a) ((a)->log ? 10 : 5)

/* ---- columns ---- */

/* @p known: its unit as table.units has it; @p most is the largest value to show. */
static void column_look(struct column_look *look, const char *name, const char *known, double most)
{
    size_t n = strlen(name);
    struct unit unit = unit_for(known ? known : table_unit_of_name(name, &n), most, false);
    *look = (struct column_look){ .scale = unit.scale };
    snprintf(look->title, sizeof look->title, "%.*s", (int)n, name);
    snprintf(look->unit, sizeof look->unit, "%s",
             strcmp(unit.name, "µs") == 0 ? "us" : unit.name); /* ASCII */
}

/* ---- axes ---- */

/* Of the axes of figures, which are for values above 0; others go from the least to the most. */
static struct axis fit(const double limits[2], double scale)
{
    double lo = fmax(limits[0] / scale, -1e300), hi = fmin(limits[1] / scale, 1e300); /* hi - lo is finite */
    if (lo > 0)
        return axis_fit(lo, hi);
    return (struct axis){ .lo = lo, .hi = hi > lo ? hi : lo + 1 };
}

/* Axes for values of two columns between these limits, both among them; log where they are far apart. */
static void front_plot_begin(struct front_plot *p, const struct keep_column *x, const double x_limits[2],
                             const struct keep_column *y, const double y_limits[2])
{
    column_look(&p->x_look, x->name, x->unit, x_limits[1]);
    column_look(&p->y_look, y->name, y->unit, y_limits[1]);
    p->x = fit(x_limits, p->x_look.scale);
    p->y = fit(y_limits, p->y_look.scale);
    for (int row = 0; row < HEIGHT; row++) {
        memset(p->cells[row], ' ', WIDTH);
        p->cells[row][WIDTH] = '\0';
    }
}

/* Which of n cells along the axis, 0 the least. */
static int cell_at(const struct axis *a, double x, int n)
{
    double share = axis_share(a, x);
    int at = (int)floor(fmax(0, fmin(share, 1)) * (n - 1) + 0.5);
    return at;
}

/* A mark over what is there; values outside go to the rim. */
static void front_plot_mark(struct front_plot *p, double x, double y, char mark)
{
    int column = cell_at(&p->x, x / p->x_look.scale, WIDTH);
    int row = HEIGHT - 1 - cell_at(&p->y, y / p->y_look.scale, HEIGHT);
    p->cells[row][column] = mark;
}

/* ---- writing ---- */

static void put_trimmed(struct text *out, const char *line)
{
    size_t n = strlen(line);
    while (n > 0 && line[n - 1] == ' ')
        n--;
    text_add(out, line, n);
    text_puts(out, "\n");
}

static void put_axis_title(struct text *out, int indent, const struct column_look *look, const struct axis *a)
{
    text_printf(out, "%*s%s", indent, "", look->title);
    if (look->unit[0])
        text_printf(out, " [%s]", look->unit);
    text_puts(out, a->log ? ", log\n" : "\n");
}

static void put_x_tics(struct text *out, int indent, const double *tics, int n, const struct axis *a)
{
    char line[WIDTH + SHOW + 2], label[SHOW];
    int end = -1;
    memset(line, ' ', sizeof line - 1);
    line[sizeof line - 1] = '\0';
    for (int i = 0; i < n; i++) {
        int length = (int)strlen(show_real(label, tics[i], 4));
        int at = cell_at(a, tics[i], WIDTH) - length / 2;
        at = at < 0 ? 0 : at > WIDTH + 4 - length ? WIDTH + 4 - length : at;
        if (at <= end)
            continue;
        memcpy(line + at, label, (size_t)length);
        end = at + length;
    }
    text_printf(out, "%*s", indent + 1, "");
    put_trimmed(out, line);
}

static void put_rule(struct text *out, int indent, const double *tics, int n, const struct axis *a)
{
    char line[WIDTH + 1];
    memset(line, '-', WIDTH);
    line[WIDTH] = '\0';
    for (int i = 0; i < n; i++)
        line[cell_at(a, tics[i], WIDTH)] = '+';
    text_printf(out, "%*s+%s\n", indent, "", line);
}

struct tic_list {
    double at[MAX_TICS];
    int n;
};

static void take_tic(void *of, const struct axis_tic *tic)
{
    struct tic_list *list = of;
    if (tic->label && list->n < MAX_TICS)
        list->at[list->n++] = tic->at;
}

static void front_plot_write(const struct front_plot *p, struct text *out)
{
    struct tic_list x = { .n = 0 }, y = { .n = 0 };
    int indent = 0;
    axis_tics(&p->x, true, 40 * MOST_TICS(&p->x), take_tic, &x);
    axis_tics(&p->y, false, 26 * MOST_TICS(&p->y), take_tic, &y);
    char labels[HEIGHT][SHOW] = { { 0 } };
    for (int i = 0; i < y.n; i++) {
        char *label = labels[HEIGHT - 1 - cell_at(&p->y, y.at[i], HEIGHT)];
        show_real(label, y.at[i], 4);
        indent = (int)strlen(label) > indent ? (int)strlen(label) : indent;
    }
    indent++;
    put_axis_title(out, 0, &p->y_look, &p->y);
    for (int row = 0; row < HEIGHT; row++) {
        text_printf(out, "%*s %c", indent - 1, labels[row], labels[row][0] ? '+' : '|');
        put_trimmed(out, p->cells[row]);
    }
    put_rule(out, indent, x.at, x.n, &p->x);
    put_x_tics(out, indent, x.at, x.n, &p->x);
    put_axis_title(out, indent + WIDTH / 2 - 8, &p->x_look, &p->x);
}

/*
 * weft front: the Pareto front of rows, its knee, what limits cost, how far a design is from it. What it says
 * to people is a plot and a table for each group, then sentences; data are rows (front_table).
 */

/* A value of column k of the front for people, of x with its sign as the front has it. */
static void cmd_front_put_value(struct text *out, const struct keep_column *c, double x)
{
    struct column_look look;
    char value[SHOW];
    x = c->large ? -x : x;
    column_look(&look, c->name, c->unit, x);
    text_printf(out, "%s%s%s", show_real(value, x / look.scale, 5), look.unit[0] ? " " : "", look.unit);
}

/* "12 % less" of what is small, "12 % more" of what is large: how b is better than a. */
static void put_better(struct text *out, const struct keep_column *c, double a, double b)
{
    char value[SHOW];
    text_printf(out, "%s %% %s", show_real(value, 100 * fabs(a - b) / fabs(a), 3),
                c->large ? "more" : "less");
}

static double least_of(const struct front *f, int32_t col)
{
    double least = HUGE_VAL;
    for (int64_t i = 0; i < f->n_sorted; i++)
        least = fmin(least, f->x[i * f->n_cols + col]);
    return least;
}

/* By what factor a is worse than b; infinite where none makes one the other. */
static double factor(double a, double b)
{
    if (a == b)
        return 1;
    return a > 0 && b > 0 ? a / b : a < 0 && b < 0 ? b / a : HUGE_VAL;
}

static void put_least(struct text *out, const struct keep_column *c, double with, double without)
{
    char value[SHOW];
    text_printf(out, "  %s %s: ", c->large ? "most" : "least", c->name);
    cmd_front_put_value(out, c, with);
    if (with == without) {
        text_puts(out, ", as without\n");
        return;
    }
    text_puts(out, ", without ");
    cmd_front_put_value(out, c, without);
    if (isfinite(factor(with, without)))
        text_printf(out, " (%s times)", show_real(value, factor(with, without), 5));
    text_puts(out, "\n");
}

/* The columns beside column k. */
static const char *others(const struct keep_rule *rule, int32_t k)
{
    return rule->n_front == 2 ? rule->front[1 - k].name : "other columns";
}

/* What is paid in a column at the same values of the others. */
static int put_factors(struct text *out, const struct front_side *side, int32_t col,
                       const struct front *within, const struct front *all, struct err *e)
{
    const struct keep_rule *rule = &side->rule;
    const struct keep_column *c = &rule->front[col];
    char name[FRONT_NAME], worst[SHOW], middle[SHOW];
    double *factors = malloc((size_t)within->n_sorted * sizeof *factors), most = 0;
    int64_t at = 0;
    if (!factors)
        return err_nomem(e, "the front");
    for (int64_t i = 0; i < within->n_sorted; i++) {
        const double *x = within->x + i * within->n_cols;
        factors[i] = factor(x[col], front_least(all, x, col));
        if (factors[i] > most)
            at = i;
        most = fmax(most, factors[i]);
    }
    stat_sort(factors, within->n_sorted);
    text_printf(out, "  %s at the same %s: ", c->name, others(rule, col));
    if (!isfinite(most))
        text_puts(out, "no factor says it, a value is 0\n");
    else if (most > 1)
        text_printf(out, "%s times as %s at worst (point %s), %s in the median\n", show_real(worst, most, 5),
                    c->large ? "little" : "much", front_name(name, side, within->id[at]),
                    show_real(middle, stat_quantile(factors, within->n_sorted, 0.5), 5));
    else
        text_printf(out, "no %s\n", c->large ? "less" : "more");
    free(factors);
    return 0;
}

/* Append what the limits cost in group @p g: least values, and over the front the worst and the middle of
 * what is paid in each column at the same values of the others. 0 or ERR_NOMEM. */
static int front_text_limits(const struct front_job *j, const char *group, struct text *out, struct err *e)
{
    const struct keep_rule *rule = &j->sides[FRONT_ALL].rule;
    const struct front *all = front_of(keep_fronts(j->sides[FRONT_ALL].keep), group);
    const struct front *within = front_of(keep_fronts(j->sides[FRONT_WITHIN].keep), group);
    int rc = 0;
    if (!within) {
        text_puts(out, "\nNo design is within the limits.\n");
        return 0;
    }
    text_puts(out, "\nWhat the limits cost, among designs that were chosen without them:\n");
    for (int32_t k = 0; k < rule->n_front; k++)
        put_least(out, &rule->front[k], least_of(within, k), least_of(all, k));
    for (int32_t k = 0; k < rule->n_front && !rc; k++)
        rc = put_factors(out, &j->sides[FRONT_WITHIN], k, within, all, e);
    return rc;
}

/* Less than this shows as 1 times behind: another design is as good in a column, and better in the others. */
#define LEAST_BEHIND 1e-5

/* Append how far the design is from a front. @p within: ", within the limits" or "". */
static void front_text_distance(const struct front_job *j, const struct front *f, const char *within,
                                struct text *out)
{
    const struct front_design *d = &j->design;
    const struct keep_rule *rule = &j->sides[FRONT_ALL].rule;
    double distance = front_distance(f, d->x);
    char value[SHOW];
    if (!front_dominates(f, d->x)) {
        text_printf(out, "  on the front%s, or beyond it\n", within);
        return;
    }
    if (distance < LEAST_BEHIND)
        text_printf(out, "  behind the front%s, but no design there is better by %g %% in every column\n",
                    within, 100 * LEAST_BEHIND);
    else if (isfinite(distance))
        text_printf(out,
                    "  %s times behind the front%s: one design there is better by that in every column\n",
                    show_real(value, 1 + distance, 5), within);
    for (int32_t k = 0; k < rule->n_front; k++) {
        double least = front_least(f, d->x, k);
        if (!isfinite(least) || !(least < d->x[k]))
            continue;
        text_printf(out, "  %s%s at the same %s: ", rule->front[k].name, within, others(rule, k));
        cmd_front_put_value(out, &rule->front[k], least);
        text_puts(out, ", ");
        put_better(out, &rule->front[k], d->x[k], least);
        text_puts(out, "\n");
    }
}

enum { MOST_ROWS = 30 /* of a table; all are in the CSV */ };

/* ---- plot ---- */

/* Values that were given are held against every group. */
static bool has_design(const struct front_job *j, const char *group)
{
    return j->design.asked && (j->design.point < 0 || strcmp(text_str(&j->design.group), group) == 0);
}

/* Least and most of column k of all there is to draw, with the sign that people see. */
static void find_limits(double limits[2], const struct front_job *j, const char *group, int32_t k)
{
    bool large = j->sides[FRONT_ALL].rule.front[k].large;
    double lo = HUGE_VAL, hi = -HUGE_VAL;
    for (int32_t s = 0; s < j->n_sides; s++) {
        const struct front *f = front_of(keep_fronts(j->sides[s].keep), group);
        for (int64_t i = 0; f && i < f->n_sorted; i++) {
            lo = fmin(lo, f->x[i * f->n_cols + k]);
            hi = fmax(hi, f->x[i * f->n_cols + k]);
        }
    }
    if (has_design(j, group)) {
        lo = fmin(lo, j->design.x[k]);
        hi = fmax(hi, j->design.x[k]);
    }
    limits[0] = large ? -hi : lo;
    limits[1] = large ? -lo : hi;
}

static void mark(struct front_plot *p, const struct front_job *j, const double *x, char c)
{
    const struct keep_column *columns = j->sides[FRONT_ALL].rule.front;
    front_plot_mark(p, columns[1].large ? -x[1] : x[1], columns[0].large ? -x[0] : x[0], c);
}

static void mark_side(struct front_plot *p, const struct front_job *j, const char *group, int32_t side,
                      char c, bool knee)
{
    const struct front *f = front_of(keep_fronts(j->sides[side].keep), group);
    int64_t at = f && knee ? front_knee(f) : -1;
    for (int64_t i = 0; f && !knee && i < f->n_sorted; i++)
        mark(p, j, f->x + i * f->n_cols, c);
    if (at >= 0)
        mark(p, j, f->x + at * f->n_cols, c);
}

static void put_plot(const struct front_job *j, const char *group, struct text *out)
{
    const struct keep_rule *rule = &j->sides[FRONT_ALL].rule;
    double limits[2][2];
    struct front_plot p;
    for (int32_t k = 0; k < 2; k++)
        find_limits(limits[k], j, group, k);
    if (limits[0][0] == limits[0][1] && limits[1][0] == limits[1][1])
        return;
    front_plot_begin(&p, &rule->front[1], limits[1], &rule->front[0], limits[0]);
    for (int32_t s = 0; s < j->n_sides; s++)
        mark_side(&p, j, group, s, s == FRONT_ALL ? '*' : 'o', false);
    for (int32_t s = 0; s < j->n_sides; s++)
        mark_side(&p, j, group, s, s == FRONT_ALL ? 'K' : 'k', true);
    if (has_design(j, group))
        mark(&p, j, j->design.x, 'X');
    text_puts(out, "\n");
    front_plot_write(&p, out);
    for (int32_t s = 0; s < j->n_sides; s++) {
        const struct front *f = front_of(keep_fronts(j->sides[s].keep), group);
        text_puts(out, s == FRONT_ALL ? "* front" : "; o within the limits");
        if (f && front_knee(f) >= 0)
            text_puts(out, s == FRONT_ALL ? ", K its knee" : ", k its knee");
    }
    text_puts(out, has_design(j, group) ? "; X the design\n" : "\n");
}

/* ---- table ---- */

/* Some columns of a table of rows. */
struct layout {
    const struct study_kind *kind;
    const struct table *t;
    struct column columns[SHEET_MAX_COLUMNS];
    struct column_look looks[SHEET_MAX_COLUMNS];
    struct column_place places[SHEET_MAX_COLUMNS];
    int32_t n;
};

static bool differs(const struct table *t, int32_t col)
{
    struct text first = { 0 }, other = { 0 };
    bool found = false;
    for (int64_t row = 0; row < t->n_rows && !found; row++) {
        text_clear(&other);
        table_cell_text(row ? &other : &first, t, row, col);
        found = row && strcmp(text_str(&first), text_str(&other)) != 0;
    }
    text_free(&first);
    text_free(&other);
    return found;
}

static void add(struct layout *l, int32_t col)
{
    for (int32_t i = 0; i < l->n; i++)
        if (l->places[i].at == col)
            return;
    if (col < 0 || l->n >= SHEET_MAX_COLUMNS)
        return;
    char path[SHOW_VALUE];
    const char *name = l->t->names[col];
    struct column_look *look = &l->looks[l->n];
    double most = 0;
    for (int64_t row = 0; row < l->t->n_rows; row++)
        most = fmax(most, table_number(l->t, row, col));
    if (l->t->kinds[col] == TABLE_TEXT)
        snprintf(look->title, sizeof look->title, "%s", show_path(path, name, strlen(name)));
    else
        column_look(look, name, l->t->units[col], most);
    const struct column *own = column_find(l->kind->tables[TABLE_ROWS].columns, name);
    char title[COLUMN_NAME];
    if (own && say_word_title(title, l->t, own, name))
        snprintf(look->title, sizeof look->title, "%s", title);
    l->columns[l->n] = (struct column){ .name = name,
                                        .title = look->title,
                                        .as = look->unit,
                                        .times = l->t->kinds[col] == TABLE_TEXT ? 1 : 1 / look->scale,
                                        .usual = strcmp(name, "knee") == 0 ? "no" : NULL };
    l->places[l->n] = (struct column_place){ .column = &l->columns[l->n], .at = col };
    l->n++;
}

/* Of what is not among the columns of the front: what tells its designs apart. */
static void choose_columns(struct layout *l, const struct keep_rule *rule)
{
    static const char *const others[] = { DESIGN_COLUMN(network), DESIGN_COLUMN(objective),
                                          DESIGN_COLUMN(total_GBps), DESIGN_COLUMN(nic_GBps) };
    const struct table *t = l->t;
    const struct column *own = l->kind->tables[TABLE_ROWS].columns;
    char name[24];
    int32_t point = table_find(t, "point");
    add(l, point);
    for (int32_t i = point + 1; i < t->n_cols && !column_find(own, t->names[i]); i++)
        if (differs(t, i))
            add(l, i);
    add(l, label_column(l->kind, t));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        int32_t col = table_find(t, others[i]);
        if (col >= 0 && differs(t, col))
            add(l, col);
    }
    for (int d = 1; d <= 8; d++) {
        snprintf(name, sizeof name, "bw%d_GBps", d);
        add(l, table_find(t, name));
    }
    for (int32_t k = 0; k < rule->n_front; k++)
        add(l, table_find(t, rule->front[k].name));
    add(l, table_find(t, "knee"));
}

/* All of a short front; of a long one some at equal steps, the ends and the knee among them. */
static bool is_shown(const struct front *f, int64_t i, int64_t knee)
{
    if (f->n_sorted <= MOST_ROWS || i == knee)
        return true;
    int64_t slot = i * (MOST_ROWS - 1) / (f->n_sorted - 1);
    return i == 0 || slot != (i - 1) * (MOST_ROWS - 1) / (f->n_sorted - 1);
}

/* Do the limits leave the front as it is? */
static bool is_same(const struct front_job *j, const char *group)
{
    const struct front *all = front_of(keep_fronts(j->sides[FRONT_ALL].keep), group);
    const struct front *within = front_of(keep_fronts(j->sides[FRONT_WITHIN].keep), group);
    return within && within->n_sorted == all->n_sorted && within->left_out == all->left_out &&
           memcmp(within->id, all->id, (size_t)all->n_sorted * sizeof *all->id) == 0;
}

static void put_where(const struct front_side *s, struct text *out)
{
    for (int32_t i = 0; i < s->rule.n_where; i++)
        text_printf(out, "%s%s", i ? ", " : "", s->rule.where[i]);
}

static int cmd_front_put_side(const struct front_job *j, int32_t side, const char *group, struct text *out,
                              struct err *e)
{
    const struct front_side *s = &j->sides[side];
    const struct front *f = front_of(keep_fronts(s->keep), group);
    struct table t = { 0 };
    int64_t knee = f ? front_knee(f) : -1;
    if (!f)
        return 0;
    text_puts(out, "\n");
    if (side == FRONT_WITHIN) {
        text_puts(out, "Within ");
        put_where(s, out);
        text_puts(out, ":\n");
    }
    begin_rows(&t, &s->rows);
    for (int64_t i = 0; i < f->n_sorted; i++)
        if (is_shown(f, i, knee))
            put_front_row(&t, &s->rows, front_row(s, f->id[i]), "", i == knee, NAN);
    struct layout l = { .kind = s->rule.kind, .t = &t };
    choose_columns(&l, &s->rule);
    int rc = column_write(out, &t, 0, t.n_rows, l.places, l.n, e);
    if (t.n_rows < f->n_sorted)
        text_printf(out, "%lld of %lld designs on the front; --of csv has all\n", (long long)t.n_rows,
                    (long long)f->n_sorted);
    table_free(&t);
    return rc;
}

/* ---- a group ---- */

static void put_group(const struct keep_rule *rule, const char *group, struct text *out)
{
    for (int32_t i = 0; i < rule->n_per; i++) {
        size_t n = strcspn(group, "\n");
        if (n > 0)
            text_printf(out, "%s: %.*s\n", rule->per[i], (int)n, group);
        group += n + (group[n] == '\n');
    }
}

/* How many points of a front have a band of time (what measured steps leave open) that meets the fastest's.
 */
static void put_overlap(const struct front_job *j, int32_t side, const char *group, struct text *out)
{
    const struct front_side *s = &j->sides[side];
    const struct front *f = front_of(keep_fronts(s->keep), group);
    int32_t low = table_find(&s->rows, DESIGN_COLUMN_IN(training, time_low_s)),
            high = table_find(&s->rows, DESIGN_COLUMN_IN(training, time_high_s));
    double least = INFINITY;
    int64_t n = 0;
    if (!f || low < 0 || high < 0)
        return;
    for (int64_t i = 0; i < f->n_sorted; i++)
        least = fmin(least, table_number(&s->rows, front_row(s, f->id[i]), high));
    for (int64_t i = 0; i < f->n_sorted; i++)
        n += table_number(&s->rows, front_row(s, f->id[i]), low) <= least;
    if (n > 1)
        text_printf(
            out,
            "%lld of them are no different in time: their bands (time_low_s to time_high_s) overlap the "
            "fastest's\n",
            (long long)n);
}

static void put_summary(const struct front_job *j, const char *group, struct text *out)
{
    char name[FRONT_NAME];
    const struct keep_rule *rule = &j->sides[FRONT_ALL].rule;
    for (int32_t s = 0; s < j->n_sides; s++) {
        const struct front *f = front_of(keep_fronts(j->sides[s].keep), group);
        int64_t n = f ? f->n_sorted : 0, knee = f ? front_knee(f) : -1;
        text_puts(out, s == FRONT_ALL ? "front of " : "within the limits: ");
        for (int32_t k = 0; k < rule->n_front && s == FRONT_ALL; k++)
            text_printf(out, "%s%s%s", k ? ", " : "", rule->front[k].large ? "largest " : "",
                        rule->front[k].name);
        text_printf(out, "%s%lld design%s", s == FRONT_ALL ? ": " : "", (long long)n, n == 1 ? "" : "s");
        if (f && f->left_out > 0)
            text_printf(out, " and %lld that equal some of them", (long long)f->left_out);
        if (knee >= 0)
            text_printf(out, ", knee at point %s", front_name(name, &j->sides[s], f->id[knee]));
        text_puts(out, "\n");
        put_overlap(j, s, group, out);
    }
}

static void cmd_front_put_design(const struct front_job *j, const char *group, struct text *out)
{
    if (j->design.point >= 0)
        text_printf(out, "\nPoint %lld%s%s is\n", (long long)j->design.point, j->design.label ? ":" : "",
                    j->design.label ? j->design.label : "");
    else
        text_puts(out, "\nThe design is\n");
    for (int32_t s = 0; s < j->n_sides; s++) {
        const struct front *f = front_of(keep_fronts(j->sides[s].keep), group);
        if (f && (s == FRONT_ALL || !is_same(j, group)))
            front_text_distance(j, f, s == FRONT_ALL ? "" : " within the limits", out);
    }
}

static int put_within(const struct front_job *j, const char *group, struct text *out, struct err *e)
{
    if (is_same(j, group)) {
        text_puts(out, "\nAll of the front is within ");
        put_where(&j->sides[FRONT_WITHIN], out);
        text_puts(out, ": it costs nothing.\n");
        return 0;
    }
    int rc = cmd_front_put_side(j, FRONT_WITHIN, group, out, e);
    return rc ? rc : front_text_limits(j, group, out, e);
}

static int front_text(const struct front_job *j, struct text *out, struct err *e)
{
    const struct front_set *set = keep_fronts(j->sides[FRONT_ALL].keep);
    int rc = 0;
    for (int32_t g = 0; g < set->n && !rc; g++) {
        const char *group = set->groups[g];
        text_puts(out, g ? "\n\n" : "");
        put_group(&j->sides[FRONT_ALL].rule, group, out);
        put_summary(j, group, out);
        put_plot(j, group, out);
        rc = cmd_front_put_side(j, FRONT_ALL, group, out, e);
        if (!rc && j->n_sides > 1)
            rc = put_within(j, group, out, e);
        if (!rc && has_design(j, group))
            cmd_front_put_design(j, group, out);
    }
    return rc ? rc : text_check(out, e);
}

static const struct option front_rows[] = {
    TEXT_OPTION(
        "by", "COLUMNS", front_by,
        "2 to 5 columns with commas; min: or max: before one says what is better where the table does "
        "not (default: time_s,cost_usd)"),
    TEXT_OPTION("per", "COLUMNS", front_per,
                "a front for each of their values (default: workload; '' for one front)"),
    OPTION_WHERE,
    OPTION_PARTIAL,
    LIST_OPTION("limit", "TEXT", limits,
                "show what a limit over columns costs, as in \"nic_GBps <= 50\"; may be repeated"),
    TEXT_OPTION("design", "POINT", front_design, "show how far this point is from the front"),
    TEXT_OPTION("at", "VALUES", front_at,
                "the same for a design given by values, as in time_s=1.2,cost_usd=3e6"),
    COUNT_OPTION("ties", "N", front_ties, 1, 1000000000,
                 "of designs that are equal in all of these columns list the first N by point, and count the "
                 "others (default: 10)"),
    COUNT_OPTION("behind", "N", front_behind, 1, 1000000,
                 "in CSV and JSON also designs behind the front, evenly through the table, at most so many"),
};

static const struct option_group front_options = OPTION_GROUP("Front", front_rows);

static int write_front(const struct run *run, const struct front_job *j, struct err *e)
{
    struct table t = { 0 };
    struct text out = { .wide = run->opt.wide };
    int rc;
    if (output_format(run) != TABLE_AS_TEXT) {
        rc = front_table(&t, j, e);
        if (!rc)
            rc = output_table(run, &t, j->source.from, e);
    } else {
        rc = front_text(j, &out, e);
        if (!rc)
            rc = output_text(run, &out, e);
    }
    table_free(&t);
    text_free(&out);
    return rc;
}

/* Of a store before its rows are verified. */
static int check_options(const struct run *run, struct err *e)
{
    struct front_job j = { 0 };
    int rc = 0;
    if (cmd_points_peek(&j.source.rows, &j.source.kind, run->opt.operands[0]))
        rc = take_options(&j, &run->opt, e);
    front_job_free(&j);
    return rc;
}

static int run_front(struct run *run, struct err *e)
{
    struct front_job j = { 0 };
    int rc = output_check(run, e);
    if (!rc)
        rc = check_options(run, e);
    if (!rc)
        rc = front_job_run(&j, run, e);
    if (!rc)
        rc = write_front(run, &j, e);
    front_job_free(&j);
    return rc;
}

const struct command cmd_front = {
    .group = "Many designs",
    .name = "front",
    .help = "the Pareto front of a sweep, and what a limit costs",
    .about =
        "Find the Pareto front of the rows that weft sweep wrote (a CSV, a store, stores of all shards or a\n"
        "folder of them; - reads a CSV from standard input), mark its knee, and tell what a limit costs or "
        "how far a design is from it.\n",
    .scope = SCOPE(1, OPTIONS_MAX_OPERANDS, "ROWS...", &front_options, &options_format, &options_files),
    .run = run_front,
};
