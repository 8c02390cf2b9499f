#include "kinds/design/search.h"

#include <stdlib.h>
#include <string.h>

#include "kinds/design/search_run.h"

void search_free(struct search_result *r)
{
    free(r->found);
    *r = (struct search_result){ 0 };
}

static void take_best(void *mine, const struct search_candidate *c)
{
    struct search_best *best = mine;
    double time_s = search_clock_time(&c->clocks[0], c->cost);
    if (!search_best_takes(best, time_s))
        return;
    struct search_found f = search_found_of(c);
    f.value = f.time_s = time_s;
    search_best_add(best, &f);
}

/* The best of all threads. */
static int gather(struct search_result *out, const struct search_best *bests, int32_t n, int32_t most,
                  struct err *e)
{
    struct search_best all;
    int rc = search_best_reserve(&all, most, e);
    if (rc)
        return rc;
    for (int32_t t = 0; t < n; t++)
        for (int32_t i = 0; i < bests[t].n; i++)
            search_best_add(&all, &bests[t].found[i]);
    out->found = all.found;
    out->n_found = all.n;
    return 0;
}

int search_fastest(struct search_result *out, const struct search_space *space, const struct design_point *s,
                   const struct training *base, const double *bw_Bps, int32_t most, struct err *e)
{
    int32_t n = search_threads();
    struct search_best *bests = calloc((size_t)n, sizeof *bests);
    void **mine = calloc((size_t)n, sizeof *mine);
    int rc = bests && mine ? 0 : err_nomem(e, "a search");
    *out = (struct search_result){ 0 };
    for (int32_t t = 0; t < n && !rc; t++) {
        rc = search_best_reserve(&bests[t], most, e);
        mine[t] = &bests[t];
    }
    const struct search_run run = { .space = space,
                                    .study = s,
                                    .base = base,
                                    .ways = { search_way(s, bw_Bps) },
                                    .n_ways = 1,
                                    .take = take_best,
                                    .mine = mine,
                                    .n_threads = n };
    if (!rc)
        rc = search_run(out, &run, e);
    if (!rc)
        rc = gather(out, bests, n, most, e);
    for (int32_t t = 0; bests && t < n; t++)
        search_best_free(&bests[t]);
    free(bests);
    free(mine);
    for (int32_t i = 0; i < out->n_found; i++)
        memcpy(out->found[i].bw_Bps, bw_Bps, sizeof(double) * (size_t)s->net.n_dims);
    return rc;
}

struct collective_way search_way(const struct design_point *s, const double *bw_Bps)
{
    return (struct collective_way){ &s->net, s->model == SIM_BANDWIDTH ? NULL : &s->rules.stage, bw_Bps };
}

int search_given(struct search_result *out, const struct search_space *space, const struct design_point *s,
                 const struct training *base, const double *bw_Bps, struct err *e)
{
    return search_fastest(out, space, s, base, bw_Bps, space->top, e);
}
