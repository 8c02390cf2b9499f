/*
 * Measured times of collectives by size: CSV with named columns, or the log of nccl-tests, told apart by the
 * first line. Points of one curve are ordered by bytes; equal sizes are averaged by the reader that knows
 * what they mean.
 */
#include "workloads/curves/curve.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "base/num.h"

enum { FILE_MAX_BYTES = 64 << 20 };

static void free_arrays(struct curve *c)
{
    free(c->bytes);
    free(c->time_s);
    free(c->blur);
    *c = (struct curve){ 0 };
}

void curve_list_free(struct curve_list *list)
{
    for (int32_t i = 0; i < list->n; i++)
        free_arrays(&list->curves[i]);
    free(list->curves);
    text_free(&list->notes);
    *list = (struct curve_list){ 0 };
}

/* Begin an empty curve at the end. @return it, or NULL with ERR_NOMEM or ERR_RANGE in e. Pointers to
 * other curves of the list are no longer valid. */
static struct curve *curve_add(struct curve_list *list, struct err *e)
{
    if (list->n >= CURVE_MAX_CURVES) {
        err_set(e, ERR_RANGE, "has more than %d curves", CURVE_MAX_CURVES);
        return NULL;
    }
    if (!vec_reserve(list->curves, list->cap, list->n + 1)) {
        err_nomem(e, "curves");
        return NULL;
    }
    list->curves[list->n] = (struct curve){ .nodes = -1 };
    return &list->curves[list->n++];
}

/* Three arrays of one length; those that have grown stay so when another cannot. */
static bool curves_reserve(struct curve *c)
{
    double **arrays[] = { &c->bytes, &c->time_s, &c->blur };
    if (c->n < c->cap)
        return true;
    int32_t cap = c->cap ? 2 * c->cap : 32;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        if (!vec_resize(*arrays[i], cap))
            return false;
    }
    c->cap = cap;
    return true;
}

int curve_add_point(struct curve *c, double bytes, double time_s, double blur, struct err *e)
{
    if (c->n >= CURVE_MAX_POINTS)
        return err_set(e, ERR_RANGE, "curve has more than %d points", CURVE_MAX_POINTS);
    if (!curves_reserve(c))
        return err_nomem(e, "a curve");
    c->bytes[c->n] = bytes;
    c->time_s[c->n] = time_s;
    c->blur[c->n++] = blur;
    return 0;
}

/* Remove curves without points. */
static void curve_list_compact(struct curve_list *list)
{
    int32_t kept = 0;
    for (int32_t i = 0; i < list->n; i++) {
        struct curve c = list->curves[i];
        list->curves[i] = (struct curve){ 0 };
        if (c.n > 0)
            list->curves[kept++] = c;
        else
            free_arrays(&c);
    }
    list->n = kept;
}

/* ---- names ---- */

/* Letters only, small: "All-Reduce_perf" is "allreduceperf". */
static void squeeze(char *out, size_t room, const char *text)
{
    size_t n = 0;
    for (; *text && n + 1 < room; text++)
        if (isalpha((unsigned char)*text))
            out[n++] = (char)tolower((unsigned char)*text);
    out[n] = '\0';
}

/* Names as nccl-tests and people write them ("AllReduce", "all_reduce_perf"). Two words in one text are no
 * answer. */
int32_t curve_parse_collective(const char *text)
{
    static const struct {
        const char *word;
        enum collective_kind kind;
    } words[] = {
        { "allreduce", COLLECTIVE_ALL_REDUCE }, { "reducescatter", COLLECTIVE_REDUCE_SCATTER },
        { "allgather", COLLECTIVE_ALL_GATHER }, { "alltoall", COLLECTIVE_ALL_TO_ALL },
        { "broadcast", COLLECTIVE_BROADCAST },  { "sendrecv", COLLECTIVE_SEND },
    };
    char plain[256];
    int32_t found = -1;
    squeeze(plain, sizeof plain, text);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!strstr(plain, words[i].word))
            continue;
        if (found >= 0)
            return -1;
        found = (int32_t)words[i].kind;
    }
    return found;
}

/* Bus bandwidth over algorithm bandwidth: nccl-tests, doc/PERFORMANCE.md. */
double curve_bus_factor(enum collective_kind kind, int32_t ranks)
{
    double share = (ranks - 1.0) / ranks;
    switch (kind) {
    case COLLECTIVE_ALL_REDUCE:
        return 2 * share;
    case COLLECTIVE_REDUCE_SCATTER:
    case COLLECTIVE_ALL_GATHER:
    case COLLECTIVE_ALL_TO_ALL:
        return share;
    case COLLECTIVE_BROADCAST:
    case COLLECTIVE_SEND:
    case N_COLLECTIVES:
        break;
    }
    return 1;
}

/* How much rounding hides: half of the last digit that is printed. Small times of few digits count less in
 * fits. */
double curve_half_digit(const char *text)
{
    double half = 0.5;
    const char *point = strchr(text, '.'), *power = strpbrk(text, "eE");
    if (point)
        for (const char *s = point + 1; isdigit((unsigned char)*s); s++)
            half /= 10;
    if (power) {
        long ten = strtol(power + 1, NULL, 10);
        for (; ten > 0 && half < 1e300; ten--)
            half *= 10;
        for (; ten < 0 && half > 1e-300; ten++)
            half /= 10;
    }
    return half;
}

/* ---- which kind of file ---- */

/* ---- CSV ---- */

enum { MAX_COLUMNS = 64 };

enum column { BYTES, TIME, BUSBW, COLLECTIVE, GPUS, RANKS, NODES, CURVE, SOURCE, N_COLUMNS };

static const char *const column_names[N_COLUMNS] = {
    "bytes", "time_us", "busbw_GBps", "collective", "gpus", "ranks", "nodes", "curve", "source",
};

struct curve_csv {
    struct curve_list *list;
    const char *name;
    struct curve_defaults dflt;
    int64_t line;
    char *row; /* copy of the line, fields terminated; owned */
    const char *fields[MAX_COLUMNS];
    int32_t n_fields, n_names; /* of the row, of the head; 0 = no head yet */
    int32_t at[N_COLUMNS];     /* field of each column, -1 = none */
    struct err *e;
};

static int curve_fail(const struct curve_csv *c, enum err_code code, const char *column, const char *what)
{
    return err_set(c->e, code, "%s:%lld: %s%s%s", c->name, (long long)c->line, column, *column ? " " : "",
                   what);
}

/* Fields of one line, in place; quotes may hold commas. */
static int split_row(struct curve_csv *c)
{
    char *s = c->row;
    c->n_fields = 0;
    for (;;) {
        if (c->n_fields == MAX_COLUMNS)
            return curve_fail(c, ERR_RANGE, "", "has more than 64 fields, expected at most 64");
        c->fields[c->n_fields++] = s;
        char *end = s + strcspn(s, ",");
        if (*s == '"' && !(end = text_unquote(s)))
            return curve_fail(c, ERR_PARSE, "", "quote is not closed on its line");
        if (*end != ',' && *end != '\0')
            return curve_fail(c, ERR_PARSE, "",
                              "text after a closing quote, expected a comma or the end of the line");
        bool more = *end == ',';
        *end = '\0';
        if (!more)
            return 0;
        s = end + 1;
    }
}

/* Columns by name, in any order; of two with one name the first counts. */
static int curve_read_names(struct curve_csv *c)
{
    for (int32_t k = 0; k < N_COLUMNS; k++) {
        c->at[k] = -1;
        for (int32_t i = c->n_fields; i-- > 0;)
            if (strcmp(c->fields[i], column_names[k]) == 0)
                c->at[k] = i;
    }
    c->n_names = c->n_fields;
    if (c->at[TIME] < 0 && c->at[BUSBW] < 0)
        return curve_fail(c, ERR_PARSE, "", "has neither column time_us nor busbw_GBps; give one of them");
    return 0;
}

static const char *field(const struct curve_csv *c, enum column k)
{
    return c->at[k] >= 0 ? c->fields[c->at[k]] : "";
}

/* A number >= 0 in column @p k; NaN when blank. */
static int curve_read_number(double *out, const struct curve_csv *c, enum column k)
{
    const char *s = field(c, k);
    *out = NAN;
    if (*s == '\0')
        return 0;
    if (!num_parse_real(s, out) || *out < 0)
        return err_set(c->e, ERR_PARSE, "%s:%lld: %s is \"%.40s\", expected a number of at least 0", c->name,
                       (long long)c->line, column_names[k], s);
    return 0;
}

/* A whole number of at least @p least in column @p k; @p out stays when blank. */
static int curve_read_count(int32_t *out, const struct curve_csv *c, enum column k, int32_t least)
{
    const char *s = field(c, k);
    int64_t n;
    if (*s == '\0')
        return 0;
    if (!num_parse_count(s, &n) || n < least || n > CURVE_MAX_RANKS)
        return err_set(c->e, ERR_PARSE, "%s:%lld: %s is \"%.40s\", expected a whole number from %d to %d",
                       c->name, (long long)c->line, column_names[k], s, (int)least, CURVE_MAX_RANKS);
    *out = (int32_t)n;
    return 0;
}

/* "SOURCE, allreduce in-place": the collective as written is part of the name where it says more than which
 * it is. */
static void name_curve(struct curve *head, const struct curve_csv *c)
{
    const char *name = *field(c, CURVE) ? field(c, CURVE) : field(c, SOURCE), *word = field(c, COLLECTIVE);
    bool more = strchr(word, ' ') != NULL;
    snprintf(head->name, sizeof head->name, "%s%s%s", name, more && *name ? ", " : "", more ? word : "");
}

/* What the row says about its curve, or the defaults. */
static int read_curve_head(struct curve *head, const struct curve_csv *c)
{
    const char *word = field(c, COLLECTIVE);
    int32_t kind = *word ? curve_parse_collective(word) : -1;
    if (kind < 0 && *word)
        return err_set(c->e, ERR_UNSUP, "%s:%lld: collective is \"%.40s\", expected one that weft has",
                       c->name, (long long)c->line, word);
    if (kind >= 0 && c->dflt.collective >= 0 && kind != c->dflt.collective)
        return err_set(c->e, ERR_RANGE, "%s:%lld: collective is %s, but --collective is %s", c->name,
                       (long long)c->line, collective_names[kind], collective_names[c->dflt.collective]);
    kind = kind >= 0 ? kind : c->dflt.collective >= 0 ? c->dflt.collective : curve_parse_collective(c->name);
    if (kind < 0)
        return curve_fail(c, ERR_PARSE, "collective", "is not given; use column collective or --collective");
    *head = (struct curve){ .collective = (enum collective_kind)kind, .nodes = -1 };
    int rc = curve_read_count(&head->ranks, c, *field(c, GPUS) ? GPUS : RANKS, 2);
    if (!rc)
        rc = curve_read_count(&head->nodes, c, NODES, 1);
    if (rc)
        return rc;
    if (head->ranks && c->dflt.ranks && head->ranks != c->dflt.ranks)
        return err_set(c->e, ERR_RANGE, "%s:%lld: has %d ranks, but --ranks is %d", c->name,
                       (long long)c->line, (int)head->ranks, (int)c->dflt.ranks);
    head->ranks = head->ranks ? head->ranks : c->dflt.ranks;
    if (head->ranks < 2)
        return curve_fail(c, ERR_PARSE, "number of ranks", "is not given; use column gpus or --ranks");
    name_curve(head, c);
    return 0;
}

/* The curve that the row belongs to, among those so far or a new one. */
static struct curve *curve_csv_find_curve(struct curve_csv *c, const struct curve *head)
{
    for (int32_t i = c->list->n; i-- > 0;) {
        struct curve *known = &c->list->curves[i];
        if (known->collective == head->collective && known->ranks == head->ranks &&
            known->nodes == head->nodes && strcmp(known->name, head->name) == 0)
            return known;
    }
    struct curve *fresh = curve_add(c->list, c->e);
    if (!fresh)
        return NULL;
    *fresh = *head;
    fresh->first_line = c->line;
    return fresh;
}

static int leave_out(struct curve_csv *c, const char *why)
{
    text_printf(&c->list->notes, "%s:%lld: %s, row is left out\n", c->name, (long long)c->line, why);
    return 0;
}

/* A time, or a bus bandwidth from which the time follows. Rows without either are left out and counted. */
static int curve_csv_read_row(struct curve_csv *c)
{
    double bytes, time_us, busbw_GBps;
    struct curve head;
    int rc = curve_read_number(&bytes, c, BYTES);
    if (!rc)
        rc = curve_read_number(&time_us, c, TIME);
    if (!rc)
        rc = curve_read_number(&busbw_GBps, c, BUSBW);
    if (rc)
        return rc;
    if (!(bytes > 0))
        return leave_out(c, isnan(bytes) ? "has no bytes" : "bytes is 0");
    bool timed = !isnan(time_us);
    double value = timed ? time_us : busbw_GBps;
    if (!(value > 0))
        return leave_out(c, isnan(value) ? "has neither time nor bandwidth"
                            : timed      ? "time_us is 0"
                                         : "busbw_GBps is 0");
    if ((rc = read_curve_head(&head, c)))
        return rc;
    struct curve *curve = curve_csv_find_curve(c, &head);
    if (!curve)
        return err_wrap(c->e, "%s:%lld", c->name, (long long)c->line);
    if (curve->n > 0 && bytes <= curve->bytes[curve->n - 1])
        return err_set(c->e, ERR_PARSE, "%s:%lld: bytes is %.12g after %.12g; sizes must grow", c->name,
                       (long long)c->line, bytes, curve->bytes[curve->n - 1]);
    double time_s = timed ? time_us * 1e-6
                          : bytes * curve_bus_factor(curve->collective, curve->ranks) / (busbw_GBps * 1e9);
    if (!isnormal(time_s))
        return curve_fail(c, ERR_RANGE, "time", "is out of any sensible range");
    double blur = curve_half_digit(field(c, timed ? TIME : BUSBW)) / value;
    rc = curve_add_point(curve, bytes, time_s, blur, c->e);
    return rc ? err_wrap(c->e, "%s:%lld", c->name, (long long)c->line) : 0;
}

/* Lines are copied, as fields are cut in place and messages still need the text. */
static int curve_take_line(struct curve_csv *c, const char *line, size_t n)
{
    int rc;
    if (n == 0 || *line == '#')
        return 0;
    free(c->row);
    c->row = strndup(line, n);
    if (!c->row)
        return err_nomem(c->e, c->name);
    if ((rc = split_row(c)))
        return rc;
    if (c->n_names == 0)
        return curve_read_names(c);
    if (c->n_fields != c->n_names)
        return err_set(c->e, ERR_PARSE, "%s:%lld: has %d field%s, expected %d", c->name, (long long)c->line,
                       (int)c->n_fields, c->n_fields == 1 ? "" : "s", (int)c->n_names);
    return curve_csv_read_row(c);
}

/*
 * Append the curves of CSV with a line of column names: `bytes` and `time_us` or `busbw_GBps` (where a row
 * has both, the time is taken); `collective` (curve_parse_collective() of it), `gpus` or `ranks`, `nodes`,
 * and `curve`, else `source`, if they are there. Other columns are ignored. Rows that agree in ranks, nodes
 * and the text of `curve` (or `source`) and `collective` are a curve. RFC 4180 quoting, but no line end
 * within a field; '#' comment lines and empty lines anywhere.
 *
 * Rows without bytes or with a value of zero (a bandwidth printed as 0.00) are left out with a note.
 *
 * @param text  terminated.
 * @return 0, ERR_NOMEM, or ERR_PARSE or ERR_RANGE with `name:line: ...`: no such columns, no number, a
 * negative one, sizes that do not grow, a collective or number of ranks that neither row nor dflt says, or
 * that contradict. O(rows * curves).
 */
static int curve_csv_read(struct curve_list *list, const char *name, const char *text,
                          struct curve_defaults dflt, struct err *e)
{
    struct curve_csv c = { .list = list, .name = name, .dflt = dflt, .e = e };
    int rc = 0;
    size_t n;
    for (const char *line; !rc && (line = text_next(&text, '\n', &n));) {
        c.line++;
        rc = curve_take_line(&c, line, n > 0 && line[n - 1] == '\r' ? n - 1 : n);
    }
    free(c.row);
    return rc;
}

enum {
    MAX_FIELDS = 64, /* of a line; rows have at most 24 */
    MAX_WORD = 32,   /* bytes of a field that matters */
};

/* Where the numbers of a row are. */
struct curve_layout {
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
    struct curve_layout layout; /* by the last header; lead 0 = none yet */
    double unit_s;              /* of times: us, or ms in 2018 */
    int32_t ranks;              /* lines "#  Rank" of the test under way */
    bool counting;              /* the last test's ranks are still being listed */
    int32_t collective;         /* by "Collective test starting"; -1 none, -2 one that is not modelled */
    bool fresh;                 /* the next row begins a curve */
    bool warned;                /* of this curve, that algbw is not size over time */
    char kind[2 * MAX_WORD];    /* type and redop of the curve under way */
    struct err *e;
};

static void curve_note(struct log *l, const char *what)
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

/* Columns differ between versions of nccl-tests; the header says where the two times stand, and whether they
 * are in ms (as in 2018) or us. */
static void curve_read_header(struct log *l)
{
    int32_t first = 0, second;
    while (first < l->n_words && !is_time(l, first))
        first++;
    for (second = first + 1; second < l->n_words && !is_time(l, second);)
        second++;
    l->layout = (struct curve_layout){ first, second - first };
    l->unit_s = is_word(l, 0, "bytes") && is_word(l, 1, "N") ? 1e-3 : 1e-6;
    l->fresh = true;
    l->counting = false;
}

/* Lines that begin with '#': the test's name, one line per rank, and the header of the table. */
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
                curve_read_header(l);
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
static bool find_layout(struct curve_layout *out, const struct log *l, int32_t n)
{
    static const struct {
        int32_t n;
        struct curve_layout layout;
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
static int curve_describe(struct log *l, struct curve *c)
{
    int32_t kind = l->collective >= 0 ? l->collective : l->dflt.collective;
    if (l->collective >= 0 && l->dflt.collective >= 0 && l->collective != l->dflt.collective)
        return err_set(l->e, ERR_RANGE, "%s:%lld: test is %s, but --collective is %s", l->name,
                       (long long)l->line, collective_names[l->collective],
                       collective_names[l->dflt.collective]);
    kind = kind >= 0 ? kind : curve_parse_collective(l->name);
    if (kind < 0)
        return err_set(l->e, ERR_PARSE, "%s:%lld: does not say which collective; use --collective", l->name,
                       (long long)l->line);
    if (l->ranks && l->dflt.ranks && l->ranks != l->dflt.ranks)
        return err_set(l->e, ERR_RANGE, "%s:%lld: lines \"# Rank\" list %d ranks, but --ranks is %d", l->name,
                       (long long)l->line, (int)l->ranks, (int)l->dflt.ranks);
    c->collective = (enum collective_kind)kind;
    c->ranks = l->ranks ? l->ranks : l->dflt.ranks;
    if (c->ranks < 2)
        return err_set(l->e, ERR_PARSE, "%s:%lld: number of ranks is %d; use --ranks", l->name,
                       (long long)l->line, (int)c->ranks);
    c->first_line = l->line;
    return 0;
}

/* The curve of the row: a new one after a header, and for another type or operation. */
static int nccl_find_curve(struct curve **out, struct log *l, const struct curve_layout *at)
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
    return curve_describe(l, *out);
}

/* time, algbw and busbw of the first half. */
static int curve_read_numbers(double out[3], const struct log *l, const struct curve_layout *at)
{
    static const char *const names[] = { "time", "algbw", "busbw" };
    for (int32_t k = 0; k < 3; k++) {
        const char *word = l->words[at->lead + k];
        if (!num_parse_real(word, &out[k]) || out[k] < 0)
            return err_set(l->e, ERR_PARSE, "%s:%lld: %s is \"%s\", expected a number of at least 0", l->name,
                           (long long)l->line, names[k], word);
    }
    return 0;
}

/* Bus bandwidth is algbw times a factor that depends on the collective and on ranks: so it tells whether they
 * are right. Both are printed rounded. */
static int check_busbw(struct log *l, const struct curve *c, const double x[3], const struct curve_layout *at,
                       double bytes)
{
    double factor = curve_bus_factor(c->collective, c->ranks);
    double half_alg = curve_half_digit(l->words[at->lead + 1]),
           half_bus = curve_half_digit(l->words[at->lead + 2]);
    double slack = 1.01 * (factor * half_alg + half_bus);
    if (!(fabs(x[2] - factor * x[1]) <= slack))
        return err_set(l->e, ERR_RANGE,
                       "%s:%lld: busbw is %g, expected %.6g: algbw %g times %.6g of %s among %d ranks; are "
                       "collective and ranks right?",
                       l->name, (long long)l->line, x[2], factor * x[1], x[1], factor,
                       collective_names[c->collective], (int)c->ranks);
    double algbw_GBps = bytes / (x[0] * l->unit_s) / 1e9;
    double rounding = 1.01 * (half_alg + algbw_GBps * curve_half_digit(l->words[at->lead]) / x[0]);
    if (!l->warned && !(fabs(algbw_GBps - x[1]) <= rounding)) {
        l->warned = true;
        text_printf(&l->list->notes, "%s:%lld: algbw is %g, but size over time is %.6g; the time is taken\n",
                    l->name, (long long)l->line, x[1], algbw_GBps);
    }
    return 0;
}

/* Out-of-place results. Wrong results still take their time; a row with an unknown number of fields is left
 * out and noted, not guessed at. */
static int nccl_read_row(struct log *l)
{
    struct curve_layout at;
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
    int rc = curve_read_numbers(x, l, &at);
    if (rc)
        return rc;
    num_parse_real(l->words[0], &bytes);
    if (!(bytes > 0) || !(x[0] > 0)) {
        curve_note(l, bytes > 0 ? "time is 0, row is left out" : "size is 0, row is left out");
        return 0;
    }
    /* Where half is 5 a bandwidth of copies stands between; versions before 2.13 have a relative error here.
     */
    int64_t wrong;
    if (at.half != 5 && num_parse_count(l->words[at.lead + 3], &wrong) && wrong > 0)
        curve_note(l, "results are wrong; the time is taken all the same");
    if ((rc = nccl_find_curve(&c, l, &at)) || (rc = check_busbw(l, c, x, &at, bytes)))
        return rc;
    if (c->n > 0 && bytes <= c->bytes[c->n - 1])
        return err_set(l->e, ERR_PARSE, "%s:%lld: size is %.12g after %.12g; sizes must grow", l->name,
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

/*
 * Append the curves of a log of nccl-tests.
 *
 * A row is: size, count, type, then by version redop and root, then for out-of-place and in-place time,
 * algbw, busbw and #wrong, with columns between and behind them by version and option (copybw, i_min i_max
 * i_p99 i_cv%) and a time of day at the end. The line of column names says which; without one the number of
 * fields does. Out-of-place times are taken, or those in place where a row has only them. Times are in us; in
 * ms below the header "bytes N type op" of 2018. Lines of other origin are skipped, and the prefix
 * "[1,0]<stdout>:" of mpirun.
 *
 * The collective comes from the line "Collective test starting", else dflt, else name; the number of
 * ranks from the lines "#  Rank", else dflt. A new header, test or data type begins a new curve. Tests of
 * what weft does not model (reduce, gather, scatter, hypercube) are left out with a note, as are rows cut
 * short, wrong results, sizes and times of zero.
 *
 * @param text  terminated.
 * @return 0, ERR_NOMEM, or ERR_PARSE or ERR_RANGE with `name:line: ...`: a field that is no number, sizes
 * that do not grow, collective or ranks not known or contradicting dflt, a busbw that is not algbw times
 * the factor of the collective as printed. O(bytes).
 */
static int nccl_read(struct curve_list *list, const char *name, const char *text, struct curve_defaults dflt,
                     struct err *e)
{
    struct log l = {
        .list = list, .name = name, .dflt = dflt, .unit_s = 1e-6, .collective = -1, .fresh = true, .e = e
    };
    int rc = 0;
    size_t length;
    for (const char *line; !rc && (line = text_next(&text, '\n', &length));) {
        line = skip_tag(line, &length);
        l.line++;
        if (split_line(&l, line, length))
            read_comment(&l);
        else if (is_row(&l))
            rc = nccl_read_row(&l);
    }
    return rc;
}

/* ---- either, told by its first line ---- */

/* The first line that is neither empty nor a comment names a column "bytes". */
static bool curve_is_csv(const char *text)
{
    while (*text) {
        size_t n = strcspn(text, "\r\n");
        if (n > 0 && *text != '#') {
            for (const char *s = text; s < text + n;) {
                size_t field = strcspn(s, ",\r\n");
                size_t quote = field >= 2 && s[0] == '"' && s[field - 1] == '"';
                if (field - 2 * quote == 5 && memcmp(s + quote, "bytes", 5) == 0)
                    return true;
                s += field + 1;
            }
            return false;
        }
        text += n + (text[n] != '\0');
    }
    return false;
}

/* A file is text; what follows a NUL would not be seen. */
static int curve_check_text(const char *name, const char *text, size_t n, struct err *e)
{
    const char *nul = n ? memchr(text, '\0', n) : NULL;
    long long line = 1;
    if (n == 0)
        return err_set(e, ERR_PARSE, "%s:1: file is empty, expected rows of measurements", name);
    if (!nul)
        return 0;
    for (const char *s = text; s < nul; s++)
        line += *s == '\n';
    return err_set(e, ERR_PARSE, "%s:%lld: has a NUL byte: not a text file", name, line);
}

/* Told apart by the first line, whatever the file is called. A file without any point is an error. */
static int read_terminated(struct curve_list *list, const char *name, const char *text,
                           struct curve_defaults dflt, struct err *e)
{
    int rc =
        curve_is_csv(text) ? curve_csv_read(list, name, text, dflt, e) : nccl_read(list, name, text, dflt, e);
    curve_list_compact(list);
    if (!rc)
        rc = text_check(&list->notes, e);
    if (!rc && list->n == 0)
        rc = err_set(e, ERR_PARSE,
                     "%s:1: has no row of measurements, expected output of nccl-tests or CSV with bytes",
                     name);
    if (rc)
        curve_list_free(list);
    return rc;
}

/* From memory, for tests and for standard input. */
int curve_read_text(struct curve_list *list, const char *name, const char *text, size_t n,
                    struct curve_defaults dflt, struct err *e)
{
    struct text copy = { 0 };
    *list = (struct curve_list){ 0 };
    int rc = curve_check_text(name, text, n, e);
    if (rc)
        return rc;
    text_add(&copy, text, n);
    rc = text_check(&copy, e);
    if (!rc)
        rc = read_terminated(list, name, text_str(&copy), dflt, e);
    text_free(&copy);
    return rc;
}

/* The hash covers the bytes as they are in the file, and stands in the head of the result. */
int curve_read_file(struct curve_list *list, const char *path, struct curve_defaults dflt,
                    unsigned long long *hash, struct err *e)
{
    struct text file = { 0 };
    *list = (struct curve_list){ 0 };
    int rc = text_read_file(&file, path, FILE_MAX_BYTES, e);
    if (!rc)
        rc = curve_check_text(path, text_str(&file), file.n, e);
    if (!rc && hash)
        *hash = text_hash(TEXT_HASH_SEED, file.s, file.n);
    if (!rc)
        rc = read_terminated(list, path, text_str(&file), dflt, e);
    text_free(&file);
    return rc;
}
