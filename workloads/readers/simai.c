/*
 * SimAI text workloads, as AICB writes them (aliyun/SimAI, aliyun/aicb): ASTRA-sim's rows of layers under a
 * header of keys (tp, pp, ep, ga, ..), with suffixes that say which group a collective uses. With pp stages
 * the step is one microbatch's passes plus a bubble of (pp - 1)/ga of them, without the exchange of weights,
 * and sends between stages. Where SimAI divides the bubble by the chunks of an interleaved pipeline,
 * docs/model.md section 5 says what is done here.
 */
#include "workloads/readers/readers.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "workloads/readers/astra.h"
#include "workloads/step.h"

const char *const simai_ag_size_names[] = { "full", "shard", NULL };

enum simai_group { GROUP_TP, GROUP_EP, GROUP_DP_EP, GROUP_DP, GROUP_PP, N_GROUPS };

static const char *const group_names[N_GROUPS] = { "tp", "ep", "dp_ep", "dp", "pp" };

/* Keys of the header whose value is a whole number. */
enum count { COUNT_TP, COUNT_EP, COUNT_PP, COUNT_VPP, COUNT_GA, COUNT_GPUS, N_COUNTS };

enum { KEY_CHECKPOINTS = N_COUNTS, KEY_INITIATES, KEY_PP_COMM, N_KEYS };

static const struct header_key {
    const char *name;
    int key;
} header_keys[] = {
    { "model_parallel_NPU_group", COUNT_TP },
    { "ep", COUNT_EP },
    { "expert_parallel_npu_group", COUNT_EP },
    { "pp", COUNT_PP },
    { "vpp", COUNT_VPP },
    { "ga", COUNT_GA },
    { "all_gpus", COUNT_GPUS },
    { "checkpoints", KEY_CHECKPOINTS },
    { "checkpoint_initiates", KEY_INITIATES },
    { "pp_comm", KEY_PP_COMM },
};

enum { N_HEADER_KEYS = sizeof header_keys / sizeof header_keys[0] };

struct simai_reader {
    struct astra_text text;
    enum simai_ag_size ag_size;
    int64_t counts[N_COUNTS];
    struct token at[N_KEYS]; /* value of each key; n = 0: not given */
    double pp_comm_B;
    int32_t group[N_GROUPS]; /* in the tree */
    double members[N_GROUPS];
};

/* Policies of ASTRA-sim are named, as the file may only be under the wrong key. */
static int check_policy(struct simai_reader *r, struct err *e)
{
    static const char *const of_astra[] = {
        "DATA",
        "MICRO",
        "MODEL",
        "DISTRIBUTED_INFERENCE",
        "HYBRID_DLRM",
        "HYBRID_DATA_MODEL",
        "HYBRID_DLRM_ENHANCED",
        "HYBRID_MODEL_DATA",
        "HYBRID_CUSTOMIZED",
    };
    char shown[TOKEN_SHOWN];
    token_advance(&r->text.in);
    const struct token *t = &r->text.in.token;
    if (token_is(t, "HYBRID_TRANSFORMER") || token_is(t, "HYBRID_TRANSFORMER_FWD_IN_BCKWD"))
        return 0;
    for (size_t i = 0; i < sizeof of_astra / sizeof of_astra[0]; i++)
        if (token_is(t, of_astra[i]))
            return token_fail(&r->text.in, t, e, ERR_UNSUP,
                              "is %s, expected HYBRID_TRANSFORMER or HYBRID_TRANSFORMER_FWD_IN_BCKWD (other "
                              "policies: astra)",
                              of_astra[i]);
    return token_fail(&r->text.in, t, e, ERR_PARSE, "unknown policy %s", token_show(shown, t));
}

/* Keys in any order, with or without a colon, each once. */
static int simai_take_key(struct simai_reader *r, const struct header_key **out, struct err *e)
{
    char whole[TOKEN_SHOWN], shown[TOKEN_SHOWN];
    const char *names[N_HEADER_KEYS];
    token_advance(&r->text.in);
    struct token word = r->text.in.token;
    if (word.n > 1 && word.s[word.n - 1] == ':')
        word.n--;
    for (int i = 0; i < N_HEADER_KEYS; i++) {
        names[i] = header_keys[i].name;
        if (!token_is(&word, names[i]))
            continue;
        *out = &header_keys[i];
        if (r->at[header_keys[i].key].n > 0)
            return token_fail(&r->text.in, &r->text.in.token, e, ERR_PARSE, "%s is given twice", names[i]);
        return 0;
    }
    token_fail(&r->text.in, &r->text.in.token, e, ERR_PARSE, "unknown key %s",
               token_show(shown, &r->text.in.token));
    return err_suggest(e, text_nearest(token_copy(whole, sizeof whole, &word), names, N_HEADER_KEYS));
}

/* Python prints a quotient of whole numbers as "8388608.0". */
static int simai_take_bytes(struct simai_reader *r, const char *what, double *out, struct err *e)
{
    char digits[64], shown[TOKEN_SHOWN];
    token_advance(&r->text.in);
    const struct token *t = &r->text.in.token;
    if (t->n > 0 && t->n < sizeof digits && num_parse_real(token_copy(digits, sizeof digits, t), out) &&
        *out >= 0 && *out <= BYTES_MAX_B)
        return 0;
    return token_fail(&r->text.in, t, e, ERR_PARSE, "%s: is %s, expected a number of bytes, 0 to %g", what,
                      token_show(shown, t), BYTES_MAX_B);
}

/* All keys stand in the first line, each followed by its value. */
static int simai_read_header(struct simai_reader *r, struct err *e)
{
    const struct header_key *key = NULL;
    int rc = check_policy(r, e);
    int32_t line = r->text.in.token.line;
    while (!rc && r->text.in.next.n > 0 && r->text.in.next.line == line) {
        if ((rc = simai_take_key(r, &key, e)))
            return rc;
        r->at[key->key] = r->text.in.next;
        if (r->text.in.next.line != line)
            return token_fail(&r->text.in, &r->text.in.token, e, ERR_PARSE,
                              "%s has no value, expected one on its line", key->name);
        if (key->key < N_COUNTS)
            rc = token_take_count(&r->text.in, key->name, &r->counts[key->key], e);
        else if (key->key == KEY_PP_COMM)
            rc = simai_take_bytes(r, key->name, &r->pp_comm_B, e);
        else
            rc = astra_take_marks(&r->text.marks, &r->text.in, key->name,
                                  key->key == KEY_CHECKPOINTS ? ASTRA_CHECKPOINT : ASTRA_INITIATES, e);
    }
    return rc;
}

/* What is not given takes its default; products stay below 2^63 since each is at most TOPO_MAX_NPUS. */
static int check_counts(struct simai_reader *r, struct err *e)
{
    static const int64_t dflt[N_COUNTS] = { -1, 1, 1, 1, 1, -1 };
    static const char *const names[N_COUNTS] = {
        "model_parallel_NPU_group", "ep", "pp", "vpp", "ga", "all_gpus",
    };
    if (r->at[COUNT_TP].n == 0)
        return token_fail(&r->text.in, &r->text.in.token, e, ERR_PARSE, "has no model_parallel_NPU_group");
    for (int i = 0; i < N_COUNTS; i++) {
        if (r->at[i].n == 0)
            r->counts[i] = i == COUNT_GPUS ? r->text.net->n_npus : dflt[i];
        else if (r->counts[i] < 1 || r->counts[i] > TOPO_MAX_NPUS)
            return token_fail(&r->text.in, &r->at[i], e, ERR_RANGE, "%s: is %lld, expected 1 to %d", names[i],
                              (long long)r->counts[i], TOPO_MAX_NPUS);
    }
    return 0;
}

/* The header's numbers must make up the network, or strides of groups would be wrong. */
static int check_division(struct simai_reader *r, struct err *e)
{
    const int64_t *n = r->counts;
    int64_t stage = n[COUNT_TP] * n[COUNT_PP];
    const struct token *gpus = r->at[COUNT_GPUS].n ? &r->at[COUNT_GPUS] : &r->at[COUNT_TP];
    if (n[COUNT_GPUS] % stage)
        return token_fail(&r->text.in, gpus, e, ERR_RANGE, "all_gpus %lld is not divisible by tp*pp = %lld",
                          (long long)n[COUNT_GPUS], (long long)stage);
    if (n[COUNT_GPUS] != r->text.net->n_npus)
        return token_fail(&r->text.in, gpus, e, ERR_RANGE,
                          "all_gpus: is %lld, expected %lld, the NPUs of the network",
                          (long long)n[COUNT_GPUS], (long long)r->text.net->n_npus);
    int64_t dp = n[COUNT_GPUS] / stage;
    if (dp % n[COUNT_EP])
        return token_fail(&r->text.in, &r->at[COUNT_EP], e, ERR_RANGE,
                          "ep: is %lld, expected a divisor of dp = all_gpus/(tp*pp) = %lld",
                          (long long)n[COUNT_EP], (long long)dp);
    return 0;
}

/* One group of `size` out of what those before leave; `left` then is what it leaves. */
static int simai_add_group(struct simai_reader *r, enum simai_group g, int64_t size, int32_t *left,
                           const struct token *at, struct err *e)
{
    const int32_t *all = r->text.tree->groups[0].members;
    int32_t n_dims = r->text.net->n_dims, members[TOPO_MAX_DIMS], stride[TOPO_MAX_DIMS];
    group_rest(stride, all, left, n_dims);
    if (group_fill(members, left, n_dims, size, e))
        return err_wrap(e, "%s:%d:%d: %s", r->text.in.name, at->line, at->col, group_names[g]);
    group_rest(left, left, members, n_dims);
    r->members[g] = (double)size;
    r->group[g] = step_add_group_after(r->text.tree, group_names[g], members, stride);
    return step_check(r->text.tree, e);
}

/* tp, ep, dp_ep and pp one after the other; dp is ep and dp_ep together, which lie next to each other. */
static int simai_add_groups(struct simai_reader *r, struct err *e)
{
    const int64_t *n = r->counts;
    int64_t dp = n[COUNT_GPUS] / (n[COUNT_TP] * n[COUNT_PP]);
    int32_t left[TOPO_MAX_DIMS], members[TOPO_MAX_DIMS];
    int rc;
    memcpy(left, r->text.tree->groups[0].members, sizeof left);
    if ((rc = simai_add_group(r, GROUP_TP, n[COUNT_TP], left, &r->at[COUNT_TP], e)) ||
        (rc = simai_add_group(r, GROUP_EP, n[COUNT_EP], left, &r->at[COUNT_EP], e)) ||
        (rc = simai_add_group(r, GROUP_DP_EP, dp / n[COUNT_EP], left, &r->at[COUNT_TP], e)))
        return rc;
    const struct step_group *groups = r->text.tree->groups;
    for (int32_t d = 0; d < TOPO_MAX_DIMS; d++)
        members[d] = groups[r->group[GROUP_EP]].members[d] * groups[r->group[GROUP_DP_EP]].members[d];
    r->members[GROUP_DP] = (double)dp;
    r->group[GROUP_DP] = step_add_group_after(r->text.tree, group_names[GROUP_DP], members,
                                              r->text.tree->groups[r->group[GROUP_EP]].stride);
    return simai_add_group(r, GROUP_PP, n[COUNT_PP], left, &r->at[COUNT_PP], e);
}

/* Without a suffix the phase decides: weight gradients go over dp, all else over tp. */
static int simai_group_of(struct simai_reader *r, enum step_phase phase, const struct token *suffix,
                          enum simai_group *out, struct err *e)
{
    char shown[TOKEN_SHOWN];
    if (suffix->n == 0)
        *out = phase == STEP_WEIGHT_GRAD ? GROUP_DP : GROUP_TP;
    else if (token_is(suffix, "_EP"))
        *out = GROUP_EP;
    else if (token_is(suffix, "_DP_EP"))
        *out = GROUP_DP_EP;
    else
        return token_fail(&r->text.in, suffix, e, ERR_PARSE,
                          "unknown group suffix %s, expected _EP, _DP_EP or none", token_show(shown, suffix));
    return 0;
}

/* An all-gather's bytes are its full result, or (ag_size shard) what each NPU brings in, which is what weft
 * counts. */
static int simai_add_column(struct simai_reader *r, enum step_phase phase, const struct astra_column *c,
                            struct err *e)
{
    enum simai_group g = GROUP_TP;
    r->text.layers.layers[r->text.layers.n_layers - 1].phases[phase].compute_s = (double)c->compute_ns / 1e9;
    int rc = simai_group_of(r, phase, &c->suffix, &g, e);
    if (rc || c->kind == ASTRA_NOTHING || c->bytes == 0)
        return rc;
    struct step_node collective = { .kind = STEP_COLLECTIVE,
                                    .collective = (enum collective_kind)c->kind,
                                    .bytes = (double)c->bytes,
                                    .group = r->group[g],
                                    .times = 1 };
    if (c->kind == COLLECTIVE_ALL_GATHER && r->ag_size == SIMAI_AG_FULL)
        collective.bytes /= r->members[g];
    return layers_add_collective(&r->text.layers, phase, collective, e);
}

/* A row is read as ASTRA-sim's; a wrong number of columns is told as such. */
static int simai_read_layer(void *reader, int64_t i, int64_t n_layers, struct err *e)
{
    struct simai_reader *r = reader;
    struct astra_column columns[LAYERS_PHASES];
    int n = token_count_line(&r->text.in), rc = 0;
    if (n != 0 && n != ASTRA_COLUMNS)
        return token_fail(&r->text.in, &r->text.in.next, e, ERR_PARSE, "%d columns expected, %d found",
                          ASTRA_COLUMNS, n);
    rc = astra_take_row(columns, &r->text.layers, &r->text.in, ASTRA_SIMAI, i, n_layers, e);
    for (int k = 0; k < LAYERS_PHASES && !rc; k++)
        rc = simai_add_column(r, (enum step_phase)k, &columns[k], e);
    return rc;
}

static step_id simai_add_inner(struct step_tree *t, step_id parent, enum step_kind kind, double times,
                               const char *name)
{
    struct step_node node = { .kind = kind, .phase = STEP_OTHER, .times = times };
    step_set_name(node.name, name);
    return step_add(t, parent, node);
}

/* Activations forward and gradients back, once per microbatch. */
static void add_sends(const struct simai_reader *r, step_id parent)
{
    struct step_node send = { .kind = STEP_COLLECTIVE,
                              .phase = STEP_OTHER,
                              .name = "pipeline",
                              .collective = COLLECTIVE_SEND,
                              .bytes = r->pp_comm_B,
                              .group = r->group[GROUP_PP],
                              .times = 2.0 * (double)r->counts[COUNT_GA] };
    if (send.bytes > 0)
        step_add(r->text.tree, parent, send);
}

/* Weights are exchanged once a step, so the bubble repeats all but that. */
static void build_step(struct simai_reader *r, int32_t loop)
{
    step_id step = simai_add_inner(r->text.tree, -1, STEP_SUM, 1, "step");
    layers_add_passes(r->text.tree, step, &r->text.layers, loop);
    if (r->counts[COUNT_PP] == 1)
        return;
    double share = (double)(r->counts[COUNT_PP] - 1) / (double)r->counts[COUNT_GA];
    add_sends(r, step);
    for (int32_t i = 0; i < r->text.layers.n_layers; i++)
        r->text.layers.layers[i].phases[STEP_WEIGHT_GRAD].count = 0;
    step_id repeat = simai_add_inner(r->text.tree, step, STEP_REPEAT, share, "bubble");
    step_id bubble = simai_add_inner(r->text.tree, repeat, STEP_SUM, 1, "bubble");
    layers_add_passes(r->text.tree, bubble, &r->text.layers, loop);
    add_sends(r, bubble);
}

/* The loop is that of the study, by default without overlap. */
int simai_read(struct step_tree *t, const char *name, const char *text, size_t n,
               const struct topo_network *net, struct astra_rule rule, struct err *e)
{
    struct simai_reader r = { .ag_size =
                                  rule.ag_size < 0 ? SIMAI_AG_FULL : (enum simai_ag_size)rule.ag_size };
    int rc = astra_open(&r.text, t, name, text, n, net, e);
    if (!rc && !(rc = simai_read_header(&r, e)) && !(rc = check_counts(&r, e)) &&
        !(rc = check_division(&r, e)) && !(rc = simai_add_groups(&r, e)))
        rc = astra_take_layers(&r.text, ASTRA_SIMAI, simai_read_layer, &r, rule.recompute, e);
    if (!rc)
        build_step(&r, rule.loop < 0 ? LAYERS_NO_OVERLAP : rule.loop);
    return astra_close(&r.text, rc, e);
}
