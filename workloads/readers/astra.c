/*
 * ASTRA-sim 1.0 text workloads: a parallelism policy, a count of layers, then twelve columns a layer
 * (compute, collective and bytes of the forward pass, input gradient and weight gradient). Words are cut with
 * their places, for messages; rows of layers are shared with SimAI's variant (simai.c).
 */
#include "workloads/readers/astra.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "base/num.h"
#include "base/text.h"
#include "workloads/step.h"

/* Tokens go into messages, so what cannot be printed is masked and long ones are cut. */
const char *token_show(char out[TOKEN_SHOWN], const struct token *t)
{
    if (t->n == 0)
        return strcpy(out, "end of file");
    size_t used = 0;
    out[used++] = '"';
    for (size_t i = 0; i < t->n && used < TOKEN_SHOWN - 2; i++)
        out[used++] = isprint((unsigned char)t->s[i]) ? t->s[i] : '?';
    out[used++] = '"';
    out[used] = '\0';
    return out;
}

const char *token_copy(char *out, size_t size, const struct token *t)
{
    size_t n = t->n < size ? t->n : size - 1;
    for (size_t k = 0; k < n; k++)
        out[k] = iscntrl((unsigned char)t->s[k]) ? '?' : t->s[k];
    out[n] = '\0';
    return out;
}

int token_fail(const struct token_reader *r, const struct token *t, struct err *e, enum err_code code,
               const char *fmt, ...)
{
    char message[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    return err_set(e, code, "%s:%d:%d: %s", r->name, t->line, t->col, message);
}

static bool token_is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Read the word at pos into r->next. */
static void scan(struct token_reader *r)
{
    int32_t line = r->line, col = r->col;
    while (r->pos < r->n && token_is_blank(r->text[r->pos])) {
        bool ends_line = r->text[r->pos++] == '\n';
        r->line += ends_line;
        r->col = ends_line ? 1 : r->col + 1;
    }
    bool at_end = r->pos == r->n;
    r->next = (struct token){ r->text + r->pos, 0, at_end ? line : r->line, at_end ? col : r->col };
    while (r->pos < r->n && !token_is_blank(r->text[r->pos])) {
        r->pos++;
        r->col++;
        r->next.n++;
    }
}

void token_begin(struct token_reader *r, const char *name, const char *text, size_t n)
{
    *r = (struct token_reader){ .name = name, .text = text, .n = n, .line = 1, .col = 1 };
    scan(r);
}

void token_advance(struct token_reader *r)
{
    r->token = r->next;
    scan(r);
}

bool token_is(const struct token *t, const char *word)
{
    return t->n == strlen(word) && memcmp(t->s, word, t->n) == 0;
}

int token_count_line(const struct token_reader *r)
{
    struct token_reader ahead = *r;
    int n = 0;
    while (ahead.next.n > 0 && ahead.next.line == r->next.line) {
        token_advance(&ahead);
        n++;
    }
    return n;
}

/* A whole number at this place; the message names what was looked for. */
int token_take_count(struct token_reader *r, const char *what, int64_t *out, struct err *e)
{
    char digits[24], shown[TOKEN_SHOWN];
    token_advance(r);
    size_t n = r->token.n;
    if (n > 0 && n < sizeof digits && !memchr(r->token.s, '\0', n)) {
        memcpy(digits, r->token.s, n);
        digits[n] = '\0';
        if (num_parse_count(digits, out))
            return 0;
    }
    return token_fail(r, &r->token, e, ERR_PARSE, "%s: is %s, expected a whole number", what,
                      token_show(shown, &r->token));
}

/* Take the word label; its colon may be missing. 0 or ERR_PARSE. */
static int token_take_label(struct token_reader *r, const char *label, struct err *e)
{
    char shown[TOKEN_SHOWN];
    token_advance(r);
    struct token word = r->token;
    if (word.n == strlen(label) + 1 && word.s[word.n - 1] == ':')
        word.n--;
    if (!token_is(&word, label))
        return token_fail(r, &r->token, e, ERR_PARSE, "is %s, expected %s:", token_show(shown, &r->token),
                          label);
    return 0;
}

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

/* The collective of a column. ALLREDUCEALLTOALL stands for two at once, whose sizes the format does not tell
 * apart. */
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
                "is ALLREDUCEALLTOALL, expected ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL or NONE");
        return 0;
    }
    token_fail(r, &r->token, e, ERR_PARSE, "unknown collective %s", token_show(shown, &r->token));
    return err_suggest(e, text_nearest(token_copy(whole, sizeof whole, &base), names, (size_t)n_words));
}

static int astra_take_name(struct layers *l, struct token_reader *r, int64_t i, int64_t n_layers,
                           struct err *e)
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

/* Twelve columns: name, reserved, three times (compute, collective, bytes), update time. The update time is
 * read and not used, as in ASTRA-sim's own loops. */
int astra_take_row(struct astra_column columns[LAYERS_PHASES], struct layers *l, struct token_reader *r,
                   enum astra_dialect dialect, int64_t i, int64_t n_layers, struct err *e)
{
    static const char *const times[] = { "forward time", "input-gradient time", "weight-gradient time" };
    static const char *const sizes[] = { "forward bytes", "input-gradient bytes", "weight-gradient bytes" };
    int64_t update_ns;
    int rc = astra_take_name(l, r, i, n_layers, e);
    if (rc || (rc = take_reserved(r, e)))
        return rc;
    for (int k = 0; k < LAYERS_PHASES; k++)
        if ((rc = token_take_count(r, times[k], &columns[k].compute_ns, e)) ||
            (rc = take_word(&columns[k], r, dialect, e)) ||
            (rc = token_take_count(r, sizes[k], &columns[k].bytes, e)))
            return rc;
    return token_take_count(r, "update time", &update_ns, e);
}

/* Lists of layers with their places, which are checked once the number of layers is known. */
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
        if (!vec_reserve(m->listed, m->cap, m->n + 1))
            return err_nomem(e, "checkpoints");
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

/* From a layer that initiates back to its checkpoint, forward work is done again. */
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
            rc = token_fail(r, &entry->at, e, ERR_RANGE, "layer is %lld, expected 0 to %d",
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

/* A rule of the study overrides the file's checkpoints. */
static int astra_set_recompute(struct layers *l, const struct astra_marks *m, const struct token_reader *r,
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

int astra_open(struct astra_text *x, struct step_tree *t, const char *name, const char *text, size_t n,
               const struct topo_network *net, struct err *e)
{
    *x = (struct astra_text){ .net = net, .tree = t };
    step_begin(t, name, net);
    int rc = step_check(t, e);
    if (!rc && n > ASTRA_MAX_BYTES)
        rc = err_set(e, ERR_PARSE, "%s: is %zu bytes, expected at most %d", name, n, ASTRA_MAX_BYTES);
    if (!rc)
        token_begin(&x->in, name, text, n);
    return rc;
}

/* The announced number of layers, then the end of the file: anything else is a broken file. */
int astra_take_layers(struct astra_text *x, enum astra_dialect dialect, astra_read_row *row, void *reader,
                      int32_t recompute, struct err *e)
{
    struct token_reader *in = &x->in;
    char shown[TOKEN_SHOWN];
    int64_t n_layers;
    int rc = token_take_count(in, "number of layers", &n_layers, e);
    if (rc)
        return rc;
    if (n_layers < 1)
        return token_fail(in, &in->token, e, ERR_RANGE, "number of layers: is 0, expected at least 1");
    if (dialect == ASTRA_SIMAI && in->next.line == in->token.line && in->next.n > 0)
        return token_fail(in, &in->next, e, ERR_PARSE, "is %s, expected the number of layers alone",
                          token_show(shown, &in->next));
    for (int64_t i = 0; i < n_layers; i++)
        if ((rc = row(reader, i, n_layers, e)))
            return rc;
    if (in->next.n > 0)
        return token_fail(in, &in->next, e, ERR_PARSE, "expected end of file after layer %lld, found %s",
                          (long long)n_layers, token_show(shown, &in->next));
    return astra_set_recompute(&x->layers, &x->marks, in, recompute, e);
}

int astra_close(struct astra_text *x, int rc, struct err *e)
{
    if (!rc)
        rc = step_check(x->tree, e);
    free(x->marks.listed);
    layers_free(&x->layers);
    if (rc)
        step_free(x->tree);
    return rc;
}

/* Which NPUs a collective runs over. */
enum span { SPAN_NONE, SPAN_ALL, SPAN_INNER, SPAN_OUTER, SPAN_MODEL, SPAN_DATA, N_SPANS };

static const char *const span_names[N_SPANS] = { "", "all", "inner", "outer", "model", "data" };

enum policy_flag {
    NO_COMPUTE = 1 << 0,      /* MICRO runs its collectives alone */
    FORWARD_ONLY = 1 << 1,    /* inference has no backward pass */
    FIRST_QUIET = 1 << 2,     /* nobody waits for the input gradient of layer 0 */
    FIRST_ALL = 1 << 3,       /* DLRM: layer 0 is the embedding, spread over all NPUs */
    NEEDS_GROUP = 1 << 4,     /* model_parallel_NPU_group: G */
    HAS_CHECKPOINTS = 1 << 5, /* checkpoints and checkpoint_initiates */
    NEEDS_BOTTOM = 1 << 6,    /* number of the last bottom layer */
    PER_LAYER = 1 << 7,       /* every layer names its policy in a 13th column */
};

struct astra_policy {
    const char *name;
    enum span exchange; /* of forward and input gradient */
    enum span weights;  /* of the weight gradient */
    unsigned flags;
};

static const struct astra_policy policies[] = {
    { "DATA", SPAN_NONE, SPAN_ALL, 0 },
    { "MICRO", SPAN_NONE, SPAN_ALL, NO_COMPUTE },
    { "MODEL", SPAN_ALL, SPAN_NONE, FIRST_QUIET },
    { "DISTRIBUTED_INFERENCE", SPAN_ALL, SPAN_NONE, FORWARD_ONLY },
    { "HYBRID_DATA_MODEL", SPAN_INNER, SPAN_OUTER, FIRST_QUIET },
    { "HYBRID_MODEL_DATA", SPAN_OUTER, SPAN_INNER, FIRST_QUIET },
    { "HYBRID_TRANSFORMER", SPAN_MODEL, SPAN_DATA, NEEDS_GROUP },
    { "HYBRID_TRANSFORMER_FWD_IN_BCKWD", SPAN_MODEL, SPAN_DATA, NEEDS_GROUP | HAS_CHECKPOINTS },
    { "HYBRID_DLRM", SPAN_NONE, SPAN_ALL, FIRST_ALL | NEEDS_BOTTOM },
    { "HYBRID_DLRM_ENHANCED", SPAN_NONE, SPAN_ALL, FIRST_ALL | NEEDS_BOTTOM },
    { "HYBRID_CUSTOMIZED", SPAN_NONE, SPAN_NONE, FIRST_QUIET | PER_LAYER },
};

enum { N_POLICIES = sizeof policies / sizeof policies[0] };

struct astra_reader {
    struct astra_text text;
    const struct astra_policy *policy;
    int32_t group_of[N_SPANS]; /* -1 = not in the tree yet */
    int32_t model[TOPO_MAX_DIMS];
};

/* The first word of the file; it decides which groups collectives use. */
static int take_policy(struct astra_reader *r, const struct astra_policy **out, struct err *e)
{
    char shown[TOKEN_SHOWN];
    token_advance(&r->text.in);
    for (int i = 0; i < N_POLICIES; i++)
        if (token_is(&r->text.in.token, policies[i].name)) {
            *out = &policies[i];
            return 0;
        }
    return token_fail(&r->text.in, &r->text.in.token, e, ERR_PARSE, "unknown policy %s",
                      token_show(shown, &r->text.in.token));
}

/* The model-parallel group fills dimensions from the inside, as everywhere in weft. */
static int read_model_group(struct astra_reader *r, struct err *e)
{
    int64_t size;
    int rc;
    if ((rc = token_take_label(&r->text.in, "model_parallel_NPU_group", e)) ||
        (rc = token_take_count(&r->text.in, "model_parallel_NPU_group", &size, e)))
        return rc;
    if (group_fill(r->model, r->text.tree->groups[0].members, r->text.net->n_dims, size, e))
        return err_wrap(e, "%s:%d:%d: model_parallel_NPU_group", r->text.in.name, r->text.in.token.line,
                        r->text.in.token.col);
    return 0;
}

static int token_read_list(struct astra_reader *r, const char *label, enum astra_mark mark, struct err *e)
{
    int rc = token_take_label(&r->text.in, label, e);
    return rc ? rc : astra_take_marks(&r->text.marks, &r->text.in, label, mark, e);
}

/* Which lists follow depends on the policy. */
static int read_policy_line(struct astra_reader *r, struct err *e)
{
    int64_t ignored;
    int rc = take_policy(r, &r->policy, e);
    if (!rc && (r->policy->flags & NEEDS_GROUP))
        rc = read_model_group(r, e);
    if (!rc && (r->policy->flags & HAS_CHECKPOINTS))
        rc = token_read_list(r, "checkpoints", ASTRA_CHECKPOINT, e);
    if (!rc && (r->policy->flags & HAS_CHECKPOINTS))
        rc = token_read_list(r, "checkpoint_initiates", ASTRA_INITIATES, e);
    if (!rc && (r->policy->flags & NEEDS_BOTTOM))
        rc = token_take_count(&r->text.in, "last bottom layer", &ignored, e);
    return rc;
}

/* Index of the span's group in the tree, made when first asked for. */
static int32_t astra_find_group(struct astra_reader *r, enum span span)
{
    const int32_t *all = r->text.tree->groups[0].members;
    int32_t part[TOPO_MAX_DIMS], rest[TOPO_MAX_DIMS];
    if (r->group_of[span] >= 0)
        return r->group_of[span];
    bool by_dim = span == SPAN_INNER || span == SPAN_OUTER;
    for (int32_t d = 0; d < r->text.net->n_dims; d++)
        part[d] = !by_dim ? r->model[d] : d == 0 ? all[d] : 1;
    group_rest(rest, all, part, r->text.net->n_dims);
    bool first = span == SPAN_INNER || span == SPAN_MODEL;
    r->group_of[span] = first ? step_add_group(r->text.tree, span_names[span], part)
                              : step_add_group_after(r->text.tree, span_names[span], rest, part);
    return r->group_of[span];
}

/* NPUs of the collective in @p phase of layer @p i; SPAN_NONE when it is not run. */
static enum span span_of(const struct astra_reader *r, const struct astra_policy *p, enum step_phase phase,
                         int64_t i)
{
    if (phase == STEP_INPUT_GRAD && i == 0 && (r->policy->flags & FIRST_QUIET))
        return SPAN_NONE;
    if (i == 0 && (r->policy->flags & FIRST_ALL))
        return SPAN_ALL;
    return phase == STEP_WEIGHT_GRAD ? p->weights : p->exchange;
}

/* A policy may leave out phases, compute or the collective of a phase. */
static int astra_add_column(struct astra_reader *r, const struct astra_policy *p, enum step_phase phase,
                            int64_t i, const struct astra_column *c, struct err *e)
{
    if ((r->policy->flags & FORWARD_ONLY) && phase != STEP_FORWARD)
        return 0;
    if (!(r->policy->flags & NO_COMPUTE))
        r->text.layers.layers[r->text.layers.n_layers - 1].phases[phase].compute_s =
            (double)c->compute_ns / 1e9;
    enum span span = span_of(r, p, phase, i);
    if (c->kind == ASTRA_NOTHING || c->bytes == 0 || span == SPAN_NONE)
        return 0;
    struct step_node collective = { .kind = STEP_COLLECTIVE,
                                    .collective = (enum collective_kind)c->kind,
                                    .bytes = (double)c->bytes,
                                    .group = astra_find_group(r, span),
                                    .times = 1 };
    return layers_add_collective(&r->text.layers, phase, collective, e);
}

static int take_layer_policy(struct astra_reader *r, const struct astra_policy **p, struct err *e)
{
    int rc = take_policy(r, p, e);
    if (!rc && ((*p)->flags & (PER_LAYER | NEEDS_GROUP)))
        return token_fail(&r->text.in, &r->text.in.token, e, ERR_RANGE,
                          "is %s, which has no groups for one layer; choose another policy", (*p)->name);
    return rc;
}

static int astra_read_layer(void *reader, int64_t i, int64_t n_layers, struct err *e)
{
    struct astra_reader *r = reader;
    struct astra_column columns[LAYERS_PHASES];
    const struct astra_policy *p = r->policy;
    int rc = astra_take_row(columns, &r->text.layers, &r->text.in, ASTRA_SIM, i, n_layers, e);
    if (!rc && (r->policy->flags & PER_LAYER))
        rc = take_layer_policy(r, &p, e);
    for (int k = 0; k < LAYERS_PHASES && !rc; k++)
        rc = astra_add_column(r, p, (enum step_phase)k, i, &columns[k], e);
    return rc;
}

/* The loop over layers is that of the study, by default without overlap. */
int astra_read(struct step_tree *t, const char *name, const char *text, size_t n,
               const struct topo_network *net, struct astra_rule rule, struct err *e)
{
    struct astra_reader r = { .policy = NULL };
    for (int span = 0; span < N_SPANS; span++)
        r.group_of[span] = span == SPAN_ALL ? 0 : -1;
    int rc = astra_open(&r.text, t, name, text, n, net, e);
    if (!rc)
        rc = read_policy_line(&r, e);
    if (!rc)
        rc = astra_take_layers(&r.text, ASTRA_SIM, astra_read_layer, &r, rule.recompute, e);
    if (!rc)
        layers_build_step(t, &r.text.layers, rule.loop < 0 ? LAYERS_NO_OVERLAP : rule.loop);
    return astra_close(&r.text, rc, e);
}
