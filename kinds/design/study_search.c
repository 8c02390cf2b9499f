#include <math.h>
#include <stdlib.h>

#include "kinds/design/search.h"
#include "kinds/design/study.h"

/* Which reasons left nothing, and how far memory is off. */
static int fail_search(const struct design_point *s, yaml_id at, const struct search_result *r, struct err *e)
{
    struct text why = { 0 };
    if (r->clash)
        return yaml_fail_key(&s->doc, at, e, ERR_NO_DESIGN,
                             "finds no plan: the constraints contradict each other, no split satisfies them");
    for (int i = 0; i < N_SEARCH_REASONS; i++)
        if (r->n_rejected[i])
            text_printf(&why, "%s%lld because %s", why.n ? ", " : "", (long long)r->n_rejected[i],
                        search_reason_words[i]);
    if (r->n_rejected[SEARCH_MEMORY])
        text_printf(&why, " (need at least %.4g GB of %.4g GB)", r->least_B / 1e9, s->net.npu.mem_B / 1e9);
    if (r->n_timed)
        text_printf(&why, "%s%lld because no split satisfies the constraints", why.n ? ", " : "",
                    (long long)r->n_timed);
    int rc = yaml_fail_key(&s->doc, at, e, ERR_NO_DESIGN, "finds no plan: rejected %s",
                           why.n ? text_str(&why) : "nothing, there is none to try");
    text_free(&why);
    return rc;
}

int study_take_plan(struct design_point *s, int32_t i, const struct plan *plan, struct err *e)
{
    struct study_workload *w = &s->workloads[i];
    double bw_Bps[TOPO_MAX_DIMS];
    w->training->plan = *plan;
    int rc = training_derive(w->training, &s->net, e);
    if (rc)
        return rc;
    step_free(&w->tree);
    rc = training_build(&w->tree, w->training, &s->net, e);
    for (int32_t d = 0; d < s->net.n_dims; d++)
        bw_Bps[d] = s->net.dims[d].bw_Bps;
    return rc ? rc : study_choose(s, bw_Bps, e);
}

int study_take_plans(struct design_point *s, const struct design_point *from, struct err *e)
{
    int rc = 0;
    for (int32_t i = 0; i < s->n_workloads && !rc; i++)
        if (s->workloads[i].training && s->workloads[i].training->search >= 0)
            rc = study_take_plan(s, i, &from->workloads[i].training->plan, e);
    return rc;
}

static int search(struct design_point *s, int32_t i, unsigned needs, struct err *e)
{
    struct study_workload *w = &s->workloads[i];
    struct search_space space;
    double bw_Bps[TOPO_MAX_DIMS] = { 0 };
    bool given = topo_has_bandwidths(&s->net);
    for (int32_t d = 0; d < s->net.n_dims; d++)
        bw_Bps[d] = s->net.dims[d].bw_Bps;
    int rc = search_read(&space, &s->doc, w->training->search, e);
    if (rc)
        return rc;
    if (!given && s->n_workloads > 1)
        return yaml_fail_key(
            &s->doc, w->training->search, e, ERR_RANGE,
            "is given beside other workloads, need bw_GBps of every dimension or one workload");
    if (!given && s->objective == ALLOC_UTILIZATION)
        return yaml_fail_key(&s->doc, w->training->search, e, ERR_RANGE,
                             "is given with objective utilization, need another objective");
    w->search = calloc(1, sizeof *w->search);
    if (!w->search)
        return err_nomem(e, "a search");
    rc = given || !(needs & STUDY_FOR_SPLIT) ? search_given(w->search, &space, s, w->training, bw_Bps, e)
                                             : search_split(w->search, &space, s, w->training, e);
    if (rc)
        return rc;
    if (w->search->n_found == 0)
        return fail_search(s, w->training->search, w->search, e);
    return study_take_plan(s, i, &w->search->found[0].plan, e);
}

int study_search(struct design_point *s, unsigned needs, struct err *e)
{
    int rc = 0;
    bool asked = needs & STUDY_NEEDS_WORKLOAD && !(needs & STUDY_UNSEARCHED) &&
                 (needs & STUDY_FOR_SPLIT || (needs & STUDY_NEEDS_BANDWIDTH && topo_has_bandwidths(&s->net)));
    for (int32_t i = 0; i < s->n_workloads && asked && !rc; i++)
        if (s->workloads[i].training && s->workloads[i].training->search >= 0)
            rc = search(s, i, needs, e);
    return rc;
}
