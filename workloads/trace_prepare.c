/* A part of a trace with all that it does not tell drawn: the same jobs for everybody who asks for the same.
 */
#include "workloads/trace_profile.h"

int trace_prepare(struct trace *t, const struct trace_window *w, const struct trace_profile *p, uint64_t seed,
                  struct trace_fill_counts *counts, struct err *e)
{
    *counts = (struct trace_fill_counts){ 0 };
    /* What is drawn depends on the job alone, so a window may be cut first, and little be drawn; not where
     * the window asks for something that may be drawn. */
    bool draws_size = p && w && w->max_gpus > 0 && p->gpus.kind != TRACE_DRAW_NONE;
    int rc = 0;
    if (draws_size)
        rc = trace_fill(t, p, seed, counts, e);
    if (!rc && w)
        rc = trace_cut(t, w, e);
    if (!rc && p && !draws_size)
        rc = trace_fill(t, p, seed, counts, e);
    return rc;
}

void trace_list_synthetic(struct text *out, const struct trace *t)
{
    int64_t counts[N_TRACE_COLUMNS];
    bool any = false;
    trace_count_synthetic(t, counts);
    for (int k = 0; k < N_TRACE_COLUMNS; k++)
        if (counts[k]) {
            text_printf(out, "%s%s in %lld", any ? ", " : "", trace_column_names[k], (long long)counts[k]);
            any = true;
        }
}
