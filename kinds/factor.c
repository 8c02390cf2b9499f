#include "kinds/factor.h"

#include <stdlib.h>
#include <string.h>

enum { DIMS = TOPO_MAX_DIMS };

/* Far more than can be written; sums of a few of these stay within 64 bits. */
static const int64_t MANY = INT64_C(1) << 53;

/* A divisor of a divisor. */
struct part {
    int64_t size; /* >= 2 */
    int32_t rest; /* the divisor over it, as an index */
};

struct walk {
    const struct factor *f;
    int64_t *divisors; /* shape [n], owned; ascending */
    int32_t n;
    struct part
        *parts;     /* shape [first[n]], owned: of divisor i those from first[i] to first[i+1], ascending */
    int32_t *first; /* shape [n + 1], owned */
    /* shape [n_tiers][DIMS + 1][DIMS + 1][n], owned: by tier, dimensions in it so far, dimensions still to
     * come and the product they need: in how many ways; -1 = not asked yet */
    int64_t *ways;
    struct text text; /* the network so far */
    struct sweep_column *out;
};

/* ---- divisors ---- */

static int by_size(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static int list_divisors(struct walk *w, struct err *e)
{
    int32_t n = 0;
    for (int64_t d = 1; d * d <= w->f->npus; d++)
        n += w->f->npus % d == 0 ? 1 + (d * d != w->f->npus) : 0;
    w->divisors = malloc((size_t)n * sizeof *w->divisors);
    if (!w->divisors)
        return err_nomem(e, "divisors");
    for (int64_t d = 1; d * d <= w->f->npus; d++)
        if (w->f->npus % d == 0) {
            w->divisors[w->n++] = d;
            if (d * d != w->f->npus)
                w->divisors[w->n++] = w->f->npus / d;
        }
    qsort(w->divisors, (size_t)w->n, sizeof *w->divisors, by_size);
    return 0;
}

static int32_t index_of(const struct walk *w, int64_t divisor)
{
    const int64_t *found = bsearch(&divisor, w->divisors, (size_t)w->n, sizeof divisor, by_size);
    return (int32_t)(found - w->divisors);
}

/* Counted first and then, with room for them, listed. */
static int32_t split_divisors(struct walk *w)
{
    int32_t n = 0;
    for (int32_t i = 0; i < w->n; i++) {
        if (w->parts)
            w->first[i] = n;
        for (int32_t k = 1; k <= i; k++)
            if (w->divisors[i] % w->divisors[k] == 0) {
                if (w->parts)
                    w->parts[n] =
                        (struct part){ w->divisors[k], index_of(w, w->divisors[i] / w->divisors[k]) };
                n++;
            }
    }
    return n;
}

static int list_parts(struct walk *w, struct err *e)
{
    int32_t n = split_divisors(w);
    w->first = calloc((size_t)w->n + 1, sizeof *w->first);
    w->parts = malloc(((size_t)n + 1) * sizeof *w->parts);
    if (!w->first || !w->parts)
        return err_nomem(e, "divisors");
    w->first[w->n] = split_divisors(w);
    return 0;
}

/* ---- ways ---- */

static bool has_ports(enum topo_shape shape, int64_t size, int64_t radix)
{
    struct shape_counts c;
    struct err none = { 0 };
    if (topo_check_size(shape, size, &none))
        return false;
    topo_shapes[shape]->counts(&c, size);
    return radix < 0 || c.ports <= radix;
}

static bool has_size(const struct factor_tier *t, int64_t size)
{
    bool listed = t->n_sizes == 0;
    for (int32_t i = 0; i < t->n_sizes; i++)
        listed = listed || t->sizes[i] == size;
    return listed && size >= t->min && size <= t->max;
}

static int32_t count_shapes(const struct factor_tier *t, int64_t size)
{
    int32_t n = 0;
    if (has_size(t, size))
        for (int32_t i = 0; i < t->n_shapes; i++)
            n += has_ports(t->shapes[i], size, t->radix);
    return n;
}

/* May what lies outside tier `tier`, with `in` dimensions in it, begin here? `rest` is still to come. */
static bool may_leave(const struct walk *w, int32_t tier, int32_t in, int32_t rest)
{
    const struct factor_tier *t = &w->f->tiers[tier];
    return in >= t->from && w->f->npus / w->divisors[rest] <= t->max_npus;
}

static int64_t count(const struct walk *w, int32_t tier, int32_t in, int32_t dims, int32_t rest);

static int64_t sum_ways(const struct walk *w, int32_t tier, int32_t in, int32_t dims, int32_t rest)
{
    const struct factor_tier *t = &w->f->tiers[tier];
    int64_t n = may_leave(w, tier, in, rest) ? count(w, tier + 1, 0, dims, rest) : 0;
    if (in == t->to || dims == 0)
        return n;
    for (int32_t i = w->first[rest]; i < w->first[rest + 1]; i++) {
        int32_t shapes = count_shapes(t, w->parts[i].size);
        n += shapes ? shapes * count(w, tier, in + 1, dims - 1, w->parts[i].rest) : 0;
        n = n < MANY ? n : MANY;
    }
    return n;
}

/* A way through the tiers passes each of them once, so none is counted twice. */
static int64_t count(const struct walk *w, int32_t tier, int32_t in, int32_t dims, int32_t rest)
{
    if (tier == w->f->n_tiers)
        return dims == 0 && rest == 0;
    int64_t *ways = &w->ways[(((int64_t)tier * (DIMS + 1) + in) * (DIMS + 1) + dims) * w->n + rest];
    if (*ways < 0)
        *ways = sum_ways(w, tier, in, dims, rest);
    return *ways;
}

static int begin(struct walk *w, const struct factor *f, struct err *e)
{
    *w = (struct walk){ .f = f };
    int rc = list_divisors(w, e);
    if (!rc)
        rc = list_parts(w, e);
    if (rc)
        return rc;
    int64_t n = (int64_t)f->n_tiers * (DIMS + 1) * (DIMS + 1) * w->n;
    w->ways = malloc(((size_t)n + 1) * sizeof *w->ways);
    if (!w->ways)
        return err_nomem(e, "divisors");
    for (int64_t i = 0; i < n; i++)
        w->ways[i] = -1;
    return 0;
}

static void end(struct walk *w)
{
    free(w->divisors);
    free(w->parts);
    free(w->first);
    free(w->ways);
    text_free(&w->text);
}

int factor_count(int64_t *n, const struct factor *f, struct err *e)
{
    struct walk w;
    int rc = begin(&w, f, e);
    *n = 0;
    for (int32_t dims = f->from; dims <= f->to && !rc; dims++) {
        *n += count(&w, 0, 0, dims, w.n - 1);
        *n = *n < MANY ? *n : MANY;
    }
    end(&w);
    return rc;
}

/* ---- networks ---- */

static void put_words(struct text *out, const struct text *words)
{
    if (words->n)
        text_printf(out, ", %s", text_str(words));
}

static void cut(struct text *t, size_t n)
{
    t->n = n;
    if (t->s)
        t->s[n] = '\0';
}

static void put_networks(struct walk *w, int32_t tier, int32_t in, int32_t dims, int32_t rest);

/* Every way to go on with this dimension as the next. */
static void write_dim(struct walk *w, int32_t tier, int32_t in, int32_t dims, enum topo_shape shape,
                      const struct part *part)
{
    const struct factor_tier *t = &w->f->tiers[tier];
    size_t length = w->text.n;
    text_puts(&w->text, length ? ", {" : "{");
    /* Several dimensions of a tier are told apart by a number, also where there is but one. */
    if (t->name[0] && t->to > 1)
        text_printf(&w->text, "name: %s%d, ", t->name, (int)in + 1);
    else if (t->name[0])
        text_printf(&w->text, "name: %s, ", t->name);
    text_printf(&w->text, "shape: %s, size: %lld", topo_shape_name(shape), (long long)part->size);
    put_words(&w->text, &t->words);
    if (topo_shapes[shape]->reduces)
        put_words(&w->text, &t->switch_words);
    text_puts(&w->text, "}");
    put_networks(w, tier, in + 1, dims - 1, part->rest);
    cut(&w->text, length);
}

static void write_network(struct walk *w)
{
    struct text *out = &w->out->text;
    text_puts(out, "{dims: [");
    text_add(out, text_str(&w->text), w->text.n);
    text_puts(out, "]");
    put_words(out, &w->f->words);
    text_add(out, "}", 2);
    w->out->n++;
}

/* Ways that end nowhere are not begun, so the time is that of what is written. */
static void put_networks(struct walk *w, int32_t tier, int32_t in, int32_t dims, int32_t rest)
{
    if (count(w, tier, in, dims, rest) == 0)
        return;
    if (dims == 0) {
        write_network(w);
        return;
    }
    const struct factor_tier *t = &w->f->tiers[tier];
    for (int32_t s = 0; s < t->n_shapes && in < t->to; s++)
        for (int32_t i = w->first[rest]; i < w->first[rest + 1]; i++) {
            const struct part *part = &w->parts[i];
            if (has_size(t, part->size) && has_ports(t->shapes[s], part->size, t->radix) &&
                count(w, tier, in + 1, dims - 1, part->rest))
                write_dim(w, tier, in, dims, t->shapes[s], part);
        }
    if (may_leave(w, tier, in, rest))
        put_networks(w, tier + 1, 0, dims, rest);
}

int factor_write(struct sweep_column *out, const struct factor *f, struct err *e)
{
    struct walk w;
    int rc = begin(&w, f, e);
    w.out = out;
    for (int32_t dims = f->from; dims <= f->to && !rc; dims++)
        put_networks(&w, 0, 0, dims, w.n - 1);
    out->generated = true;
    end(&w);
    if (!rc)
        rc = text_check(&w.text, e);
    return rc ? rc : text_check(&out->text, e);
}

void factor_free(struct factor *f)
{
    for (int32_t i = 0; i < f->n_tiers; i++) {
        text_free(&f->tiers[i].words);
        text_free(&f->tiers[i].switch_words);
    }
    text_free(&f->words);
    *f = (struct factor){ 0 };
}
