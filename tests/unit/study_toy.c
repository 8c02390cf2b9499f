#include "tests/unit/study_toy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "study/study.h"

struct toy_alive toy_alive;

static void count(int *n, int *most, int by)
{
#pragma omp critical(toy)
    {
        *n += by;
        if (*n > *most)
            *most = *n;
    }
}

/* ---- points ---- */

struct toy_point {
    int64_t x, entries, broken, nap_us, seed, seeds;
    yaml_id vary, where, keep;
    char name[32];
};

#define COUNT(field, least, most, absent)                                                                    \
    {                                                                                                        \
        .name = #field, .help = "", .kind = KEY_I64, .offset = offsetof(struct toy_point, field),            \
        .unit = "", .scale = 1, .min = least, .max = most, .dflt = absent                                    \
    }
#define NODE(field)                                                                                          \
    {                                                                                                        \
        .name = #field, .help = "", .kind = KEY_NODE, .offset = offsetof(struct toy_point, field),           \
        .unit = "", .dflt = SCHEMA_NONE                                                                      \
    }
static const struct key toy_keys[] = {
    COUNT(x, 0, 1e6, 1),
    COUNT(entries, 0, 100, 3),
    COUNT(broken, 0, 2, 0),
    COUNT(nap_us, 0, 1e6, 0),
    COUNT(seed, 0, 1e9, 1),
    COUNT(seeds, 1, 1e5, 1),
    NODE(vary),
    NODE(where),
    NODE(keep),
};
static const struct section toy_section = { .name = "toy",
                                            .help = "",
                                            .keys = toy_keys,
                                            .n_keys = sizeof toy_keys / sizeof *toy_keys,
                                            .size = sizeof(struct toy_point) };

static int toy_read(void *point, const struct study_source *from, struct err *e)
{
    struct toy_point *p = point;
    struct yaml_doc doc;
    int32_t own;
    memset(p, 0, sizeof *p);
    count(&toy_alive.points, &toy_alive.most_points, 1);
    int rc = source_read(&doc, &own, from, e);
    if (!rc)
        rc = schema_read(p, &toy_section, &doc, doc.root, e);
    if (!rc && p->broken == 1)
        rc = err_set(e, ERR_RANGE, "broken is 1; choose another");
    yaml_free(&doc);
    return rc;
}

static void toy_free(void *point)
{
    (void)point;
    count(&toy_alive.points, &toy_alive.most_points, -1);
}

static int toy_open(struct study *s, const struct yaml_doc *doc, const void *first, struct err *e)
{
    const struct toy_point *p = first;
    (void)doc, (void)e;
    s->seed = p->seed;
    s->seeds = p->seeds;
    s->hash = sweep_hash(&s->sweep, 17);
    return 0;
}

/* ---- what is kept ---- */

struct toy_shared {
    struct study_shared head;
    const char *name;
    double half, ratio; /* ratio: of the last entry to the first, when all is known */
};
static const struct column toy_shared_columns[] = {
    STUDY_SHARED_COLUMNS(struct toy_shared, head),
    COLUMN_WORD(struct toy_shared, name, NULL),
    COLUMN_REAL(struct toy_shared, half, NULL),
    COLUMN_REAL(struct toy_shared, ratio, NULL),
    COLUMNS_END,
};

struct toy_result {
    struct study_result head;
    double y;
    int64_t n;
};
static const struct column toy_result_columns[] = {
    STUDY_RESULT_COLUMNS(struct toy_result, head),
    COLUMN_REAL(struct toy_result, y, NULL),
    COLUMN_COUNT(struct toy_result, n, NULL),
    COLUMNS_END,
};

struct toy_row {
    const char *name, *entry;
    double mean, ratio;
    int64_t n;
    const char *status, *message;
};
static const struct column toy_columns[] = {
    COLUMN_WORD(struct toy_row, name, "", .flags = COLUMN_EMPTY),
    COLUMN_WORD(struct toy_row, entry, ""),
    COLUMN_REAL(struct toy_row, mean, ""),
    COLUMN_REAL(struct toy_row, ratio, ""),
    COLUMN_COUNT(struct toy_row, n, "", .flags = COLUMN_HIDDEN),
    COLUMN_WORD(struct toy_row, status, ""),
    COLUMN_WORD(struct toy_row, message, ""),
    COLUMNS_END,
};

struct toy_step {
    int64_t seed;
    const char *entry;
    int64_t step;
    double y, ratio;
};
static const struct column toy_step_columns[] = {
    COLUMN_COUNT(struct toy_step, seed, ""), COLUMN_WORD(struct toy_step, entry, ""),
    COLUMN_COUNT(struct toy_step, step, ""), COLUMN_REAL(struct toy_step, y, ""),
    COLUMN_REAL(struct toy_step, ratio, ""), COLUMNS_END,
};

static void toy_derive(void *row, const void *shared)
{
    ((struct toy_step *)row)->ratio = ((const struct toy_shared *)shared)->ratio;
}

enum { TABLE_FIRST = TABLE_RUNS + 1, N_TABLES };
static const struct table_def toy_tables[N_TABLES] = {
    [TABLE_ROWS] = { .word = "rows", .columns = toy_columns },
    [TABLE_RUNS] = { .word = "steps", .columns = toy_step_columns, .derive = toy_derive, .always = true },
    [TABLE_FIRST] = { .word = "first", .columns = toy_step_columns, .by_seed = true, .first_seed = true },
};

/* ---- runs ---- */

static int toy_prepare(void *point, void *shared, const struct study *study, struct err *e)
{
    (void)study;
    struct toy_point *p = point;
    struct toy_shared *x = shared;
    snprintf(p->name, sizeof p->name, "x%d", (int)p->x);
    x->name = p->name;
    x->half = (double)p->x / 2;
    x->head.notes = "a point\n";
    return p->broken == 2 ? err_set(e, ERR_NO_DESIGN, "broken is 2") : 0;
}

static int32_t toy_entries(const void *point)
{
    return (int32_t)((const struct toy_point *)point)->entries;
}

static bool toy_seeded(const void *point, int32_t entry)
{
    (void)point;
    return entry > 0;
}

struct toy_seed {
    double add;
};

static int toy_seed_begin(void *state, const void *point, int64_t seed, struct err *e)
{
    const struct toy_point *p = point;
    ((struct toy_seed *)state)->add = (double)(seed % 13) / 3;
    count(&toy_alive.seeds, &toy_alive.most_seeds, 1);
    return p->x == 7 && seed % 5 == 3 ? err_set(e, ERR_RANGE, "seed %d of x = 7", (int)seed) : 0;
}

static void toy_seed_end(void *state)
{
    (void)state;
    count(&toy_alive.seeds, &toy_alive.most_seeds, -1);
}

static unsigned mix(int64_t a, int64_t b, int64_t c)
{
    uint64_t z = (uint64_t)(a * 1000003 + b * 10007 + c) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    return (unsigned)(z >> 40);
}

static void nap(int64_t us)
{
    struct timespec t = { .tv_nsec = (long)us * 1000 };
    nanosleep(&t, NULL);
}

static int toy_run_entry(const struct study_run *r, int32_t entry, struct sink *sink, struct err *e)
{
    const struct toy_point *p = r->point;
    const struct toy_seed *seed = r->seed_state;
    char name[16];
    unsigned z = mix(p->x, entry, entry ? r->seed : 0);
    struct toy_result out = { .y = (double)z / 7 + seed->add * (entry > 0), .n = z % 5 };
    snprintf(name, sizeof name, "e%d", (int)entry);
    for (int64_t i = 0; i < out.n; i++) {
        struct toy_step row = { r->seed, name, i, out.y + (double)i, NAN };
        sink_put(sink, TABLE_RUNS, &row);
        sink_put(sink, TABLE_FIRST, &row);
        if (z % 11 == 3 && i == 1)
            return err_set(e, ERR_RANGE, "run of e%d fell", (int)entry);
    }
    nap(p->nap_us ? z % p->nap_us : 0);
    sink_result(sink, entry, &out);
    return 0;
}

static int toy_run(const struct study_run *r, struct sink *sink, struct err *e)
{
    return toy_run_entry(r, r->entry, sink, e);
}

static int toy_run_all(const struct study_run *r, struct sink *sink, struct err *e)
{
    int rc = 0;
    for (int32_t entry = 0; entry < r->n_entries && !rc; entry++)
        rc = toy_run_entry(r, entry, sink, e);
    return rc;
}

/* ---- rows ---- */

static int toy_reduce(struct study_rows *rows, void *shared, const struct results *r, struct err *e)
{
    struct toy_shared *x = shared;
    struct toy_row row;
    double first = NAN;
    (void)e;
    row_clear(&row, toy_columns);
    row.name = x->name;
    if (x->head.rc) {
        row.status = "error";
        row.message = x->head.message;
        study_rows_put(rows, &row);
        return 0;
    }
    for (int32_t entry = 0; entry < results_entries(r); entry++) {
        char name[16];
        double sum = 0;
        row.n = 0;
        row.message = NULL;
        for (int64_t k = 0; k < results_seeds(r); k++) {
            const struct toy_result *one = results_at(r, entry, k);
            if (one && one->head.rc && !row.message)
                row.message = one->head.message;
            if (!one || one->head.rc)
                continue;
            sum += one->y;
            row.n++;
        }
        snprintf(name, sizeof name, "e%d", (int)entry);
        row.entry = name;
        row.mean = row.n ? sum / (double)row.n : (double)NAN;
        first = entry ? first : row.mean;
        row.ratio = x->ratio = row.mean / first;
        row.status = row.n ? "done" : "error";
        study_rows_put(rows, &row);
    }
    study_rows_note(rows, "reduced\n");
    return 0;
}

static bool toy_is_result(const struct table *rows, int64_t row, const int32_t *cols)
{
    const char *status = table_cell(rows, row, cols[0])->text;
    return status && strcmp(status, "done") == 0;
}

static const char *const facts[] = { "twice", NULL };

static void toy_facts(double *x, const void *point)
{
    x[0] = 2 * (double)((const struct toy_point *)point)->x;
}

static const char *const fixed[] = { "seed", "seeds", NULL }, *const none[] = { NULL },
                         *const told_by[] = { "status", NULL };

#define TOY                                                                                                  \
    .what = "", .keys = &toy_section, .own_keys = none, .fixed_axes = fixed, .tables = toy_tables,           \
    .n_tables = N_TABLES, .open = toy_open, .point_size = sizeof(struct toy_point), .read = toy_read,        \
    .free = toy_free, .fact_names = facts, .facts = toy_facts, .shared = toy_shared_columns,                 \
    .result = toy_result_columns, .shared_size = sizeof(struct toy_shared),                                  \
    .result_size = sizeof(struct toy_result), .prepare = toy_prepare, .n_entries = toy_entries,              \
    .seed_size = sizeof(struct toy_seed), .seed_begin = toy_seed_begin, .seed_end = toy_seed_end,            \
    .reduce = toy_reduce, .notes = NOTES_COMMON, .is_result = toy_is_result, .result_columns = told_by,      \
    .label = "entry", .front = none, .work = none

const struct study_kind toy_kind = { .word = "toy", TOY, .run = toy_run, .seeded = toy_seeded };
const struct study_kind toy_whole_kind = { .word = "toys", TOY, .run = toy_run_all, .whole_seed = true };
