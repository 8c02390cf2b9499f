/* Batches as bytes: what goes in comes out, and bytes that are wrong are refused. */
#include "study/pack.h"
#include "tests/support.h"

enum { COLUMNS = 11 }; /* more than the bits of a byte */

static void columns(struct table *t)
{
    static const enum table_kind kinds[] = { TABLE_COUNT, TABLE_TEXT, TABLE_REAL };
    char name[] = "a";
    for (int i = 0; i < COLUMNS; i++, name[0]++)
        table_column(t, name, kinds[i % 3]);
}

static void put_random(struct table *t, enum table_kind kind, struct rng *r)
{
    static const double reals[] = { 0.0, -0.0, 1e-310, 1.0 / 3, -1e300, INFINITY, -INFINITY };
    static const int64_t counts[] = { 0, 1, -1, INT64_MAX, INT64_MIN + 1 };
    static const char *const texts[] = { "", "a", "two words", "\xc3\xa4,\"\n" };
    if (rng_below(r, 4) == 0)
        table_put_none(t);
    else if (kind == TABLE_REAL)
        table_put_real(t, reals[rng_below(r, COUNT_OF(reals))]);
    else if (kind == TABLE_COUNT)
        table_put_count(t, counts[rng_below(r, COUNT_OF(counts))]);
    else
        table_put_text(t, texts[rng_below(r, COUNT_OF(texts))]);
}

static struct fleet_batch random_batch(struct rng *r, int64_t n_rows)
{
    struct fleet_batch b = { .units = { 17, 4 }, .counts = { 10, 3, 2, 5, 1 } };
    columns(&b.rows);
    columns(&b.more[1]);
    for (int64_t row = 0; row < n_rows % 3; row++) {
        table_row(&b.more[1]);
        for (int i = 0; i < COLUMNS; i++)
            put_random(&b.more[1], b.rows.kinds[i], r);
    }
    for (int64_t row = 0; row < n_rows; row++) {
        table_row(&b.rows);
        for (int i = 0; i < COLUMNS; i++)
            put_random(&b.rows, b.rows.kinds[i], r);
    }
    return b;
}

static void check_cell(enum table_kind kind, const struct table_cell *got, const struct table_cell *want)
{
    if (kind == TABLE_COUNT)
        assert_true(got->count == want->count);
    else if (kind == TABLE_REAL)
        assert_true(isnan(want->real) ? isnan(got->real)
                                      : memcmp(&got->real, &want->real, sizeof got->real) == 0);
    else if (want->text)
        assert_string_equal(got->text, want->text);
    else
        assert_null(got->text);
}

static void check_tables(const struct table *got, const struct table *want)
{
    assert_int_equal(got->n_rows, want->n_rows);
    for (int64_t row = 0; row < want->n_rows; row++)
        for (int32_t col = 0; col < COLUMNS; col++)
            check_cell(want->kinds[col], table_cell(got, row, col), table_cell(want, row, col));
}

static void check_same(const struct fleet_batch *got, const struct fleet_batch *want)
{
    assert_true(got->units.first == want->units.first && got->units.n == want->units.n);
    assert_memory_equal(&got->counts, &want->counts, sizeof got->counts);
    check_tables(&got->rows, &want->rows);
    check_tables(&got->more[1], &want->more[1]);
}

static int unpack(struct fleet_batch *b, const unsigned char *bytes, size_t n, struct err *e)
{
    *b = (struct fleet_batch){ .units.n = 0 };
    columns(&b->rows);
    columns(&b->more[1]);
    return fleet_unpack(b, bytes, n, e);
}

TEST(a_batch_comes_out_as_it_went_in)
{
    RNG(r, 3, 0);
    for (int64_t n_rows = 0; n_rows < 60; n_rows++) {
        struct fleet_batch want = random_batch(r, n_rows), got;
        unsigned char *bytes;
        size_t n;
        OK(fleet_pack(&bytes, &n, &want, e));
        OK(unpack(&got, bytes, n, e));
        check_same(&got, &want);
        fleet_batch_free(&got);
        fleet_batch_free(&want);
        free(bytes);
    }
}

/* Each length in a block of its own, so that a sanitizer sees a byte read too far. */
static void check_cut(const unsigned char *bytes, size_t n, const char *message)
{
    unsigned char *part = malloc(n ? n : 1);
    KEEP(struct fleet_batch, got, fleet_batch_free);
    struct err e = { 0 };
    assert_non_null(part);
    memcpy(part, bytes, n);
    assert_fails(unpack(&got, part, n, &e), &e, ERR_LIB, message);
    free(part);
}

TEST(bytes_that_are_too_few_or_too_many_are_refused)
{
    RNG(r, 5, 0);
    struct fleet_batch b = random_batch(r, 8), none = random_batch(r, 0), got;
    unsigned char *bytes;
    size_t n, n_head;
    OK(fleet_pack(&bytes, &n_head, &none, e));
    free(bytes);
    OK(fleet_pack(&bytes, &n, &b, e));
    for (size_t cut = 0; cut < n; cut++)
        check_cut(bytes, cut, cut < n_head ? "are not of this program" : "expected");
    unsigned char *more = calloc(1, n + 3);
    assert_non_null(more);
    memcpy(more, bytes, n);
    FAILS(unpack(&got, more, n + 3, e), ERR_LIB, "3 bytes too many after 10 rows");
    fleet_batch_free(&got);
    free(more);
    free(bytes);
    fleet_batch_free(&b);
    fleet_batch_free(&none);
}

/* Whichever of the tables lacks memory: the message is read to its end, and that memory lacks is said then.
 */
TEST(a_table_that_lacks_memory_is_told)
{
    RNG(r, 6, 0);
    KEEP(struct fleet_batch, b, fleet_batch_free) = random_batch(r, 8);
    unsigned char *bytes;
    size_t n;
    OK(fleet_pack(&bytes, &n, &b, e));
    for (int i = 0; i <= FLEET_MORE; i++) {
        KEEP(struct fleet_batch, got, fleet_batch_free) = { .units.n = 0 };
        columns(&got.rows);
        columns(&got.more[1]);
        *(i ? &got.more[i - 1].failed : &got.rows.failed) = true;
        FAILS(fleet_unpack(&got, bytes, n, e), ERR_NOMEM, "rows from another rank");
    }
    free(bytes);
}

TEST(rows_of_other_columns_are_refused)
{
    KEEP(struct fleet_batch, got, fleet_batch_free);
    KEEP(struct fleet_batch, b, fleet_batch_free) = { .units.n = 1 };
    unsigned char *bytes;
    size_t n;
    table_column(&b.rows, "alone", TABLE_REAL);
    OK(fleet_pack(&bytes, &n, &b, e));
    FAILS(unpack(&got, bytes, n, e), ERR_LIB, "expected one version on machines of one kind");
    free(bytes);
}
