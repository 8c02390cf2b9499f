/*
 * Messages between ranks: a batch of rows, and the fronts that are shared before the second pass. All ranks
 * are of one build on machines of one byte order, which the mark at the beginning checks.
 *
 * A batch is a head, then rows table by table: a bit a cell, then what has a value. Most columns of most rows
 * are blank (dimensions that a network lacks, columns of other statuses), so the bitmap more than pays for
 * itself. Unpacking trusts no length: it stops at the end of the bytes, whatever they say. Fronts come from
 * rank 0 of the same run and are read without such checks.
 */
#include "study/pack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "study/fleet.h"

/* Other bytes here: another version of the program, or a machine that puts the low byte last. */
#define MARK 0x0001746665770001 /* "weft" between 1 and 1 */

/* Sent as it lies in memory, padding included: MARK tells another byte order. */
struct head {
    int64_t mark;
    int64_t n_cols[1 + FLEET_MORE], n_rows[1 + FLEET_MORE]; /* of rows, then of other tables */
    struct span units;
    struct sweep_counts counts;
};

static const struct table *table_of(const struct fleet_batch *b, int i)
{
    return i ? &b->more[i - 1] : &b->rows;
}

static bool pack_has_value(enum table_kind kind, const struct table_cell *c)
{
    switch (kind) {
    case TABLE_REAL:
        return !isnan(c->real);
    case TABLE_COUNT:
        return c->count != INT64_MIN;
    default:
        return c->text != NULL;
    }
}

static size_t bitmap_bytes(const struct table *t)
{
    return ((size_t)t->n_cols + 7) / 8;
}

static size_t cell_bytes(enum table_kind kind, const struct table_cell *c)
{
    if (!pack_has_value(kind, c))
        return 0;
    return kind == TABLE_TEXT ? strlen(c->text) + 1 : 8;
}

/* Counted before, so that one allocation does. */
static size_t count_bytes(const struct table *t)
{
    size_t n = (size_t)t->n_rows * bitmap_bytes(t);
    for (int64_t row = 0; row < t->n_rows; row++)
        for (int32_t col = 0; col < t->n_cols; col++)
            n += cell_bytes(t->kinds[col], table_cell(t, row, col));
    return n;
}

static unsigned char *pack_row(unsigned char *to, const struct table *t, int64_t row)
{
    unsigned char *bits = to;
    to += bitmap_bytes(t);
    memset(bits, 0, bitmap_bytes(t));
    for (int32_t col = 0; col < t->n_cols; col++) {
        const struct table_cell *c = table_cell(t, row, col);
        size_t n = cell_bytes(t->kinds[col], c);
        if (n == 0)
            continue;
        bits[col / 8] |= (unsigned char)(1 << col % 8);
        memcpy(to,
               t->kinds[col] == TABLE_TEXT   ? (const void *)c->text
               : t->kinds[col] == TABLE_REAL ? (const void *)&c->real
                                             : (const void *)&c->count,
               n);
        to += n;
    }
    return to;
}

int fleet_pack(unsigned char **bytes, size_t *n, const struct fleet_batch *b, struct err *e)
{
    struct head h = { .mark = MARK, .units = b->units, .counts = b->counts };
    *n = sizeof h;
    for (int i = 0; i <= FLEET_MORE; i++) {
        h.n_cols[i] = table_of(b, i)->n_cols;
        h.n_rows[i] = table_of(b, i)->n_rows;
        *n += count_bytes(table_of(b, i));
    }
    *bytes = malloc(*n);
    if (!*bytes)
        return err_nomem(e, "rows for the first rank");
    memcpy(*bytes, &h, sizeof h);
    unsigned char *to = *bytes + sizeof h;
    for (int i = 0; i <= FLEET_MORE; i++)
        for (int64_t row = 0; row < h.n_rows[i]; row++)
            to = pack_row(to, table_of(b, i), row);
    return 0;
}

/* What is not read yet. */
struct rest {
    const unsigned char *at;
    size_t n;
};

/* The next @p n bytes; NULL when there are fewer. */
static const unsigned char *pack_take_bytes(struct rest *r, size_t n)
{
    const unsigned char *at = r->at;
    if (n > r->n)
        return NULL;
    r->at += n;
    r->n -= n;
    return at;
}

/* False: the bytes end within it. */
static bool unpack_cell(struct table *t, enum table_kind kind, struct rest *r)
{
    if (kind == TABLE_TEXT) {
        const unsigned char *end = memchr(r->at, 0, r->n);
        if (!end)
            return false;
        table_put_text(t, (const char *)pack_take_bytes(r, (size_t)(end - r->at) + 1));
        return true;
    }
    const unsigned char *from = pack_take_bytes(r, 8);
    if (!from)
        return false;
    double real;
    int64_t count;
    if (kind == TABLE_REAL)
        table_put_real(t, (memcpy(&real, from, 8), real));
    else
        table_put_count(t, (memcpy(&count, from, 8), count));
    return true;
}

static bool unpack_row(struct table *t, struct rest *r)
{
    const unsigned char *bits = pack_take_bytes(r, bitmap_bytes(t));
    if (!bits)
        return false;
    table_row(t);
    for (int32_t col = 0; col < t->n_cols; col++) {
        if (!(bits[col / 8] >> col % 8 & 1))
            table_put_none(t);
        else if (!unpack_cell(t, t->kinds[col], r))
            return false;
    }
    return true;
}

static bool is_ours(const struct head *h, const struct fleet_batch *b)
{
    bool is = h->mark == MARK;
    for (int i = 0; i <= FLEET_MORE; i++)
        is = is && h->n_cols[i] == table_of(b, i)->n_cols;
    return is;
}

int fleet_unpack(struct fleet_batch *b, const unsigned char *bytes, size_t n, struct err *e)
{
    struct rest r = { .at = bytes, .n = n };
    struct head h;
    int64_t rows = 0;
    const unsigned char *from = pack_take_bytes(&r, sizeof h);
    if (!from || (memcpy(&h, from, sizeof h), !is_ours(&h, b)))
        return err_set(
            e, ERR_LIB,
            "rows from another rank: are not of this program, expected one version on machines of one kind");
    b->units = h.units;
    b->counts = h.counts;
    /* Lack of memory does not stop the reading: the message is checked to its end first. */
    bool failed = false;
    for (int i = 0; i <= FLEET_MORE; i++) {
        struct table *t = i ? &b->more[i - 1] : &b->rows;
        for (int64_t row = 0; row < h.n_rows[i]; row++, rows++)
            if (!unpack_row(t, &r))
                return err_set(e, ERR_LIB, "rows from another rank: end in row %lld, expected %lld rows",
                               (long long)row, (long long)h.n_rows[i]);
        failed = failed || t->failed;
    }
    if (r.n > 0)
        return err_set(e, ERR_LIB, "rows from another rank: %zu bytes too many after %lld rows", r.n,
                       (long long)rows);
    return failed ? err_nomem(e, "rows from another rank") : 0;
}

/* Both ends are the same program on machines of one kind: numbers go as they lie in memory. */
static void put_set(struct text *out, const struct front_set *s)
{
    text_add(out, (const char *)&s->n_cols, sizeof s->n_cols);
    text_add(out, (const char *)&s->n, sizeof s->n);
    for (int32_t g = 0; g < s->n; g++) {
        const struct front *f = &s->fronts[g];
        text_add(out, s->groups[g], strlen(s->groups[g]) + 1);
        text_add(out, (const char *)&f->n_sorted, sizeof f->n_sorted);
        text_add(out, (const char *)f->x, (size_t)(f->n_sorted * f->n_cols) * sizeof *f->x);
        text_add(out, (const char *)f->id, (size_t)f->n_sorted * sizeof *f->id);
    }
}

/* The next bytes, which need not be aligned. */
static void take_bytes(void *to, const char **at, size_t n)
{
    memcpy(to, *at, n);
    *at += n;
}

static int take_front(struct front_set *s, const char **at, struct err *e)
{
    const char *group = *at;
    int64_t n, id;
    double x[FRONT_MAX_COLUMNS];
    bool on;
    int rc = 0;
    *at += strlen(group) + 1;
    take_bytes(&n, at, sizeof n);
    const char *values = *at, *ids = values + (size_t)(n * s->n_cols) * sizeof *x;
    for (int64_t i = 0; i < n && !rc; i++) {
        take_bytes(x, &values, (size_t)s->n_cols * sizeof *x);
        take_bytes(&id, &ids, sizeof id);
        rc = front_set_offer(s, group, x, id, &on, NULL, e);
    }
    *at = ids;
    return rc;
}

int campaign_share_front(struct front_set *to, const struct front_set *from, struct err *e)
{
    static const struct front_set none = { 0 };
    struct text packed = { 0 };
    void *bytes = NULL;
    size_t n = 0;
    int rc = 0;
    /* The fronts on the first rank are copied as well: what is pruned against must not change while the pass
     * runs. */
    front_set_free(to);
    if (fleet_rank() == 0) {
        put_set(&packed, from ? from : &none);
        rc = text_check(&packed, e);
        bytes = packed.s;
        n = packed.n;
    }
    if (!rc)
        rc = fleet_share(&bytes, &n, e);
    const char *at = bytes;
    int32_t groups = 0;
    if (!rc) {
        take_bytes(&to->n_cols, &at, sizeof to->n_cols);
        take_bytes(&groups, &at, sizeof groups);
    }
    for (int32_t g = 0; g < groups && !rc; g++)
        rc = take_front(to, &at, e);
    free(bytes);
    return rc;
}
