#include "workloads/curve.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "workloads/curve_csv.h"
#include "workloads/nccl.h"

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

struct curve *curve_add(struct curve_list *list, struct err *e)
{
    if (list->n >= CURVE_MAX_CURVES) {
        err_set(e, ERR_RANGE, "has more than %d curves, need less", CURVE_MAX_CURVES);
        return NULL;
    }
    struct curve *grown = array_grow(list->curves, list->n, &list->cap, sizeof *grown);
    if (!grown) {
        err_nomem(e, "curves");
        return NULL;
    }
    list->curves = grown;
    list->curves[list->n] = (struct curve){ .nodes = -1 };
    return &list->curves[list->n++];
}

/* Three arrays of one length; those that have grown stay so when another cannot. */
static bool reserve(struct curve *c)
{
    double **arrays[] = { &c->bytes, &c->time_s, &c->blur };
    if (c->n < c->cap)
        return true;
    int32_t cap = c->cap ? 2 * c->cap : 32;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        double *grown = realloc(*arrays[i], (size_t)cap * sizeof *grown);
        if (!grown)
            return false;
        *arrays[i] = grown;
    }
    c->cap = cap;
    return true;
}

int curve_add_point(struct curve *c, double bytes, double time_s, double blur, struct err *e)
{
    if (c->n >= CURVE_MAX_POINTS)
        return err_set(e, ERR_RANGE, "curve has more than %d points, need less", CURVE_MAX_POINTS);
    if (!reserve(c))
        return err_nomem(e, "a curve");
    c->bytes[c->n] = bytes;
    c->time_s[c->n] = time_s;
    c->blur[c->n++] = blur;
    return 0;
}

void curve_list_compact(struct curve_list *list)
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

/* The first line that is neither empty nor a comment names a column "bytes". */
static bool is_csv(const char *text)
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
static int check_text(const char *name, const char *text, size_t n, struct err *e)
{
    const char *nul = n ? memchr(text, '\0', n) : NULL;
    long long line = 1;
    if (n == 0)
        return err_set(e, ERR_PARSE, "%s:1: file is empty, need rows of measurements", name);
    if (!nul)
        return 0;
    for (const char *s = text; s < nul; s++)
        line += *s == '\n';
    return err_set(e, ERR_PARSE, "%s:%lld: has a NUL byte, need text", name, line);
}

static int read_terminated(struct curve_list *list, const char *name, const char *text,
                           struct curve_defaults dflt, struct err *e)
{
    int rc = is_csv(text) ? curve_csv_read(list, name, text, dflt, e) : nccl_read(list, name, text, dflt, e);
    curve_list_compact(list);
    if (!rc)
        rc = text_check(&list->notes, e);
    if (!rc && list->n == 0)
        rc = err_set(e, ERR_PARSE,
                     "%s:1: has no row of measurements, need output of nccl-tests or CSV with bytes", name);
    if (rc)
        curve_list_free(list);
    return rc;
}

int curve_read_text(struct curve_list *list, const char *name, const char *text, size_t n,
                    struct curve_defaults dflt, struct err *e)
{
    struct text copy = { 0 };
    *list = (struct curve_list){ 0 };
    int rc = check_text(name, text, n, e);
    if (rc)
        return rc;
    text_add(&copy, text, n);
    rc = text_check(&copy, e);
    if (!rc)
        rc = read_terminated(list, name, text_str(&copy), dflt, e);
    text_free(&copy);
    return rc;
}

int curve_read_file(struct curve_list *list, const char *path, struct curve_defaults dflt,
                    unsigned long long *hash, struct err *e)
{
    struct text file = { 0 };
    *list = (struct curve_list){ 0 };
    int rc = text_read_file(&file, path, FILE_MAX_BYTES, e);
    if (!rc)
        rc = check_text(path, text_str(&file), file.n, e);
    if (!rc && hash)
        *hash = text_hash(TEXT_HASH_SEED, file.s, file.n);
    if (!rc)
        rc = read_terminated(list, path, text_str(&file), dflt, e);
    text_free(&file);
    return rc;
}
