#include "workloads/nccl.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

enum {
    MAX_FIELDS = 64, /* of a line; rows have at most 24 */
    MAX_WORD = 32,   /* bytes of a field that matters */
};

/* Where the numbers of a row are. */
struct layout {
    int32_t lead; /* fields before the first time */
    int32_t half; /* fields of a half: time, algbw, busbw, ... */
};

struct log {
    struct curve_list *list;
    const char *name;
    struct curve_defaults dflt;
    int64_t line;
    char words[MAX_FIELDS][MAX_WORD]; /* of the line; longer ones cut */
    int32_t n_words;
    struct layout layout;    /* by the last header; lead 0 = none yet */
    double unit_s;           /* of times: us, or ms in 2018 */
    int32_t ranks;           /* lines "#  Rank" of the test under way */
    bool counting;           /* the last test's ranks are still being listed */
    int32_t collective;      /* by "Collective test starting"; -1 none, -2 one that is not modelled */
    bool fresh;              /* the next row begins a curve */
    bool warned;             /* of this curve, that algbw is not size over time */
    char kind[2 * MAX_WORD]; /* type and redop of the curve under way */
    struct err *e;
};

static void note(struct log *l, const char *what)
{
    text_printf(&l->list->notes, "%s:%lld: %s\n", l->name, (long long)l->line, what);
}

/* Words of the line without the '#' signs before it; returns whether there were any. */
static bool split_line(struct log *l, const char *s, size_t n)
{
    const char *end = s + n;
    bool comment = false;
    while (s < end && (isspace((unsigned char)*s) || *s == '#')) {
        comment |= *s == '#';
        s++;
    }
    for (l->n_words = 0; s < end && l->n_words < MAX_FIELDS;) {
        size_t k = 0;
        for (; s < end && !isspace((unsigned char)*s); s++)
            if (k + 1 < MAX_WORD)
                l->words[l->n_words][k++] = *s;
        l->words[l->n_words++][k] = '\0';
        while (s < end && isspace((unsigned char)*s))
            s++;
    }
    return comment;
}

static bool is_word(const struct log *l, int32_t i, const char *word)
{
    return i < l->n_words && strcmp(l->words[i], word) == 0;
}

static bool is_time(const struct log *l, int32_t i)
{
    return is_word(l, i, "time") || is_word(l, i, "cputime");
}

/* ---- lines that are not rows ---- */

static void start_test(struct log *l)
{
    l->collective = curve_parse_collective(l->words[3]);
    l->fresh = true;
    if (l->collective < 0) {
        l->collective = -2;
        text_printf(&l->list->notes, "%s:%lld: test %s is not modelled and left out\n", l->name,
                    (long long)l->line, l->words[3]);
    }
}

static void read_header(struct log *l)
{
    int32_t first = 0, second;
    while (first < l->n_words && !is_time(l, first))
        first++;
    for (second = first + 1; second < l->n_words && !is_time(l, second);)
        second++;
    l->layout = (struct layout){ first, second - first };
    l->unit_s = is_word(l, 0, "bytes") && is_word(l, 1, "N") ? 1e-3 : 1e-6;
    l->fresh = true;
    l->counting = false;
}

static void read_comment(struct log *l)
{
    int64_t n;
    if (is_word(l, 0, "Collective") && is_word(l, 1, "test") && is_word(l, 2, "starting:") &&
        l->n_words > 3) {
        start_test(l);
    } else if (is_word(l, 0, "Rank") && l->n_words > 1 && num_parse_count(l->words[1], &n)) {
        l->ranks = l->counting ? l->ranks + 1 : 1;
        l->counting = true;
    } else if (l->n_words >= 6) {
        bool has_size = is_word(l, 0, "size") || (is_word(l, 0, "bytes") && is_word(l, 1, "N"));
        for (int32_t i = 0; has_size && i + 1 < l->n_words; i++)
            if (is_time(l, i) && i >= 3 && is_word(l, i + 1, "algbw")) {
                read_header(l);
                return;
            }
    }
}

/* ---- rows ---- */

/* Size, count, type: digits, digits, a letter first. */
static bool is_row(const struct log *l)
{
    int64_t n;
    return l->n_words >= 3 && num_parse_count(l->words[0], &n) && num_parse_count(l->words[1], &n) &&
           isalpha((unsigned char)l->words[2][0]);
}

/* Without the date and time of day at the end. */
static int32_t count_fields(const struct log *l)
{
    int32_t n = l->n_words;
    double x;
    while (n > 3 && !num_parse_real(l->words[n - 1], &x) && strcmp(l->words[n - 1], "N/A") != 0 &&
           strpbrk(l->words[n - 1], ":-/T"))
        n--;
    return n;
}

/* Where the first half is in a row of @p n fields; false when no version has such rows. */
static bool find_layout(struct layout *out, const struct log *l, int32_t n)
{
    static const struct {
        int32_t n;
        struct layout layout;
    } known[] = {
        { 13, { 5, 4 } }, { 12, { 4, 4 } }, { 11, { 3, 4 } }, { 9, { 5, 4 } },
        { 15, { 5, 5 } }, { 10, { 5, 5 } }, { 21, { 5, 8 } },
    };
    *out = l->layout;
    if (out->lead > 0)
        return n == out->lead + 2 * out->half || n == out->lead + out->half;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].n == n) {
            *out = known[i].layout;
            return true;
        }
    return false;
}

/* A test of a curve: its collective and ranks, from what is known. */
static int describe(struct log *l, struct curve *c)
{
    int32_t kind = l->collective >= 0 ? l->collective : l->dflt.collective;
    if (l->collective >= 0 && l->dflt.collective >= 0 && l->collective != l->dflt.collective)
        return err_set(l->e, ERR_RANGE, "%s:%lld: test is %s, but --collective is %s", l->name,
                       (long long)l->line, collective_names[l->collective],
                       collective_names[l->dflt.collective]);
    kind = kind >= 0 ? kind : curve_parse_collective(l->name);
    if (kind < 0)
        return err_set(l->e, ERR_PARSE, "%s:%lld: collective is not said, need --collective", l->name,
                       (long long)l->line);
    if (l->ranks && l->dflt.ranks && l->ranks != l->dflt.ranks)
        return err_set(l->e, ERR_RANGE, "%s:%lld: has %d ranks, but --ranks is %d", l->name,
                       (long long)l->line, (int)l->ranks, (int)l->dflt.ranks);
    c->collective = (enum collective_kind)kind;
    c->ranks = l->ranks ? l->ranks : l->dflt.ranks;
    if (c->ranks < 2)
        return err_set(l->e, ERR_PARSE, "%s:%lld: number of ranks is %d, need --ranks", l->name,
                       (long long)l->line, (int)c->ranks);
    c->first_line = l->line;
    return 0;
}

/* The curve of the row: a new one after a header, and for another type or operation. */
static int find_curve(struct curve **out, struct log *l, const struct layout *at)
{
    char kind[sizeof l->kind];
    snprintf(kind, sizeof kind, "%s%s%s", l->words[2], at->lead > 3 ? " " : "",
             at->lead > 3 ? l->words[3] : "");
    if (!l->fresh && strcmp(kind, l->kind) == 0) {
        *out = &l->list->curves[l->list->n - 1];
        return 0;
    }
    *out = curve_add(l->list, l->e);
    if (!*out)
        return err_wrap(l->e, "%s:%lld", l->name, (long long)l->line);
    memcpy(l->kind, kind, sizeof kind);
    l->fresh = l->warned = l->counting = false;
    return describe(l, *out);
}

/* time, algbw and busbw of the first half. */
static int read_numbers(double out[3], const struct log *l, const struct layout *at)
{
    static const char *const names[] = { "time", "algbw", "busbw" };
    for (int32_t k = 0; k < 3; k++) {
        const char *word = l->words[at->lead + k];
        if (!num_parse_real(word, &out[k]) || out[k] < 0)
            return err_set(l->e, ERR_PARSE, "%s:%lld: %s is \"%s\", need a number of at least 0", l->name,
                           (long long)l->line, names[k], word);
    }
    return 0;
}

/* Bus bandwidth is algbw times a factor that depends on the collective and on ranks: so it tells whether they
 * are right. Both are printed rounded. */
static int check_bandwidths(struct log *l, const struct curve *c, const double x[3], const struct layout *at,
                            double bytes)
{
    double factor = curve_bus_factor(c->collective, c->ranks);
    double half_alg = curve_half_digit(l->words[at->lead + 1]),
           half_bus = curve_half_digit(l->words[at->lead + 2]);
    double slack = 1.01 * (factor * half_alg + half_bus);
    if (!(fabs(x[2] - factor * x[1]) <= slack))
        return err_set(l->e, ERR_RANGE,
                       "%s:%lld: busbw is %g, need %.6g: algbw %g times %.6g of %s among %d ranks", l->name,
                       (long long)l->line, x[2], factor * x[1], x[1], factor, collective_names[c->collective],
                       (int)c->ranks);
    double algbw_GBps = bytes / (x[0] * l->unit_s) / 1e9;
    double rounding = 1.01 * (half_alg + algbw_GBps * curve_half_digit(l->words[at->lead]) / x[0]);
    if (!l->warned && !(fabs(algbw_GBps - x[1]) <= rounding)) {
        l->warned = true;
        text_printf(&l->list->notes, "%s:%lld: algbw is %g, but size over time is %.6g; the time is taken\n",
                    l->name, (long long)l->line, x[1], algbw_GBps);
    }
    return 0;
}

static int read_row(struct log *l)
{
    struct layout at;
    struct curve *c;
    double x[3], bytes = 0;
    if (l->collective == -2)
        return 0;
    int32_t n = count_fields(l);
    if (!find_layout(&at, l, n)) {
        text_printf(&l->list->notes,
                    "%s:%lld: row has %d fields, which no version prints here; it is left out\n", l->name,
                    (long long)l->line, (int)n);
        return 0;
    }
    int rc = read_numbers(x, l, &at);
    if (rc)
        return rc;
    num_parse_real(l->words[0], &bytes);
    if (!(bytes > 0) || !(x[0] > 0)) {
        note(l, bytes > 0 ? "time is 0, row is left out" : "size is 0, row is left out");
        return 0;
    }
    /* Where half is 5 a bandwidth of copies stands between; versions before 2.13 have a relative error here.
     */
    int64_t wrong;
    if (at.half != 5 && num_parse_count(l->words[at.lead + 3], &wrong) && wrong > 0)
        note(l, "results are wrong; the time is taken all the same");
    if ((rc = find_curve(&c, l, &at)) || (rc = check_bandwidths(l, c, x, &at, bytes)))
        return rc;
    if (c->n > 0 && bytes <= c->bytes[c->n - 1])
        return err_set(l->e, ERR_PARSE, "%s:%lld: size is %.12g after %.12g, need growing sizes", l->name,
                       (long long)l->line, bytes, c->bytes[c->n - 1]);
    rc = curve_add_point(c, bytes, x[0] * l->unit_s, curve_half_digit(l->words[at.lead]) / x[0], l->e);
    return rc ? err_wrap(l->e, "%s:%lld", l->name, (long long)l->line) : 0;
}

/* "[1,0]<stdout>:" of mpirun --tag-output. */
static const char *skip_tag(const char *s, size_t *n)
{
    static const char tag[] = "<stdout>:";
    for (size_t i = 1; *n > 0 && *s == '[' && i + sizeof tag - 1 <= *n && i < 40; i++)
        if (memcmp(s + i, tag, sizeof tag - 1) == 0) {
            *n -= i + sizeof tag - 1;
            return s + i + sizeof tag - 1;
        }
    return s;
}

int nccl_read(struct curve_list *list, const char *name, const char *text, struct curve_defaults dflt,
              struct err *e)
{
    struct log l = {
        .list = list, .name = name, .dflt = dflt, .unit_s = 1e-6, .collective = -1, .fresh = true, .e = e
    };
    int rc = 0;
    while (!rc && *text) {
        size_t n = strcspn(text, "\n"), length = n;
        const char *line = skip_tag(text, &length);
        l.line++;
        if (split_line(&l, line, length))
            read_comment(&l);
        else if (is_row(&l))
            rc = read_row(&l);
        text += n + (text[n] != '\0');
    }
    return rc;
}
