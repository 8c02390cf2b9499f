#include <math.h>
#include <stdio.h>

#include "cli/training.h"
#include "kinds/design/search.h"

static void put_plan(const struct plan *p, struct json *j)
{
    json_open(j, "plan", '{');
    for (int a = 0; a < N_PLAN_AXES; a++)
        json_count(j, plan_axis_words[a], p->degree[a]);
    json_count(j, "ep", p->ep);
    json_count(j, "batch", p->batch);
    json_count(j, "micro_batch", p->micro);
    json_count(j, "microbatches", plan_microbatches(p));
    json_count(j, "interleave", p->interleave);
    json_text(j, "schedule", plan_schedule_words[p->schedule]);
    json_text(j, "recompute", plan_recompute_words[p->recompute]);
    json_text(j, "context", plan_context_words[p->context]);
    json_count(j, "zero", p->zero);
    json_bool(j, "seq_parallel", p->seq_parallel);
    json_open(j, "order", '[');
    for (int a = 0; a < N_PLAN_AXES; a++)
        json_text(j, NULL, plan_axis_words[p->order[a]]);
    json_close(j, ']');
    json_close(j, '}');
}

static void put_map(const struct training *x, int32_t n_dims, struct json *j)
{
    json_open(j, "mapping", '{');
    for (int a = 0; a < N_PLAN_AXES; a++) {
        json_open(j, plan_axis_words[a], '[');
        for (int32_t d = 0; d < n_dims; d++)
            json_count(j, NULL, x->place.axis[a][d]);
        json_close(j, ']');
    }
    json_close(j, '}');
}

static void put_step(const struct training_report *r, int32_t n_dims, struct json *j)
{
    json_open(j, "step", '{');
    json_real(j, "time_s", r->time_s);
    json_real(j, "compute_s", r->compute_s);
    json_real(j, "recompute_s", r->recompute_s);
    json_real(j, "bubble_s", r->bubble_s);
    json_real(j, "optimizer_s", r->optimizer_s);
    json_real(j, "overhead_s", r->overhead_s);
    json_real(j, "rest_s", r->rest_s);
    json_open(j, "exposed", '{');
    for (int a = 0; a < N_REPORT_AXES; a++) {
        json_open(j, report_axis_words[a], '{');
        json_real(j, "time_s", r->axis_s[a]);
        json_reals(j, "by_dim_s", r->dim_s[a], n_dims);
        json_close(j, '}');
    }
    json_close(j, '}');
    json_real(j, "tokens_per_s", r->tokens_per_s);
    json_real(j, "mfu", r->mfu);
    json_real(j, "hfu", r->hfu);
    json_close(j, '}');
}

static void put_memory(const struct design_point *s, const struct training *x,
                       const struct training_report *r, struct json *j)
{
    json_open(j, "memory", '{');
    json_count(j, "stage", x->memory.stage + 1);
    for (int i = 0; i < N_MEMORY_TERMS; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s_B", memory_term_words[i]);
        json_real(j, name, x->memory.term_B[i]);
    }
    json_real(j, "total_B", x->memory.total_B);
    json_real(j, "npu_B", s->net.npu.mem_B);
    json_bool(j, "fits", !(r->missing_B > 0));
    json_close(j, '}');
}

static void put_search(const struct design_point *s, const struct training *x, const struct search_result *r,
                       struct json *j)
{
    json_open(j, "search", '{');
    json_count(j, "candidates", r->n_candidates);
    json_count(j, "timed", r->n_timed);
    json_count(j, "rejected_memory", r->n_rejected[SEARCH_MEMORY]);
    json_count(j, "rejected_mapping", r->n_rejected[SEARCH_UNMAPPED]);
    json_count(j, "rejected_illegal", r->n_rejected[SEARCH_ILLEGAL]);
    json_count(j, "bounded", r->n_bounded);
    json_count(j, "split", r->n_split);
    json_count(j, "open", r->n_open);
    json_open(j, "found", '[');
    for (int32_t i = 0; i < r->n_found; i++) {
        const struct search_found *f = &r->found[i];
        double bw_GBps[TOPO_MAX_DIMS];
        for (int32_t d = 0; d < s->net.n_dims; d++)
            bw_GBps[d] = f->bw_Bps[d] / 1e9;
        json_open(j, NULL, '{');
        json_real(j, "time_s", f->time_s);
        json_real(j, "value", f->value);
        json_real(j, "mfu", training_mfu(x, &s->net, f->time_s));
        json_real(j, "memory_B", f->memory_B);
        json_reals(j, "bw_GBps", bw_GBps, s->net.n_dims);
        put_plan(&f->plan, j);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}

void training_json(const struct design_point *s, const struct design *d, int32_t i, struct json *j)
{
    const struct study_workload *w = &s->workloads[i];
    struct training_report r;
    if (!w->training)
        return;
    training_report(&r, s, w, &d->loads[i]);
    put_plan(&w->training->plan, j);
    put_map(w->training, s->net.n_dims, j);
    put_step(&r, s->net.n_dims, j);
    put_memory(s, w->training, &r, j);
    if (w->search)
        put_search(s, w->training, w->search, j);
}

void training_say_memory(struct run *run, const struct design_point *s)
{
    for (int32_t i = 0; i < s->n_workloads; i++) {
        const struct training *x = s->workloads[i].training;
        double missing_B = x ? training_missing_B(x, &s->net) : NAN;
        int most = 0;
        if (!(missing_B > 0))
            continue;
        for (int k = 1; k < N_MEMORY_TERMS; k++)
            most = x->memory.term_B[k] > x->memory.term_B[most] ? k : most;
        output_say(run, "%s: %s does not fit: needs %.4g GB of %.4g GB, most of it %s (%.4g GB)",
                   run->opt.operands[0], x->name, x->memory.total_B / 1e9, s->net.npu.mem_B / 1e9,
                   memory_term_words[most], x->memory.term_B[most] / 1e9);
        run->exit_code = EXIT_NO_DESIGN;
    }
}
