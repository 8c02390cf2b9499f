#include "tests/unit/store_fixture.h"

#include "kinds/design/explore/runner.h"

enum { POINTS_OF_UNIT = 10 };

/* Rows of designs over two axes whose names differ in case alone. */
static void plant_study(struct study *s)
{
    static char pod[] = "network.dims.pod.max_GBps", other[] = "network.dims.Pod.max_GBps";
    struct err e = { 0 };
    *s = (struct study){ .kind = &design_kind,
                         .sweep = { .keys = { { .path = pod }, { .path = other } }, .n_keys = 2 } };
    assert_ok(study_set_columns(s, TABLE_ROWS, design_kind.tables[TABLE_ROWS].columns, &e), &e);
}

void stored_columns(struct table *t)
{
    struct study s;
    plant_study(&s);
    study_put_columns(t, &s, TABLE_ROWS);
    columns_free(&s.tables[TABLE_ROWS].shown);
}

/* SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014. */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static void put_text(struct table *t, uint64_t x)
{
    static const char *const texts[] = { "solved",
                                         "",
                                         "a|b|c",
                                         "100",
                                         "1e3",
                                         "0.10",
                                         "0.25",
                                         "-0",
                                         "007",
                                         "1e-7",
                                         "-3",
                                         "9007199254740993",
                                         "x.yaml:3:4: \"quoted\", and\nlines",
                                         "\xc3\xa9t\xc3\xa9",
                                         "'); DROP TABLE points; --",
                                         "#",
                                         "1e999" };
    char unique[32];
    if (x % 16 == 0) {
        snprintf(unique, sizeof unique, "%g", (double)(x >> 40));
        table_put_text(t, unique);
    } else {
        table_put_text(t, texts[(x >> 8) % COUNT_OF(texts)]);
    }
}

static void put_real(struct table *t, uint64_t x)
{
    static const double special[] = { 0,     -0.0,      1,        -1,  4503599627370497.5,
                                      1e300, 0x1p-1074, INFINITY, NAN, 1e16 };
    double real;
    memcpy(&real, &x, sizeof real);
    table_put_real(t, x % 4 == 0 ? special[(x >> 8) % COUNT_OF(special)] : real);
}

static void put_cell(struct table *t, uint64_t x)
{
    enum table_kind kind = t->kinds[t->col];
    if (x % 5 == 0)
        table_put_none(t);
    else if (kind == TABLE_TEXT)
        put_text(t, x);
    else if (kind == TABLE_REAL)
        put_real(t, x);
    else
        table_put_count(t, (int64_t)(x >> (x % 64)));
}

/* Of "bw1_GBps", "util1", "exposed1_s", "valiant1" the number; 0: of no dimension. */
static int dim_of(const char *name)
{
    size_t n = strspn(name, "bwutilexposedvan");
    return n >= 2 && n <= 7 ? atoi(name + n) : 0;
}

void stored_put(struct table *t, int64_t point, int version, int32_t most_dims, bool trains)
{
    uint64_t state = (uint64_t)point * 1000003 + (uint64_t)version;
    int32_t n_dims = 1 + (int32_t)(draw(&state) % (uint64_t)most_dims);
    int32_t plan = table_find(t, "plan"), message = table_find(t, "message");
    bool has_plan = trains && point % 3 == 0;
    table_row(t);
    while (t->col < t->n_cols) {
        const char *name = t->names[t->col];
        int dim = dim_of(name);
        uint64_t x = draw(&state);
        if (strcmp(name, "point") == 0)
            table_put_count(t, point);
        else if (strcmp(name, "n_dims") == 0)
            table_put_count(t, n_dims);
        else if (t->col == plan && has_plan)
            table_put_text(t, "tp=8 dp=4");
        else if (dim > n_dims || (t->col >= plan && t->col < message && !has_plan))
            table_put_none(t);
        else
            put_cell(t, x);
    }
}

struct store_head stored_head(int64_t n_units)
{
    return (struct store_head){ .study_hash = 0x0123456789abcdefu,
                                .seed = 7,
                                .n_points = n_units * POINTS_OF_UNIT,
                                .n_units = n_units,
                                .command = "weft sweep 'it''s.yaml'",
                                .version = "1.2.3",
                                .study = "network: ring:4\nvary: { total_GBps: [1] }\n",
                                .shard = 1,
                                .n_shards = 1 };
}

void stored_put_unit(struct table *t, int64_t u, int64_t n_units)
{
    for (int64_t i = 0; i < POINTS_OF_UNIT; i++)
        stored_put(t, u + i * n_units, 0, 6, true);
}

void stored_all(struct table *t, int64_t n_units)
{
    stored_columns(t);
    for (int64_t point = 0; point < n_units * POINTS_OF_UNIT; point++)
        stored_put(t, point, 0, 6, true);
}

int stored_open(struct store **out, const char *path, const struct store_head *head,
                const struct table *columns, struct spans *done, struct sweep_counts *counts, struct err *e)
{
    struct study s;
    plant_study(&s);
    const char **parts = study_parts(&s, TABLE_ROWS);
    columns_free(&s.tables[TABLE_ROWS].shown);
    const struct store_table_form table = { "points", columns, 1, parts };
    assert_non_null(parts);
    int rc = store_open(out, path, head, &(struct store_form){ &table, 1 }, done, counts, e);
    free(parts);
    return rc;
}

void stored_read(struct table *all, struct store *s, int64_t most)
{
    KEEP(struct table, piece, table_free) = { 0 };
    struct err e = { 0 };
    struct store_walk walk = store_walk_all(STORE_RESULTS, false);
    *all = (struct table){ 0 };
    assert_ok(study_trim_store(s, &design_kind, false, &e), &e);
    do {
        assert_ok(store_next(s, &walk, most, &piece, &e), &e);
        assert_true(piece.n_rows <= most);
        table_columns_of(all, &piece);
        for (int64_t row = 0; row < piece.n_rows; row++)
            table_take_row(all, &piece, row);
    } while (piece.n_rows);
}

static bool same_cell(enum table_kind kind, const struct table_cell *a, const struct table_cell *b)
{
    if (kind == TABLE_TEXT)
        return a->text && b->text ? strcmp(a->text, b->text) == 0 : a->text == b->text;
    if (kind == TABLE_COUNT)
        return a->count == b->count;
    return isfinite(a->real) ? memcmp(&a->real, &b->real, sizeof a->real) == 0 : !isfinite(b->real);
}

static bool is_blank(enum table_kind kind, const struct table_cell *c)
{
    return kind == TABLE_TEXT ? !c->text : kind == TABLE_COUNT ? c->count == INT64_MIN : !isfinite(c->real);
}

void assert_same_rows(const struct table *got, const struct table *want)
{
    assert_int_equal(got->n_rows, want->n_rows);
    for (int32_t col = 0; col < want->n_cols; col++) {
        int32_t at = table_find(got, want->names[col]);
        for (int64_t row = 0; row < want->n_rows; row++) {
            const struct table_cell *c = table_cell(want, row, col);
            if (at < 0 ? is_blank(want->kinds[col], c)
                       : same_cell(want->kinds[col], table_cell(got, row, at), c))
                continue;
            print_error("row %d, column %s differs\n", (int)row, want->names[col]);
            fail();
        }
    }
}
