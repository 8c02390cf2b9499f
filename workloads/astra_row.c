#include "workloads/astra_row.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

struct word {
    const char *name;
    int kind; /* enum collective_kind, ASTRA_NOTHING, or TWO_AT_ONCE */
};

enum { TWO_AT_ONCE = -2 };

/* The last one is SimAI's only. */
static const struct word words[] = {
    { "NONE", ASTRA_NOTHING },
    { "ALLREDUCE", COLLECTIVE_ALL_REDUCE },
    { "ALLGATHER", COLLECTIVE_ALL_GATHER },
    { "REDUCESCATTER", COLLECTIVE_REDUCE_SCATTER },
    { "ALLTOALL", COLLECTIVE_ALL_TO_ALL },
    { "ALLREDUCEALLTOALL", TWO_AT_ONCE },
    { "BROADCAST", COLLECTIVE_BROADCAST },
};

enum { N_WORDS = sizeof words / sizeof words[0], N_ASTRA_WORDS = N_WORDS - 1 };

/* The part of the collective's mark before the suffix, which starts at the first '_'. */
static struct token split_suffix(struct token mark, enum astra_dialect dialect, struct token *suffix)
{
    const char *at = dialect == ASTRA_SIMAI ? memchr(mark.s, '_', mark.n) : NULL;
    *suffix = mark;
    suffix->n = 0;
    if (at) {
        size_t n = (size_t)(at - mark.s);
        *suffix = (struct token){ at, mark.n - n, mark.line, mark.col + (int32_t)n };
        mark.n = n;
    }
    return mark;
}

static int take_word(struct astra_column *c, struct token_reader *r, enum astra_dialect dialect,
                     struct err *e)
{
    char shown[TOKEN_SHOWN], whole[TOKEN_SHOWN];
    const char *names[N_WORDS];
    int n_words = dialect == ASTRA_SIMAI ? N_WORDS : N_ASTRA_WORDS;
    token_advance(r);
    struct token base = split_suffix(r->token, dialect, &c->suffix);
    for (int i = 0; i < n_words; i++) {
        names[i] = words[i].name;
        c->kind = words[i].kind;
        if (!token_is(&base, words[i].name))
            continue;
        if (c->kind == TWO_AT_ONCE)
            return token_fail(
                r, &r->token, e, ERR_UNSUP,
                "is ALLREDUCEALLTOALL, need ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL or NONE");
        return 0;
    }
    const char *near = text_nearest(token_copy(whole, sizeof whole, &base), names, (size_t)n_words);
    return token_fail(r, &r->token, e, ERR_PARSE, "unknown collective %s%s%s", token_show(shown, &r->token),
                      near ? ", nearest is " : "", near ? near : "");
}

static int take_name(struct layers *l, struct token_reader *r, int64_t i, int64_t n_layers, struct err *e)
{
    char name[TOPO_NAME];
    token_advance(r);
    if (r->token.n == 0)
        return token_fail(r, &r->token, e, ERR_PARSE, "expected layer %lld of %lld, found end of file",
                          (long long)i + 1, (long long)n_layers);
    return layers_add(l, token_copy(name, sizeof name, &r->token), e) ? 0 : e->code;
}

/* The dependency column: -1 in every known file, read by nobody. */
static int take_reserved(struct token_reader *r, struct err *e)
{
    int64_t ignored;
    if (token_is(&r->next, "-1")) {
        token_advance(r);
        return 0;
    }
    return token_take_count(r, "reserved column", &ignored, e);
}

int astra_take_row(struct astra_column columns[LAYERS_PHASES], struct layers *l, struct token_reader *r,
                   enum astra_dialect dialect, int64_t i, int64_t n_layers, struct err *e)
{
    static const char *const times[] = { "forward time", "input-gradient time", "weight-gradient time" };
    static const char *const sizes[] = { "forward bytes", "input-gradient bytes", "weight-gradient bytes" };
    int64_t update_ns;
    int rc = take_name(l, r, i, n_layers, e);
    if (rc || (rc = take_reserved(r, e)))
        return rc;
    for (int k = 0; k < LAYERS_PHASES; k++)
        if ((rc = token_take_count(r, times[k], &columns[k].compute_ns, e)) ||
            (rc = take_word(&columns[k], r, dialect, e)) ||
            (rc = token_take_count(r, sizes[k], &columns[k].bytes, e)))
            return rc;
    return token_take_count(r, "update time", &update_ns, e);
}

int astra_take_marks(struct astra_marks *m, struct token_reader *r, const char *label, enum astra_mark mark,
                     struct err *e)
{
    int64_t n;
    int rc = token_take_count(r, label, &n, e);
    if (rc)
        return rc;
    for (; n > 0; n--) {
        struct astra_listed entry = { .mark = mark };
        if ((rc = token_take_count(r, label, &entry.layer, e)))
            return rc;
        entry.at = r->token;
        struct astra_listed *grown = array_grow(m->listed, m->n, &m->cap, sizeof *grown);
        if (!grown)
            return err_nomem(e, "checkpoints");
        m->listed = grown;
        m->listed[m->n++] = entry;
    }
    return 0;
}

/* Walk down from initiating layer i to its checkpoint; layers from there up to i run again. */
static int set_range(struct layers *l, const char *name, const unsigned char *marks, int32_t i, struct err *e)
{
    int32_t c = i - 1;
    while (c >= 0 && marks[c] == 0)
        c--;
    if (c < 0 || !(marks[c] & ASTRA_CHECKPOINT) || (marks[i] & ASTRA_CHECKPOINT))
        return err_set(e, ERR_RANGE,
                       "%s: checkpoint_initiates: layer %d has no checkpoint of its own below it", name, i);
    l->layers[i].again_begin = c;
    l->layers[i].again_end = i;
    return 0;
}

static int set_checkpoints(struct layers *l, const struct astra_marks *m, const struct token_reader *r,
                           struct err *e)
{
    int32_t n = l->n_layers;
    int rc = 0;
    unsigned char *marks = calloc((size_t)n, 1);
    if (!marks)
        return err_nomem(e, "checkpoints");
    for (int32_t k = 0; k < m->n && !rc; k++) {
        const struct astra_listed *entry = &m->listed[k];
        if (entry->layer >= n)
            rc = token_fail(r, &entry->at, e, ERR_RANGE, "layer is %lld, need 0 to %d",
                            (long long)entry->layer, n - 1);
        else
            marks[entry->layer] |= (unsigned char)entry->mark;
    }
    for (int32_t i = 0; i < n && !rc; i++)
        if (marks[i] & ASTRA_INITIATES)
            rc = set_range(l, r->name, marks, i, e);
    free(marks);
    return rc;
}

int astra_set_recompute(struct layers *l, const struct astra_marks *m, const struct token_reader *r,
                        int32_t recompute, struct err *e)
{
    if (recompute < 0) {
        l->recompute = LAYERS_RECOMPUTE_FORWARD;
        return set_checkpoints(l, m, r, e);
    }
    l->recompute = (enum layers_recompute)recompute;
    for (int32_t i = 0; i < l->n_layers && recompute != LAYERS_RECOMPUTE_NONE; i++) {
        l->layers[i].again_begin = i;
        l->layers[i].again_end = i + 1;
    }
    return 0;
}
