#include "topo/network.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

const char *const topo_shape_words[] = { "ring", "full", "switch", "line", NULL };

const char *topo_shape_name(enum topo_shape s)
{
    return topo_shape_words[s];
}

double topo_parse_bw(const char *text_GBps)
{
    return num_scaled(text_GBps, 9);
}

/* GB/s with as few digits as read back to this. */
static const char *format_bw(char out[NUM_MOVED], double bw_Bps)
{
    char in_Bps[NUM_TEXT];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(in_Bps, sizeof in_Bps, "%.*e", digits - 1, bw_Bps);
        num_move_point(out, in_Bps, -9);
        if (topo_parse_bw(out) == bw_Bps)
            break;
    }
    /* The same number without an exponent, where that does not lose anything. */
    char plain[NUM_TEXT];
    num_format(plain, strtod(out, NULL));
    if (topo_parse_bw(plain) == bw_Bps)
        strcpy(out, plain);
    return out;
}

const char *topo_format_spec(char buf[TOPO_SPEC], const struct topo_network *net)
{
    size_t used = 0;
    buf[0] = '\0';
    for (int32_t d = 0; d < net->n_dims; d++) {
        const struct topo_dim *dim = &net->dims[d];
        char bw[NUM_MOVED] = "";
        if (!isnan(dim->bw_Bps))
            format_bw(bw, dim->bw_Bps);
        used += (size_t)snprintf(buf + used, TOPO_SPEC - used, "%s%s:%d%s%s", d ? " " : "",
                                 topo_shape_name(dim->shape), dim->size, bw[0] ? "@" : "", bw);
    }
    return buf;
}

/* The shape whose name and a colon @p s starts with, or -1. */
static int shape_prefix(const char *s)
{
    for (int i = 0; topo_shape_words[i]; i++) {
        size_t n = strlen(topo_shape_words[i]);
        if (strncmp(s, topo_shape_words[i], n) == 0 && s[n] == ':')
            return i;
    }
    return -1;
}

bool topo_is_spec(const char *text)
{
    text += strspn(text, " \t");
    size_t letters = 0;
    while (isalpha((unsigned char)text[letters]))
        letters++;
    return letters > 0 && text[letters] == ':' && isdigit((unsigned char)text[letters + 1]);
}

/* One dimension of the word being read: [s, s+n) starts at column col. */
struct piece {
    const char *s;
    size_t n;
    int col;
};

static int fail_at(struct err *e, enum err_code code, const struct piece *p, const char *what)
{
    return err_set(e, code, "col %d: is \"%.*s\", need %s", p->col, p->n < 64 ? (int)p->n : 64, p->s, what);
}

static int parse_size(int32_t *size, const struct piece *p, struct err *e)
{
    char text[NUM_TEXT];
    int64_t n = 0;
    if (p->n < sizeof text) {
        memcpy(text, p->s, p->n);
        text[p->n] = '\0';
    }
    if (p->n >= sizeof text || !num_parse_count(text, &n))
        return fail_at(e, ERR_PARSE, p, "a whole number of members");
    if (n < TOPO_MIN_SIZE || n > TOPO_MAX_SIZE)
        return err_set(e, ERR_RANGE, "col %d: size is %lld, need %d to %d", p->col, (long long)n,
                       TOPO_MIN_SIZE, TOPO_MAX_SIZE);
    *size = (int32_t)n;
    return 0;
}

static int parse_bw(double *bw_Bps, const struct piece *p, struct err *e)
{
    char text[NUM_TEXT];
    double bw_GBps;
    if (p->n < sizeof text) {
        memcpy(text, p->s, p->n);
        text[p->n] = '\0';
    }
    if (p->n >= sizeof text || !num_parse_real(text, &bw_GBps))
        return fail_at(e, ERR_PARSE, p, "a bandwidth in GB/s");
    if (!(bw_GBps >= TOPO_MIN_BW_GBps && bw_GBps <= TOPO_MAX_BW_GBps))
        return err_set(e, ERR_RANGE, "col %d: bandwidth is %s GB/s, need %g to %g", p->col, text,
                       TOPO_MIN_BW_GBps, TOPO_MAX_BW_GBps);
    *bw_Bps = topo_parse_bw(text);
    return 0;
}

/* SHAPE:SIZE[@GBps] without blanks. */
static int parse_dim(struct topo_dim *dim, const struct piece *p, struct err *e)
{
    int shape = shape_prefix(p->s);
    if (shape < 0)
        return fail_at(e, ERR_PARSE, p, "SHAPE:SIZE[@GBps] with SHAPE one of ring, full, switch, line");
    dim->shape = (enum topo_shape)shape;

    size_t skip = strlen(topo_shape_words[shape]) + 1;
    struct piece size = { p->s + skip, p->n - skip, p->col + (int)skip };
    const char *at = memchr(size.s, '@', size.n);
    if (!at)
        return parse_size(&dim->size, &size, e);

    struct piece bw = { at + 1, (size_t)(p->s + p->n - at) - 1, p->col + (int)(at + 1 - p->s) };
    size.n = (size_t)(at - size.s);
    int rc = parse_size(&dim->size, &size, e);
    return rc ? rc : parse_bw(&dim->bw_Bps, &bw, e);
}

static int add_dim(struct topo_network *net, const struct piece *p, struct err *e)
{
    if (net->n_dims == TOPO_MAX_DIMS)
        return err_set(e, ERR_RANGE, "col %d: more than %d dimensions", p->col, TOPO_MAX_DIMS);
    struct topo_dim *dim = &net->dims[net->n_dims];
    topo_dim_defaults(dim, net->n_dims);
    int rc = parse_dim(dim, p, e);
    if (rc)
        return rc;
    net->n_dims++;
    net->n_npus *= dim->size; /* at most 2^30 * 2^24 */
    if (net->n_npus > TOPO_MAX_NPUS)
        return err_set(e, ERR_RANGE, "col %d: size %d makes %lld NPUs, need at most %d", p->col, dim->size,
                       (long long)net->n_npus, TOPO_MAX_NPUS);
    return 0;
}

int topo_parse_spec(struct topo_network *net, const char *word, struct err *e)
{
    topo_network_defaults(net);
    for (const char *s = word;;) {
        s += strspn(s, " \t");
        if (!*s)
            break;
        struct piece p = { s, strcspn(s, " \t"), (int)(s - word) + 1 };
        int rc = add_dim(net, &p, e);
        if (rc)
            return rc;
        s += p.n;
    }
    if (net->n_dims == 0)
        return err_set(e, ERR_PARSE, "col 1: no dimension, need SHAPE:SIZE[@GBps]");
    return 0;
}
