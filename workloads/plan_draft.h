/** @file Private to plan_*.c: writing down the parts and collectives of a planned step. */
#ifndef WORKLOADS_PLAN_DRAFT_H
#define WORKLOADS_PLAN_DRAFT_H

#include "workloads/plan_cost.h"

struct drafting {
    struct plan_cost *c;
    const struct model *m;
    const struct plan *p;
    const struct topo_npu *npu;
    double tp, cp, tokens;
    double width_B;         /**< an activation of one microbatch, over all of TP */
    struct block_cost cost; /**< of the block being drafted */
};

/** Append to the end of @p list, which is the last that was appended to. */
void draft_collective(struct drafting *x, struct plan_list *list, struct plan_collective add);

/** Append a part to the end of @p pass, which is the last that was appended to; valid as long as @p x->c. */
struct plan_part *draft_part(struct drafting *x, struct plan_pass *pass, enum step_phase phase,
                             const char *name, double compute_s);

/** A collective of TP over @p share of an activation. Nothing without TP. */
void draft_tp(struct drafting *x, struct plan_part *part, enum collective_kind kind, const char *name,
              double times, double share);

struct model_share draft_scaled(struct model_share s, double factor);

/** Parameters of a block that one NPU holds, before data parallelism shares them out. */
struct model_share draft_params(const struct drafting *x, enum block_kind kind);

/** @p share of so many bytes per NPU, over those who share them; experts' over theirs. */
void draft_exchange(struct drafting *x, struct plan_list *list, enum collective_kind kind,
                    enum step_phase phase, const char *name, struct model_share bytes, double share);

/** What ZeRO 2 and 3 exchange for each microbatch of a block in one pass, whose last part was appended last.
 */
void draft_shares(struct drafting *x, enum block_kind kind, struct plan_pass *pass, bool forward);

/** Kind of the layer of @p s that is not beside its exchange, or -1. */
static inline int plan_cost_open(const struct plan_cost *c, const struct plan_stage *s)
{
    if (!c->open || s->dense + s->experts == 0)
        return -1;
    return s->experts ? BLOCK_EXPERTS : BLOCK_DENSE;
}

/** A transformer layer, both passes. */
void draft_layer(struct drafting *x, enum block_kind kind);

#endif
