#include "cli/front_job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

enum { BATCH = 4096 /* rows of a store at a time: a few MB */ };

/* Rows of `read`, each with a number of its own: the point, and which of its rows it is. */
static int number_rows(struct front_source *s, struct err *e)
{
    const struct table *from = &s->read;
    int32_t point = table_find(from, "point");
    table_clear(&s->rows);
    for (int32_t i = 0; i < from->n_cols && s->rows.n_cols < from->n_cols; i++)
        table_column(&s->rows, from->names[i], from->kinds[i]);
    if (s->rows.n_cols == from->n_cols)
        table_column(&s->rows, KEEP_ROW, TABLE_COUNT);
    for (int64_t row = 0; row < from->n_rows; row++) {
        int64_t now = point < 0 ? row : table_count(from, row, point);
        s->n = s->begun_point && now == s->point ? s->n + 1 : 0;
        s->begun_point = true;
        s->point = now;
        table_row(&s->rows);
        for (int32_t i = 0; i < from->n_cols; i++)
            table_put_cell(&s->rows, from, row, i);
        table_put_count(&s->rows, now < 0 ? -1 : store_row_id(now, s->n));
    }
    return s->rows.failed ? err_nomem(e, "rows") : 0;
}

static int read_batch(struct front_source *s, struct err *e)
{
    bool many = s->kind && s->kind->label;
    int rc = store_next(s->store, &s->walk, BATCH, many ? &s->read : &s->rows, e);
    return rc || !many ? rc : number_rows(s, e);
}

static int open_store(struct front_source *s, const char *path, struct err *e)
{
    struct store_head head;
    struct sweep_counts counts;
    int rc = store_read(&s->store, path, e);
    if (rc)
        return rc;
    store_head_of(s->store, &head, &counts, &s->complete);
    s->survivors = head.keep && *head.keep;
    s->from = (struct origin){ .known = true, .study_hash = head.study_hash, .seed = head.seed };
    s->kind = study_kind_of_store(s->store);
    rc = study_trim_store(s->store, s->kind, false, e);
    return rc ? rc : read_batch(s, e);
}

static int open_csv(struct front_source *s, const char *path, struct err *e)
{
    int rc = table_read_csv(&s->read, path, e);
    if (rc)
        return rc;
    s->kind = study_kind_of_columns(&s->read);
    if (s->kind->label && table_find(&s->read, "point") >= 0)
        return number_rows(s, e);
    s->rows = s->read;
    s->read = (struct table){ 0 };
    return 0;
}

int front_source_open(struct front_source *s, const char *path, struct err *e)
{
    *s = (struct front_source){ .walk = store_walk_all(STORE_RESULTS, false),
                                .complete = true,
                                .from = { .known = false } };
    if (strcmp(path, "-") == 0)
        return open_csv(s, "/dev/stdin", e);
    return store_is(path) ? open_store(s, path, e) : open_csv(s, path, e);
}

int front_source_next(struct front_source *s, struct table **rows, struct err *e)
{
    int rc = 0;
    *rows = NULL;
    if (s->begun && s->store)
        rc = read_batch(s, e);
    else if (s->begun)
        return 0;
    s->begun = true;
    if (!rc && (!s->store || s->rows.n_rows > 0))
        *rows = &s->rows;
    return rc;
}

void front_source_close(struct front_source *s)
{
    table_free(&s->rows);
    table_free(&s->read);
    store_close(s->store);
    *s = (struct front_source){ .from = { .known = false } };
}

/* ---- what is asked ---- */

/* A fault in an option's value is one of the command line. */
static int misuse(const char *option, const struct err *inner, struct err *e)
{
    if (inner->code == ERR_NOMEM)
        return err_set(e, ERR_NOMEM, "%s", inner->msg);
    return err_set(e, ERR_USAGE, "option --%s %s", option, inner->msg);
}

typedef int take_column(struct keep_rule *k, const char *text, const struct table *columns, struct err *e);

static int take_by(struct keep_rule *k, const char *text, const struct table *columns, struct err *e)
{
    if (k->n_front == FRONT_MAX_COLUMNS)
        return err_set(e, ERR_RANGE, "has more than %d columns, need 2 to %d", FRONT_MAX_COLUMNS,
                       FRONT_MAX_COLUMNS);
    int rc = keep_take_column(&k->front[k->n_front], k, text, columns, e);
    for (int32_t i = 0; i < k->n_front && !rc; i++)
        if (strcmp(k->front[i].name, k->front[k->n_front].name) == 0)
            rc = err_set(e, ERR_RANGE, "is \"%s\" for a second time, need other columns", k->front[i].name);
    k->n_front += !rc;
    return rc;
}

/* Columns with commas between them. */
static int take_list(struct keep_rule *k, const char *option, const char *list, take_column *take,
                     const struct table *columns, struct err *e)
{
    char *copy = strdup(list), *at = copy;
    struct err inner = { 0 };
    int rc = copy ? 0 : err_nomem(e, "columns");
    for (bool more = true; more && !rc;) {
        size_t n = strcspn(at, ",");
        more = at[n] == ',';
        at[n] = '\0';
        rc = take(k, at, columns, &inner) ? misuse(option, &inner, e) : 0;
        at += n + 1;
    }
    free(copy);
    return rc;
}

/* Is there a number in the column that @p name, "time_s" or "max:speedup", is about? */
static bool has_values(const struct table *rows, const char *name)
{
    int32_t col = table_find(rows, strncmp(name, "max:", 4) == 0 ? name + 4 : name);
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
    int rc = take_list(k, "by", by, take_by, columns, e);
    if (!rc && k->n_front < 2)
        rc = err_set(e, ERR_USAGE, "option --by is \"%s\", need 2 to %d columns", by, FRONT_MAX_COLUMNS);
    if (!rc && opt->front_per && opt->front_per[0])
        rc = take_list(k, "per", opt->front_per, keep_take_per, columns, e);
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
            return misuse("limit", &inner, e);
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
            return err_set(e, ERR_USAGE, "option --at has \"%.100s\", need COLUMN=NUMBER", text);
        x[i] = k->front[i].large ? -value : value;
        given[i] = true;
        return 0;
    }
    const char *near = text_nearest(name, names, (size_t)k->n_front);
    return err_set(e, ERR_USAGE, "option --at is about \"%s\", need the columns of --by%s%s", name,
                   near ? ", nearest is " : "", near ? near : "");
}

static int take_at(struct front_design *d, const struct keep_rule *k, const char *list, struct err *e)
{
    bool given[FRONT_MAX_COLUMNS] = { false };
    char *copy = strdup(list), *at = copy;
    int rc = copy ? 0 : err_nomem(e, "columns");
    for (bool more = true; more && !rc;) {
        size_t n = strcspn(at, ",");
        more = at[n] == ',';
        at[n] = '\0';
        rc = take_value(d->x, given, k, at, e);
        at += n + 1;
    }
    for (int32_t i = 0; i < k->n_front && !rc; i++)
        if (!given[i])
            rc = err_set(e, ERR_USAGE, "option --at is without %s, need all columns of --by",
                         k->front[i].name);
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
        return err_set(e, ERR_USAGE, "option --at is given besides --design, need one of them");
    if (opt->front_design && !parse_design(d, opt->front_design))
        return err_set(e, ERR_USAGE, "option --design is \"%.100s\", need the number of a point",
                       opt->front_design);
    return opt->front_at ? take_at(d, k, opt->front_at, e) : 0;
}

static int take_options(struct front_job *j, const struct options *opt, struct err *e)
{
    const struct table *columns = &j->source.rows;
    j->n_sides = opt->limits.n > 0 ? 2 : 1;
    j->sample = (struct front_sample){ .most = opt->front_behind, .every = 1 };
    int rc = filters_read(&j->filters, &opt->where, e);
    for (int32_t i = 0; i < j->n_sides; i++)
        j->sides[i].rule.kind = j->source.kind;
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
        for (int32_t i = 0; i < rows->n_cols; i++)
            table_column(&d->row, rows->names[i], rows->kinds[i]);
        table_row(&d->row);
        for (int32_t i = 0; i < rows->n_cols; i++)
            table_put_cell(&d->row, rows, row, i);
    }
    return rc ? rc : d->row.failed ? err_nomem(e, "the design") : 0;
}

/* One in `every` points, a power of 2, at random. SplitMix64's mixing: Steele, Lea, Flood, "Fast splittable
 * pseudorandom number generators", 2014. */
static bool is_sampled(const void *data, const struct table *t, int64_t row)
{
    const int64_t every = *(const int64_t *)data;
    uint64_t z = (uint64_t)table_count(t, row, keep_id_column(t));
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return ((z ^ z >> 31) & (uint64_t)(every - 1)) == 0;
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
    for (int32_t i = 0; i < rows->n_cols && s->rows.n_cols < rows->n_cols; i++)
        table_column(&s->rows, rows->names[i], rows->kinds[i]);
    for (int64_t row = 0; row < rows->n_rows && s->most > 0; row++) {
        if (!keep_is_design(j->sides[0].keep, rows, row) || !is_sampled(&s->every, rows, row))
            continue;
        table_row(&s->rows);
        for (int32_t i = 0; i < rows->n_cols; i++)
            table_put_cell(&s->rows, rows, row, i);
        if (s->rows.failed)
            break;
        while (s->rows.n_rows > s->most)
            thin(s);
    }
    return s->rows.failed ? err_nomem(e, "designs behind the front") : 0;
}

/* Times of different work do not compare. */
static void warn_work(struct front_job *j, struct run *run, const struct table *rows)
{
    int32_t work = table_find(rows, "workload");
    struct text other = { 0 };
    for (int32_t i = 0; i < j->sides[0].rule.n_per; i++)
        if (strcmp(j->sides[0].rule.per[i], "workload") == 0)
            return;
    for (int64_t row = 0; row < rows->n_rows && work >= 0 && run->warned.n == 0; row++) {
        struct text *now = j->work.s ? &other : &j->work;
        text_clear(&other);
        table_cell_text(now, rows, row, work);
        if (strcmp(text_str(now), text_str(&j->work)) != 0)
            output_warn(run, "designs for %s and %s are held against each other, need workload in --per",
                        text_str(&j->work), text_str(now));
    }
    text_free(&other);
}

static int read_rows(struct front_job *j, struct run *run, struct err *e)
{
    struct table *rows;
    int rc;
    while (!(rc = front_source_next(&j->source, &rows, e)) && rows) {
        rc = find_design(j, rows, e);
        filters_keep(&j->filters, rows);
        j->n_passed += rows->n_rows;
        warn_work(j, run, rows);
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

static int compare_points(const void *a, const void *b)
{
    const int64_t *p = a, *q = b;
    return (p[0] > q[0]) - (p[0] < q[0]);
}

static int sort_rows(struct front_side *s, struct err *e)
{
    int64_t n = s->rows.n_rows;
    s->id_col = keep_id_column(&s->rows);
    s->label_col = label_column(s->rule.kind, &s->rows);
    int64_t(*pairs)[2] = malloc(((size_t)n + 1) * sizeof *pairs);
    s->point_col = table_find(&s->rows, "point");
    s->by_point = malloc(((size_t)n + 1) * sizeof *s->by_point);
    if (!pairs || !s->by_point) {
        free(pairs);
        return err_nomem(e, "the front");
    }
    for (int64_t i = 0; i < n; i++) {
        pairs[i][0] = table_count(&s->rows, i, s->id_col);
        pairs[i][1] = i;
    }
    qsort(pairs, (size_t)n, sizeof *pairs, compare_points);
    for (int64_t i = 0; i < n; i++)
        s->by_point[i] = pairs[i][1];
    free(pairs);
    return 0;
}

int64_t front_row(const struct front_side *s, int64_t id)
{
    int64_t lo = 0, hi = s->rows.n_rows - 1;
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if (table_count(&s->rows, s->by_point[mid], s->id_col) < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    return s->by_point[lo];
}

const char *front_name(char buf[FRONT_NAME], const struct front_side *s, int64_t id)
{
    int64_t row = front_row(s, id);
    const char *label = s->label_col < 0 ? NULL : table_text(&s->rows, row, s->label_col);
    snprintf(buf, FRONT_NAME, "%lld%s%s", (long long)table_count(&s->rows, row, s->point_col),
             label ? ":" : "", label ? label : "");
    return buf;
}

static int take_front(struct front_side *s, struct err *e)
{
    const int64_t *gone;
    int64_t n_gone;
    int rc = keep_changes(s->keep, &s->rows, &gone, &n_gone, e);
    if (!rc)
        rc = keep_sort_fronts(s->keep, e);
    return rc ? rc : sort_rows(s, e);
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
        return err_set(e, ERR_USAGE, "option --design is %s, need a point of %s", run->opt.front_design,
                       run->opt.operands[0]);
    for (int32_t i = 0; i < j->sides[0].rule.n_front && j->design.asked; i++)
        if (!isfinite(j->design.x[i]))
            return err_set(e, ERR_USAGE,
                           "option --design is %lld, a point without %s, need one that is solved",
                           (long long)j->design.point, j->sides[0].rule.front[i].name);
    return 0;
}

/* Another front than that of the study may be of designs that were dropped. */
static bool asks_for_others(const struct options *opt)
{
    return opt->limits.n || opt->front_by || opt->front_per;
}

int front_job_run(struct front_job *j, struct run *run, struct err *e)
{
    int rc = front_source_open(&j->source, run->opt.operands[0], e);
    if (!rc && !j->source.complete)
        output_warn(run, "%s: not all points are done, need weft sweep to go on", run->opt.operands[0]);
    if (!rc && j->source.survivors && asks_for_others(&run->opt))
        output_warn(run,
                    "%s: has only what keep of its study left, and may lack the best under other columns "
                    "and limits, need a sweep with these in its keep, or without",
                    run->opt.operands[0]);
    if (!rc && j->source.store && j->source.rows.n_rows == 0)
        return err_set(e, ERR_NO_DESIGN, "%s: %s", run->opt.operands[0],
                       j->source.complete ? "is of a sweep that has kept no row" : "no row is there yet");
    if (!rc && (rc = take_options(j, &run->opt, e)) == ERR_PARSE)
        err_wrap(e, "%s:1:1", run->opt.operands[0]);
    if (!rc)
        rc = read_rows(j, run, e);
    for (int32_t i = 0; i < j->n_sides && !rc; i++)
        rc = take_front(&j->sides[i], e);
    if (!rc)
        rc = check_fronts(j, run, e);
    return rc;
}

void front_job_free(struct front_job *j)
{
    for (int32_t i = 0; i < FRONT_SIDES; i++) {
        keep_free(j->sides[i].keep);
        keep_rule_free(&j->sides[i].rule);
        table_free(&j->sides[i].rows);
        free(j->sides[i].by_point);
    }
    text_free(&j->design.group);
    table_free(&j->design.row);
    table_free(&j->sample.rows);
    filters_free(&j->filters);
    text_free(&j->work);
    front_source_close(&j->source);
    *j = (struct front_job){ 0 };
}

/* Of a table that `weft front` wrote these are replaced. */
static bool is_own(const char *column)
{
    return strcmp(column, KEEP_ROW) == 0 || strcmp(column, "front") == 0 || strcmp(column, "knee") == 0 ||
           strcmp(column, "distance") == 0;
}

static void put_row(struct table *t, const struct table *from, int64_t row, const char *front, bool knee,
                    double distance)
{
    table_row(t);
    for (int32_t i = 0; i < from->n_cols; i++)
        if (!is_own(from->names[i]))
            table_put_cell(t, from, row, i);
    table_put_text(t, front);
    table_put_text(t, knee ? "yes" : "no");
    table_put_real(t, distance);
}

static void put_side(struct table *t, const struct front_job *j, int32_t side)
{
    const struct front_side *s = &j->sides[side];
    const struct front_set *set = keep_fronts(s->keep), *all = keep_fronts(j->sides[FRONT_ALL].keep);
    for (int32_t g = 0; g < set->n; g++) {
        const struct front *f = &set->fronts[g], *free_of = front_of(all, set->groups[g]);
        int64_t knee = front_knee(f);
        for (int64_t i = 0; i < f->n_sorted; i++)
            put_row(t, &s->rows, front_row(s, f->id[i]), side == FRONT_ALL ? "all" : "within", i == knee,
                    side == FRONT_ALL ? 0 : front_distance(free_of, f->x + i * f->n_cols));
    }
}

/* A value of --at where its column has it, the group where that has it, else blank. */
static void put_value(struct table *to, const struct front_job *j, int64_t like, int32_t col)
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
        for (int32_t i = 0; i < s->rows.n_cols; i++)
            table_column(&row, s->rows.names[i], s->rows.kinds[i]);
        table_row(&row);
        for (int32_t i = 0; i < s->rows.n_cols && !row.failed; i++)
            put_value(&row, j, like, i);
        t->failed = t->failed || row.failed;
        if (!row.failed)
            put_row(t, &row, 0, "design", false, front_distance(&set->fronts[g], j->design.x));
        table_free(&row);
    }
}

static void put_design(struct table *t, const struct front_job *j)
{
    const struct front_design *d = &j->design;
    const struct front *f = front_of(keep_fronts(j->sides[FRONT_ALL].keep), text_str(&d->group));
    if (d->point < 0)
        put_values(t, j);
    else
        put_row(t, &d->row, 0, "design", false, f ? front_distance(f, d->x) : NAN);
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
            put_row(t, rows, row, "behind", false, front_distance(f, x));
    }
    text_free(&group);
    return rc;
}

int front_table(struct table *t, const struct front_job *j, struct err *e)
{
    const struct table *rows = &j->sides[FRONT_ALL].rows;
    for (int32_t i = 0; i < rows->n_cols; i++)
        if (!is_own(rows->names[i]))
            table_column(t, rows->names[i], rows->kinds[i]);
    table_column(t, "front", TABLE_TEXT);
    table_column(t, "knee", TABLE_TEXT);
    table_column(t, "distance", TABLE_REAL);
    for (int32_t i = 0; i < j->n_sides; i++)
        put_side(t, j, i);
    if (j->design.asked)
        put_design(t, j);
    int rc = put_behind(t, j, e);
    return rc ? rc : t->failed ? err_nomem(e, "the front") : 0;
}
