/*
 * A question is answered in two steps: plans that it leaves open are searched, then the design is found with
 * the best of them.
 */
#include "kinds/design/explore/solve.h"

#include "kinds/design/explore/search.h"

static int choose_at(struct design_choice *c, const struct design_point *s, const double *bw_Bps,
                     struct search_shelf *shelf, struct alloc_kept *kept, struct err *e)
{
    int rc = choice_begin(c, s, e);
    c->kept = kept;
    rc = rc ? rc : search_plans(c, bw_Bps, shelf, e);
    if (rc)
        choice_free(c);
    return rc;
}

int design_choose_kept(struct design_choice *c, const struct design_point *s, struct search_shelf *shelf,
                       struct alloc_kept *kept, struct err *e)
{
    double bw_Bps[TOPO_MAX_DIMS];
    bool given = topo_has_bandwidths(&s->net);
    return choose_at(c, s, given ? topo_get_bandwidths(bw_Bps, &s->net) : NULL, shelf, kept, e);
}

int design_choose_with(struct design_choice *c, const struct design_point *s, struct search_shelf *shelf,
                       struct err *e)
{
    return design_choose_kept(c, s, shelf, NULL, e);
}

int design_choose(struct design_choice *c, const struct design_point *s, struct err *e)
{
    return design_choose_with(c, s, NULL, e);
}

/* Safe to look at and to free. */
static int no_design(struct design *d, int rc)
{
    *d = (struct design){ 0 };
    return rc;
}

int design_solve(struct design *d, const struct design_point *s, struct err *e)
{
    struct design_choice c;
    int rc = design_choose(&c, s, e);
    return rc ? no_design(d, rc) : answer_split(d, c, e);
}

int design_for_row(struct design *d, const struct design_point *s, struct err *e)
{
    struct design_choice c;
    int rc = design_choose(&c, s, e);
    return rc ? no_design(d, rc) : answer_row(d, c, e);
}

int design_evaluate(struct design *d, const struct design_point *s, const double *bw_Bps, struct err *e)
{
    struct design_choice c;
    double own_Bps[TOPO_MAX_DIMS];
    bw_Bps = bw_Bps ? bw_Bps : topo_get_bandwidths(own_Bps, &s->net);
    int rc = choose_at(&c, s, bw_Bps, NULL, NULL, e);
    return rc ? no_design(d, rc) : answer_at(d, c, bw_Bps, e);
}
