#include "workloads/curve_csv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

enum { MAX_COLUMNS = 64 };

enum column { BYTES, TIME, BUSBW, COLLECTIVE, GPUS, RANKS, NODES, CURVE, SOURCE, N_COLUMNS };

static const char *const column_names[N_COLUMNS] = {
    "bytes", "time_us", "busbw_GBps", "collective", "gpus", "ranks", "nodes", "curve", "source",
};

struct csv {
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

static int fail(const struct csv *c, enum err_code code, const char *column, const char *what)
{
    return err_set(c->e, code, "%s:%lld: %s%s%s", c->name, (long long)c->line, column, *column ? " " : "",
                   what);
}

static int split_row(struct csv *c)
{
    char *s = c->row;
    c->n_fields = 0;
    for (;;) {
        if (c->n_fields == MAX_COLUMNS)
            return fail(c, ERR_RANGE, "", "has more than 64 fields, need at most 64");
        c->fields[c->n_fields++] = s;
        char *end = s + strcspn(s, ",");
        if (*s == '"' && !(end = text_unquote(s)))
            return fail(c, ERR_PARSE, "", "quote is not closed, need the closing one in the same line");
        if (*end != ',' && *end != '\0')
            return fail(c, ERR_PARSE, "", "text after a closing quote, need a comma or the end of the line");
        bool more = *end == ',';
        *end = '\0';
        if (!more)
            return 0;
        s = end + 1;
    }
}

static int read_names(struct csv *c)
{
    for (int32_t k = 0; k < N_COLUMNS; k++) {
        c->at[k] = -1;
        for (int32_t i = c->n_fields; i-- > 0;)
            if (strcmp(c->fields[i], column_names[k]) == 0)
                c->at[k] = i;
    }
    c->n_names = c->n_fields;
    if (c->at[TIME] < 0 && c->at[BUSBW] < 0)
        return fail(c, ERR_PARSE, "", "has neither column time_us nor busbw_GBps, need one of them");
    return 0;
}

static const char *field(const struct csv *c, enum column k)
{
    return c->at[k] >= 0 ? c->fields[c->at[k]] : "";
}

/* A number >= 0 in column @p k; NaN when blank. */
static int read_number(double *out, const struct csv *c, enum column k)
{
    const char *s = field(c, k);
    *out = NAN;
    if (*s == '\0')
        return 0;
    if (!num_parse_real(s, out) || *out < 0)
        return err_set(c->e, ERR_PARSE, "%s:%lld: %s is \"%.40s\", need a number of at least 0", c->name,
                       (long long)c->line, column_names[k], s);
    return 0;
}

/* A whole number of at least @p least in column @p k; @p out stays when blank. */
static int read_count(int32_t *out, const struct csv *c, enum column k, int32_t least)
{
    const char *s = field(c, k);
    int64_t n;
    if (*s == '\0')
        return 0;
    if (!num_parse_count(s, &n) || n < least || n > CURVE_MAX_RANKS)
        return err_set(c->e, ERR_PARSE, "%s:%lld: %s is \"%.40s\", need a whole number from %d to %d",
                       c->name, (long long)c->line, column_names[k], s, (int)least, CURVE_MAX_RANKS);
    *out = (int32_t)n;
    return 0;
}

/* "SOURCE, allreduce in-place": the collective as written is part of the name where it says more than which
 * it is. */
static void name_curve(struct curve *head, const struct csv *c)
{
    const char *name = *field(c, CURVE) ? field(c, CURVE) : field(c, SOURCE), *word = field(c, COLLECTIVE);
    bool more = strchr(word, ' ') != NULL;
    snprintf(head->name, sizeof head->name, "%s%s%s", name, more && *name ? ", " : "", more ? word : "");
}

/* What the row says about its curve, or the defaults. */
static int read_head(struct curve *head, const struct csv *c)
{
    const char *word = field(c, COLLECTIVE);
    int32_t kind = *word ? curve_parse_collective(word) : -1;
    if (kind < 0 && *word)
        return err_set(c->e, ERR_UNSUP, "%s:%lld: collective is \"%.40s\", need one that weft has", c->name,
                       (long long)c->line, word);
    if (kind >= 0 && c->dflt.collective >= 0 && kind != c->dflt.collective)
        return err_set(c->e, ERR_RANGE, "%s:%lld: collective is %s, but --collective is %s", c->name,
                       (long long)c->line, collective_names[kind], collective_names[c->dflt.collective]);
    kind = kind >= 0 ? kind : c->dflt.collective >= 0 ? c->dflt.collective : curve_parse_collective(c->name);
    if (kind < 0)
        return fail(c, ERR_PARSE, "collective", "is not said, need column collective or --collective");
    *head = (struct curve){ .collective = (enum collective_kind)kind, .nodes = -1 };
    int rc = read_count(&head->ranks, c, *field(c, GPUS) ? GPUS : RANKS, 2);
    if (!rc)
        rc = read_count(&head->nodes, c, NODES, 1);
    if (rc)
        return rc;
    if (head->ranks && c->dflt.ranks && head->ranks != c->dflt.ranks)
        return err_set(c->e, ERR_RANGE, "%s:%lld: has %d ranks, but --ranks is %d", c->name,
                       (long long)c->line, (int)head->ranks, (int)c->dflt.ranks);
    head->ranks = head->ranks ? head->ranks : c->dflt.ranks;
    if (head->ranks < 2)
        return fail(c, ERR_PARSE, "number of ranks", "is not said, need column gpus or --ranks");
    name_curve(head, c);
    return 0;
}

/* The curve that the row belongs to, among those so far or a new one. */
static struct curve *find_curve(struct csv *c, const struct curve *head)
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

static int leave_out(struct csv *c, const char *why)
{
    text_printf(&c->list->notes, "%s:%lld: %s, row is left out\n", c->name, (long long)c->line, why);
    return 0;
}

static int read_row(struct csv *c)
{
    double bytes, time_us, busbw_GBps;
    struct curve head;
    int rc = read_number(&bytes, c, BYTES);
    if (!rc)
        rc = read_number(&time_us, c, TIME);
    if (!rc)
        rc = read_number(&busbw_GBps, c, BUSBW);
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
    if ((rc = read_head(&head, c)))
        return rc;
    struct curve *curve = find_curve(c, &head);
    if (!curve)
        return err_wrap(c->e, "%s:%lld", c->name, (long long)c->line);
    if (curve->n > 0 && bytes <= curve->bytes[curve->n - 1])
        return err_set(c->e, ERR_PARSE, "%s:%lld: bytes is %.12g after %.12g, need growing sizes", c->name,
                       (long long)c->line, bytes, curve->bytes[curve->n - 1]);
    double time_s = timed ? time_us * 1e-6
                          : bytes * curve_bus_factor(curve->collective, curve->ranks) / (busbw_GBps * 1e9);
    if (!isnormal(time_s))
        return fail(c, ERR_RANGE, "time", "is beyond all measure, need a sound one");
    double blur = curve_half_digit(field(c, timed ? TIME : BUSBW)) / value;
    rc = curve_add_point(curve, bytes, time_s, blur, c->e);
    return rc ? err_wrap(c->e, "%s:%lld", c->name, (long long)c->line) : 0;
}

static int take_line(struct csv *c, const char *line, size_t n)
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
        return read_names(c);
    if (c->n_fields != c->n_names)
        return err_set(c->e, ERR_PARSE, "%s:%lld: has %d field%s, need %d", c->name, (long long)c->line,
                       (int)c->n_fields, c->n_fields == 1 ? "" : "s", (int)c->n_names);
    return read_row(c);
}

int curve_csv_read(struct curve_list *list, const char *name, const char *text, struct curve_defaults dflt,
                   struct err *e)
{
    struct csv c = { .list = list, .name = name, .dflt = dflt, .e = e };
    int rc = 0;
    while (!rc && *text) {
        size_t n = strcspn(text, "\n");
        c.line++;
        rc = take_line(&c, text, n > 0 && text[n - 1] == '\r' ? n - 1 : n);
        text += n + (text[n] != '\0');
    }
    free(c.row);
    return rc;
}
