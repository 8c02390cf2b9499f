#include "workloads/astra.h"

#include <stdlib.h>

#include "workloads/astra_row.h"
#include "workloads/group.h"

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

struct policy {
    const char *name;
    enum span exchange; /* of forward and input gradient */
    enum span weights;  /* of the weight gradient */
    unsigned flags;
};

static const struct policy policies[] = {
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

struct reader {
    struct token_reader in;
    const struct topo_network *net;
    struct step_tree *tree;
    const struct policy *policy;
    int32_t group_of[N_SPANS]; /* -1 = not in the tree yet */
    int32_t model[TOPO_MAX_DIMS];
    struct astra_marks marks;
    struct layers layers;
};

static int take_policy(struct reader *r, const struct policy **out, struct err *e)
{
    char shown[TOKEN_SHOWN];
    token_advance(&r->in);
    for (int i = 0; i < N_POLICIES; i++)
        if (token_is(&r->in.token, policies[i].name)) {
            *out = &policies[i];
            return 0;
        }
    return token_fail(&r->in, &r->in.token, e, ERR_PARSE, "unknown policy %s",
                      token_show(shown, &r->in.token));
}

static int read_model_group(struct reader *r, struct err *e)
{
    int64_t size;
    int rc;
    if ((rc = token_take_label(&r->in, "model_parallel_NPU_group", e)) ||
        (rc = token_take_count(&r->in, "model_parallel_NPU_group", &size, e)))
        return rc;
    if (group_fill(r->model, r->tree->groups[0].members, r->net->n_dims, size, e))
        return err_wrap(e, "%s:%d:%d: model_parallel_NPU_group", r->in.name, r->in.token.line,
                        r->in.token.col);
    return 0;
}

static int read_list(struct reader *r, const char *label, enum astra_mark mark, struct err *e)
{
    int rc = token_take_label(&r->in, label, e);
    return rc ? rc : astra_take_marks(&r->marks, &r->in, label, mark, e);
}

static int read_policy_line(struct reader *r, struct err *e)
{
    int64_t ignored;
    int rc = take_policy(r, &r->policy, e);
    if (!rc && (r->policy->flags & NEEDS_GROUP))
        rc = read_model_group(r, e);
    if (!rc && (r->policy->flags & HAS_CHECKPOINTS))
        rc = read_list(r, "checkpoints", ASTRA_CHECKPOINT, e);
    if (!rc && (r->policy->flags & HAS_CHECKPOINTS))
        rc = read_list(r, "checkpoint_initiates", ASTRA_INITIATES, e);
    if (!rc && (r->policy->flags & NEEDS_BOTTOM))
        rc = token_take_count(&r->in, "last bottom layer", &ignored, e);
    return rc;
}

/* Index of the span's group in the tree, made when first asked for. */
static int32_t find_group(struct reader *r, enum span span)
{
    const int32_t *all = r->tree->groups[0].members;
    int32_t part[TOPO_MAX_DIMS], rest[TOPO_MAX_DIMS];
    if (r->group_of[span] >= 0)
        return r->group_of[span];
    bool by_dim = span == SPAN_INNER || span == SPAN_OUTER;
    for (int32_t d = 0; d < r->net->n_dims; d++)
        part[d] = !by_dim ? r->model[d] : d == 0 ? all[d] : 1;
    group_rest(rest, all, part, r->net->n_dims);
    bool first = span == SPAN_INNER || span == SPAN_MODEL;
    r->group_of[span] = first ? step_add_group(r->tree, span_names[span], part)
                              : step_add_group_after(r->tree, span_names[span], rest, part);
    return r->group_of[span];
}

/* NPUs of the collective in @p phase of layer @p i; SPAN_NONE when it is not run. */
static enum span span_of(const struct reader *r, const struct policy *p, enum step_phase phase, int64_t i)
{
    if (phase == STEP_INPUT_GRAD && i == 0 && (r->policy->flags & FIRST_QUIET))
        return SPAN_NONE;
    if (i == 0 && (r->policy->flags & FIRST_ALL))
        return SPAN_ALL;
    return phase == STEP_WEIGHT_GRAD ? p->weights : p->exchange;
}

static int add_column(struct reader *r, const struct policy *p, enum step_phase phase, int64_t i,
                      const struct astra_column *c, struct err *e)
{
    if ((r->policy->flags & FORWARD_ONLY) && phase != STEP_FORWARD)
        return 0;
    if (!(r->policy->flags & NO_COMPUTE))
        r->layers.layers[r->layers.n_layers - 1].phases[phase].compute_s = (double)c->compute_ns / 1e9;
    enum span span = span_of(r, p, phase, i);
    if (c->kind == ASTRA_NOTHING || c->bytes == 0 || span == SPAN_NONE)
        return 0;
    struct step_node collective = { .kind = STEP_COLLECTIVE,
                                    .collective = (enum collective_kind)c->kind,
                                    .bytes = (double)c->bytes,
                                    .group = find_group(r, span),
                                    .times = 1 };
    return layers_add_collective(&r->layers, phase, collective, e);
}

static int take_layer_policy(struct reader *r, const struct policy **p, struct err *e)
{
    int rc = take_policy(r, p, e);
    if (!rc && ((*p)->flags & (PER_LAYER | NEEDS_GROUP)))
        return token_fail(&r->in, &r->in.token, e, ERR_RANGE,
                          "is %s, which has no groups for one layer, need another policy", (*p)->name);
    return rc;
}

static int read_layer(struct reader *r, int64_t i, int64_t n_layers, struct err *e)
{
    struct astra_column columns[LAYERS_PHASES];
    const struct policy *p = r->policy;
    int rc = astra_take_row(columns, &r->layers, &r->in, ASTRA_SIM, i, n_layers, e);
    if (!rc && (r->policy->flags & PER_LAYER))
        rc = take_layer_policy(r, &p, e);
    for (int k = 0; k < LAYERS_PHASES && !rc; k++)
        rc = add_column(r, p, (enum step_phase)k, i, &columns[k], e);
    return rc;
}

static int read_all(struct reader *r, struct err *e)
{
    int64_t n_layers;
    int rc;
    char shown[TOKEN_SHOWN];
    if ((rc = read_policy_line(r, e)) || (rc = token_take_count(&r->in, "number of layers", &n_layers, e)))
        return rc;
    if (n_layers < 1)
        return token_fail(&r->in, &r->in.token, e, ERR_RANGE, "number of layers: is 0, need at least 1");
    for (int64_t i = 0; i < n_layers; i++)
        if ((rc = read_layer(r, i, n_layers, e)))
            return rc;
    token_advance(&r->in);
    if (r->in.token.n > 0)
        return token_fail(&r->in, &r->in.token, e, ERR_PARSE,
                          "expected end of file after layer %lld, found %s", (long long)n_layers,
                          token_show(shown, &r->in.token));
    return 0;
}

int astra_read(struct step_tree *t, const char *name, const char *text, size_t n,
               const struct topo_network *net, struct astra_rule rule, struct err *e)
{
    struct reader r = { .net = net, .tree = t };
    int rc;
    step_begin(t, name, net);
    if ((rc = step_check(t, e)))
        goto out;
    for (int span = 0; span < N_SPANS; span++)
        r.group_of[span] = span == SPAN_ALL ? 0 : -1;
    if (n > ASTRA_MAX_BYTES) {
        rc = err_set(e, ERR_PARSE, "%s: is %zu bytes, need at most %d", name, n, ASTRA_MAX_BYTES);
        goto out;
    }
    token_begin(&r.in, name, text, n);
    if ((rc = read_all(&r, e)) || (rc = astra_set_recompute(&r.layers, &r.marks, &r.in, rule.recompute, e)))
        goto out;
    layers_build_step(t, &r.layers, rule.loop < 0 ? LAYERS_NO_OVERLAP : rule.loop);
    rc = step_check(t, e);
out:
    free(r.marks.listed);
    layers_free(&r.layers);
    if (rc)
        step_free(t);
    return rc;
}
