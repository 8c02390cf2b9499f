#include <math.h>
#include <string.h>

#include "workloads/plan.h"
#include "workloads/step_keys.h"

#define P_COUNT(key_name, field, least, most, absent, text)                                                  \
    COUNT_KEY(plan_conf, key_name, p.field, least, most, absent, text)
#define P_BOOL(key_name, field, absent, text)                                                                \
    {                                                                                                        \
        .name = key_name, .help = text, .kind = KEY_BOOL, .offset = offsetof(struct plan_conf, p.field),     \
        .unit = "", .dflt = absent                                                                           \
    }
#define P_WORD(key_name, field, list, absent, text)                                                          \
    {                                                                                                        \
        .name = key_name, .help = text, .kind = KEY_WORD, .offset = offsetof(struct plan_conf, p.field),     \
        .unit = "", .dflt = absent, .words = list                                                            \
    }

struct plan_conf {
    struct plan p;
    int64_t zero;
    yaml_id order;
};

static const struct key plan_keys[] = {
    P_COUNT("tp", degree[PLAN_TP], 1, TOPO_MAX_NPUS, 1, "tensor parallelism: NPUs that share every matrix"),
    P_COUNT("cp", degree[PLAN_CP], 1, TOPO_MAX_NPUS, 1, "context parallelism: NPUs that share a sequence"),
    P_COUNT("dp", degree[PLAN_DP], 1, TOPO_MAX_NPUS, SCHEMA_NONE, "data parallelism; absent: what is left"),
    P_COUNT("pp", degree[PLAN_PP], 1, TOPO_MAX_NPUS, 1, "pipeline parallelism: stages"),
    P_COUNT("ep", ep, 1, TOPO_MAX_NPUS, 1, "expert parallelism, on NPUs of tp, cp and dp"),
    P_BOOL("expert_tp", expert_tp, 0, "true: experts are split over tp too, and ep has none of its NPUs"),
    { .name = "batch",
      .help = "sequences (samples) of one step, over all NPUs",
      .kind = KEY_COUNT,
      .offset = offsetof(struct plan_conf, p.batch),
      .unit = "",
      .scale = 1,
      .min = 1,
      .max = 1e12,
      .dflt = SCHEMA_NONE,
      .required = true },
    P_COUNT("micro_batch", micro, 1, 1e12, 1,
            "sequences of one microbatch; absent: 1, of a DLRM or CNN all of batch / dp"),
    P_WORD("schedule", schedule, plan_schedule_words, PLAN_1F1B, "of the pipeline; absent: 1f1b"),
    P_COUNT("interleave", interleave, 1, 10000, 1, "chunks of layers that a stage has; 1: one"),
    P_COUNT("first_stage_layers", first, 1, MODEL_MAX_LAYERS, 0, "absent: as many as other stages"),
    P_COUNT("last_stage_layers", last, 1, MODEL_MAX_LAYERS, 0, "absent: as many as other stages"),
    P_BOOL("seq_parallel", seq_parallel, 0, "true: norms and residuals are split over tp as well"),
    P_WORD("recompute", recompute, plan_recompute_words, PLAN_RECOMPUTE_NONE,
           "done again in the backward pass: attention scores (selective), all of a layer (full)"),
    COUNT_KEY(plan_conf, "zero", zero, 0, 3, 0,
              "what data parallelism shares out: 1 optimiser, 2 gradients too, 3 parameters too (FSDP)"),
    P_WORD("context", context, plan_context_words, PLAN_CP_RING, "how cp exchanges keys and values"),
    P_WORD("overlap_tp", overlap_tp, plan_overlap_words, PLAN_OVERLAP_BACKWARD,
           "traffic of tp beside computation: none, beside weight gradients, or forward too in 4 pieces"),
    P_BOOL("overlap_dp", overlap_dp, 1, "false: gradients wait for the end of the backward pass"),
    P_BOOL("overlap_pp", overlap_pp, 0, "true: sends of the pipeline show in its fill and drain only"),
    P_BOOL("scatter_gather", scatter_gather, 1, "false: each of a tp group sends a stage's whole output"),
    P_COUNT("sends", sends, 0, 16, 2, "exposed messages of a stage per microbatch, forward and backward"),
    P_COUNT("grad_B", grad_B, 2, 4, 4, "bytes of a gradient, 4 or 2"),
    { .name = "step_overhead_s",
      .help = "of a step, whatever its size (software)",
      .kind = KEY_REAL,
      .offset = offsetof(struct plan_conf, p.overhead_s),
      .unit = "s",
      .scale = 1,
      .min = 0,
      .max = 1e6,
      .dflt = 0 },
    NODE_KEY(plan_conf, "order", order,
             "list of tp, cp, dp and pp, the innermost first; absent: in this order (Megatron)"),
};

SECTION(plan_section, "parallel", "how a model is spread over the NPUs", plan_keys);

static int read_order(struct plan *p, const struct yaml_doc *doc, yaml_id list, struct err *e)
{
    bool seen[N_PLAN_AXES] = { 0 };
    int rc = yaml_need(doc, list, YAML_SEQ, e);
    if (rc)
        return rc;
    if (doc->nodes[list].n != N_PLAN_AXES)
        return yaml_fail(doc, list, e, ERR_RANGE, "has %d entries, need tp, cp, dp and pp in some order",
                         (int)doc->nodes[list].n);
    yaml_each (id, doc, list) {
        const char *word;
        int axis = 0;
        if ((rc = yaml_text(doc, id, &word, e)))
            return rc;
        while (axis < N_PLAN_AXES && strcmp(word, plan_axis_words[axis]) != 0)
            axis++;
        if (axis == N_PLAN_AXES || seen[axis])
            return yaml_fail(doc, id, e, ERR_PARSE, "is %s, need %s", word,
                             axis == N_PLAN_AXES ? "tp, cp, dp or pp" : "each of tp, cp, dp and pp once");
        seen[axis] = true;
        p->order[doc->nodes[id].index] = (enum plan_axis)axis;
    }
    return 0;
}

/* Where a key is, or where the map is that does not have it. */
static int fail_at(const struct yaml_doc *doc, yaml_id map, const char *key, const char *why, struct err *e)
{
    yaml_id id = yaml_get(doc, map, key);
    return id >= 0 ? yaml_fail(doc, id, e, ERR_RANGE, "%s", why)
                   : yaml_fail(doc, map, e, ERR_RANGE, "%s %s", key, why);
}

/* Do the axes lie along the dimensions? */
static int check_map(const struct plan *p, const struct topo_network *net, const struct yaml_doc *doc,
                     yaml_id map, struct err *e)
{
    struct plan_place place;
    struct err inner = { 0 };
    char key[8] = "";
    if (!plan_map(&place, p, net, &inner))
        return 0;
    size_t n = strcspn(inner.msg, ":");
    if (n < sizeof key)
        memcpy(key, inner.msg, n);
    return fail_at(doc, map, key, inner.msg + n + 2, e);
}

int plan_read(struct plan *p, const struct model *m, const struct topo_network *net, bool check,
              const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    struct plan_conf conf;
    struct plan_fault fault = { 0 };
    plan_defaults(&conf.p);
    int rc = schema_read(&conf, &plan_section, doc, map, e);
    if (!rc && conf.order >= 0)
        rc = read_order(&conf.p, doc, conf.order, e);
    if (rc)
        return rc;
    *p = conf.p;
    p->zero = (int32_t)conf.zero;
    if (p->grad_B == 3)
        return fail_at(doc, map, "grad_B", "is 3, need 2 or 4", e);
    if (p->degree[PLAN_DP] < 0) {
        int64_t inner = plan_inner(p, net->n_npus);
        p->degree[PLAN_DP] = net->n_npus >= inner ? net->n_npus / inner : 1;
    }
    int64_t samples = p->batch / p->degree[PLAN_DP];
    if (m->family != MODEL_TRANSFORMER && yaml_get(doc, map, "micro_batch") < 0 && samples > 0)
        p->micro = samples;
    if (!check)
        return 0;
    if (!plan_check(p, m, net->n_npus, &fault))
        return fail_at(doc, map, fault.key, fault.why, e);
    return check_map(p, net, doc, map, e);
}
