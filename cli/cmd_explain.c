#include "cli/explain.h"
#include "cli/training.h"

/* A total below a simple bound is not a wrong sum: collectives of one maximum share a dimension for free. */
static void warn_bounds(struct run *run, const struct explain *p)
{
    const struct explain_bound *worst = NULL;
    for (int32_t i = 0; i < p->n_bounds; i++)
        if (!explain_holds(p, &p->bounds[i]) && (!worst || p->bounds[i].value_s > worst->value_s))
            worst = &p->bounds[i];
    if (worst)
        output_warn(
            run,
            "time is %g s, below %g s of %s: collectives overlap there, and the model lets each have the "
            "whole bandwidth",
            p->x->design.time_s, worst->value_s, worst->name);
}

static int write_result(struct run *run, const struct load_design *x, struct err *e)
{
    struct explain p;
    struct text out = { 0 };
    struct table t = { 0 };
    int rc = explain_build(&p, run, x, e);
    if (rc)
        return rc;
    warn_bounds(run, &p);
    switch (output_format(run)) {
    case TABLE_AS_TEXT:
        rc = explain_text(&p, &out, e);
        break;
    case TABLE_AS_JSON:
        explain_json(&p, &out);
        break;
    case TABLE_AS_CSV:
        explain_table(&p, &t);
        rc = output_table(run, &t, output_origin(&x->study), e);
        table_free(&t);
        return rc;
    }
    if (!rc)
        rc = output_write(run, &out, e);
    text_free(&out);
    return rc;
}

static int run_explain(struct run *run, struct err *e)
{
    struct load_overrides o;
    struct load_design x = { 0 };
    int rc = output_check(run, NULL, e);
    if (rc)
        return rc;
    rc = load_overrides(&o, run, e);
    if (!rc)
        rc = load_design(&x, run, &o, LOAD_EITHER, STUDY_NEEDS_WORKLOAD, e);
    if (!rc)
        output_notes(run, &x.study.notes);
    if (!rc && x.solved && !alloc_has_split(&x.design.answer))
        rc = load_write_status(run, &x, false, e);
    else if (!rc)
        rc = write_result(run, &x, e);
    if (!rc && !run->exit_code)
        training_say_memory(run, &x.study);
    load_design_free(&x);
    load_free(&o);
    return rc;
}

const struct command cmd_explain = {
    .group = "One design",
    .name = "explain",
    .help = "why a step takes its time, and what would change it",
    .about = "Take the time of a training step apart: every collective on every dimension, what decides it,\n"
             "what one more GB/s or one USD less would do, and simple bounds the total is held against.\n"
             "Bandwidths are those of the network; where one is missing, those that weft alloc chooses.\n",
    .scope = SCOPE(1, 1, "STUDY", &options_study, &options_search, &options_format, &options_files),
    .run = run_explain,
};
