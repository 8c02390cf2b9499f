/*
 * Which plan of parallelism trains a model fastest, of all that are legal and fit (book.c): at given
 * bandwidths or together with the split.
 */
#include "kinds/design/explore/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "base/work.h"
#include "kinds/design/ask/load.h"
#include "kinds/design/explore/pairs.h"
#include "workloads/collective.h"
#include "workloads/step.h"

/* What is not legal is told key by key. */
static const char *const search_reason_words[N_SEARCH_REASONS] = {
    [SEARCH_UNMAPPED] = "degrees do not lie along the dimensions",
    [SEARCH_MEMORY] = "memory does not suffice",
};

/*
 * Best plan and split together. A few plans that are fast at an even split are split first. The best of them
 * gives a value that others must beat, and prices of the constraints, which bound from below what any split
 * can make of another plan (joint.c). Of least time under a total no plan has to be split for that: one pass
 * over plans meets pairs that are nearly as good as can be (split_hunted()).
 *
 * What is not ruled out is split, most promising first, until the next bound is above the last of the best.
 * Performance per cost has many plans that are nearly as good as others and bounds that are not tight: beyond
 * a number of plans the rest is left open, and counted.
 *
 * In whole parts too, where there are more designs than search_whole() can list: the scouts' best are built
 * (alloc/whole), which gives the value that others have to beat. Fractions bound whole parts, so a plan whose
 * own split is above that is left out as well, and of the others nothing is looked for that is worth more.
 */

enum {
    FIRST_SCOUTS = 16,
    SCOUTS = 48,
    HOPELESS = 4,
    BLOCK = 64,
    HUNTED = 2, /* a block of those that few others are behind */
    BUILT = 8,  /* a block in whole parts */
    MOST_BUILT = 1 << 10,
    MOST_UNBUILT = 1 << 6, /* as long as nothing can be built */
    STALLED = 1 << 6,      /* one that is cut short, which takes seconds, counts as so many */
    MOST_GUESSED = 1 << 10
};

/* ---- one plan ---- */

/* A plan where it lies, to be touched. */
struct laid {
    const struct splitting *of;
    struct training x;
    struct search_forms *forms; /* borrowed */
};

static struct alloc_cut touch_plan(const void *with, const double *bw_Bps)
{
    const struct laid *l = with;
    const struct collective_way way = search_way(l->of->book->study, bw_Bps);
    return search_tangent_of(&way, l->forms, &l->x.cost, l->of->weight);
}

/* Does a bound rule out what the cuts at two splits did not? */
static bool cuts_rule_out(const struct search_found *f, const struct splitting *x,
                          const struct incumbent *last)
{
    const struct joint *j = &x->joint;
    struct joint_touched t = { .bound = 0 };
    struct laid *l = malloc(sizeof *l);
    struct search_forms *forms = malloc(sizeof *forms);
    struct err ignored;
    bool out = false;
    for (int32_t d = 0; d < j->study->net.n_dims; d++)
        t.at_Bps[d] = joint_usable_Bps(j, d, x->hunted ? f->bw_Bps[d] : j->ref_Bps[d]);
    if (l && forms) {
        l->of = x;
        l->x = *x->book->base;
        l->x.plan = f->plan;
        l->forms = forms;
    }
    if (l && forms && !training_derive(&l->x, &j->study->net, &ignored)) {
        const struct collective_way way = search_way(j->study, t.at_Bps);
        search_forms_set(forms, &way, &l->x.place);
        t.cut = touch_plan(l, t.at_Bps);
        joint_sharpen(&t, j,
                      (struct joint_goal){ .most = incumbent_limit(last), .most_cuts = JOINT_FEW_CUTS },
                      touch_plan, l);
        out = incumbent_rules_out(last, t.bound);
    }
    free(forms);
    free(l);
    return out;
}

/* Drops plans that cannot be among the best few; the others keep their order. Returns how many are left. */
static int32_t sift_block(struct search_found *block, int32_t n, const struct splitting *x,
                          const struct incumbent *last)
{
    int32_t left = 0;
    if (!joint_is_priced(&x->joint) || design_point_has_choice(x->book->study)) /* T of other algorithms */
        return n;
#pragma omp parallel for schedule(dynamic, 1)
    for (int32_t i = 0; i < n; i++)
        block[i].value = cuts_rule_out(&block[i], x, last) ? INFINITY : block[i].value;
    for (int32_t i = 0; i < n; i++)
        if (isfinite(block[i].value))
            block[left++] = block[i];
    return left;
}

static bool skip_survivors(void *with, double least_s)
{
    const struct splitting *x = ((const struct survivors *)with)->of;
    return incumbent_rules_out(&x->joint.last, joint_timed(&x->joint, x->weight * least_s));
}

/* Keeps plans whose bound is below the best value known. */
static void take_survivor(void *with, const struct search_candidate *c)
{
    struct survivors *s = with;
    const struct joint *j = &s->of->joint;
    /* The cheap bound first: time with all that the rows allow every dimension at once. */
    bool for_time = alloc_is_time(j->question.problem.objective);
    double weight = s->of->weight, ref_s, most_bw_s,
           most_s = for_time ? incumbent_limit(&j->last) / weight : (double)INFINITY;
    double time_s = weight * search_clock_time(&c->clocks[0], c->cost, most_s);
    double timed = joint_timed(j, time_s);
    if (incumbent_rules_out(&j->last, timed))
        return;
    struct alloc_cut t = search_tangent(&ref_s, &c->clocks[1], c->cost, weight);
    double bound = fmax(timed, joint_bound(j, &t, time_s));
    if (!for_time &&
        !incumbent_rules_out(&j->last, bound)) { /* with more bandwidth another path may decide */
        struct alloc_cut most = search_tangent(&most_bw_s, &c->clocks[0], c->cost, weight);
        bound = fmax(bound, joint_bound(j, &most, time_s));
    }
    if (incumbent_rules_out(&j->last, bound))
        return;
    struct search_found f = search_found_of(c);
    f.time_s = for_time ? bound : ref_s;
    f.value = bound;
#pragma omp critical(search_survivors)
    survivors_add(s, &f);
}

/* The most promising come first. */
static int find_survivors(struct survivors *s, const struct splitting *x, struct err *e)
{
    bool product = alloc_is_product(x->joint.question.problem.objective);
    survivors_begin(s, x, product ? MOST_GUESSED : SURVIVORS_MOST);
    int rc = survivors_pass(s, skip_survivors, take_survivor, s, e);
    if (rc)
        return rc;
    survivors_keep_most(s);
    survivors_sort(s);
    return 0;
}

/* ---- scouts ---- */

/* Splits of several plans at a time; results are added in order, so threads do not show. */
static int solve_block(struct search_best *best, struct search_found *block, int32_t n,
                       const struct splitting *x, struct err *e)
{
    int rc = 0;
#pragma omp parallel for schedule(dynamic, 1) if (n > 1)
    for (int32_t i = 0; i < n; i++) {
        struct err own = { 0 };
        struct alloc_answer answer = { 0 };
        int failed = splitting_solve(&block[i], &answer, x, &own);
        alloc_answer_free(&answer);
        if (failed) {
#pragma omp critical
            {
                rc = failed;
                *e = own;
            }
        }
    }
    for (int32_t i = 0; i < n && !rc; i++)
        if (isfinite(block[i].value))
            search_best_add(best, &block[i]);
    return rc;
}

/* Split the plans that are fastest at ref_Bps; the best of them sets reference and prices, and the last of as
 * many as are looked for a value that others have to beat. */
static int scout(struct search_best *best, struct splitting *x, int32_t most, struct err *e)
{
    struct joint *j = &x->joint;
    struct search_best fast;
    struct alloc_answer answer = { 0 };
    int rc = search_fastest(&fast, x->book, j->ref_Bps, most, e);
    fast.n = sift_block(fast.found, fast.n, x, &best->last);
    int32_t n = fast.n < HOPELESS ? fast.n : HOPELESS, least = 0;
    rc = rc ? rc : solve_block(best, fast.found, n, x, e);
    /* Where several have no split, rows starve a dimension that every plan uses; bounds will tell. */
    if (!rc && best->n) {
        rc = solve_block(best, fast.found + n, fast.n - n, x, e);
        n = fast.n;
    }
    for (int32_t i = 1; i < n; i++)
        least = fast.found[i].value < fast.found[least].value ? i : least;
    if (!rc && n) /* once more, for its prices, or for why it has none */
        rc = splitting_solve(&fast.found[least], &answer, x, e);
    if (!rc && n && isfinite(fast.found[least].value))
        joint_take_prices(j, &answer);
    else if (!rc && n)
        joint_note_why(j, &answer);
    j->last = best->last;
    alloc_answer_free(&answer);
    search_best_free(&fast);
    return rc;
}

/* ---- all of it ---- */

/* In whole parts: the scouts' plans, as many as are looked for, into @p best, which is reserved. */
static int build_scouted(struct search_best *best, const struct search_best *scouted, struct splitting *x,
                         struct err *e)
{
    int rc = 0;
    for (int32_t i = 0; i < scouted->n && !rc; i += BUILT) {
        struct search_found block[BUILT];
        int32_t n = scouted->n - i < BUILT ? scouted->n - i : BUILT;
        memcpy(block, scouted->found + i, (size_t)n * sizeof *block);
        x->joint.most_value = incumbent_limit(&best->last);
        rc = solve_block(best, block, n, x, e);
    }
    x->joint.last = best->last;
    return rc;
}

/* What rounding of a bound and the gap of a split may come to. */
#define ABOVE_REL 1e-7

/* A bound above what it bounds would hide plans: it is looked at wherever it can be. Where algorithms depend
 * on bandwidths a bound is about others. */
static int check_bounds(const double *bounds, const struct search_found *block, int32_t n,
                        const struct joint *j, struct err *e)
{
    for (int32_t i = 0; i < n && !design_point_has_choice(j->study); i++)
        if (bounds[i] > block[i].value * (1 + ABOVE_REL))
            return err_set(e, ERR_LIB, "a plan is better than the bound of its splits; please report it");
    return 0;
}

/* In blocks of one size, so that threads do not change what is split. A plan without an answer to its split
 * may have any. */
static int solve_survivors(struct search_best *best, struct search_result *out, struct survivors *s,
                           struct splitting *x, struct err *e)
{
    struct joint *j = &x->joint;
    /* A row does not count what is split: one after the other, each may rule out the next. */
    const int32_t few = best->nearest ? 1 : HUNTED, most = j->floors ? BUILT : x->hunted ? few : BLOCK;
    double bounds[BLOCK];
    int rc = 0;
    int32_t i = 0, spent = 0;
    struct work work;
    j->kept = most == 1 ? x->kept : NULL;
    work_begin(&work, "plans to split, at most", s->n);
    while (i < s->n && !rc && !incumbent_rules_out(&best->last, s->list[i].value)) {
        int32_t n = s->n - i < most ? s->n - i : most;
        if (j->floors && spent >= (best->n ? MOST_BUILT : MOST_UNBUILT)) {
            incumbent_leave_open(&best->last, s->list[i].value, s->n - i);
            break;
        }
        j->most_value = j->floors ? incumbent_limit(&best->last) : 0;
        int32_t n_left = sift_block(s->list + i, n, x, &best->last);
        for (int32_t k = 0; k < n_left; k++)
            bounds[k] = s->list[i + k].value;
        rc = solve_block(best, s->list + i, n_left, x, e);
        rc = rc ? rc : check_bounds(bounds, s->list + i, n_left, j, e);
        for (int32_t k = i; k < i + n_left && !rc; k++) {
            bool known = s->list[k].lower_bound > -INFINITY;
            double least = fmin(s->list[k].value, j->most_value) * (1 - ALLOC_GAP);
            spent += s->list[k].lower_bound < least ? STALLED : 1;
            out->n_split += known;
            out->lower_bound = fmin(out->lower_bound, s->list[k].lower_bound);
            if (!known)
                incumbent_leave_open(&best->last, -INFINITY, 1);
        }
        i += n;
        work_step(&work, n);
    }
    work_end(&work);
    j->kept = NULL;
    if (s->n_dropped && !incumbent_rules_out(&best->last, s->dropped))
        incumbent_leave_open(&best->last, s->dropped, s->n_dropped);
    best->last.n_ruled_out = x->book->counted ? out->n_timed - out->n_split - best->last.n_open : 0;
    out->proof = best->last;
    if (best->n == best->most) /* of those that tie with the last some may not be listed */
        out->proof.value = fmin(out->proof.value, best->found[best->n - 1].value);
    return rc;
}

/* Bandwidths to choose: no plan that was not split has less, nor one outside the list. */
static double least_left(const struct search_result *r)
{
    return r->proof.value * (1 - ALLOC_GAP);
}

/* Bandwidths of splits that are the same but for the solver's play. */
#define SAME_SPLIT_REL 1e-6

static bool is_same_split(const struct search_found *x, const struct search_found *best, int32_t n_dims)
{
    for (int32_t d = 0; d < n_dims; d++)
        if (!(fabs(x->bw_Bps[d] - best->bw_Bps[d]) <= SAME_SPLIT_REL * best->bw_Bps[d]))
            return false;
    return true;
}

/* From the lower bounds of those found, and of those left. */
static void say_unique(struct search_result *out, int32_t n_dims)
{
    const struct search_found *best = out->found;
    out->unique = out->proved && out->n_found > 0 && least_left(out) > best->value;
    for (int32_t i = 1; i < out->n_found; i++)
        out->unique = out->unique && (is_same_split(&out->found[i], best, n_dims) ||
                                      out->found[i].lower_bound > best->value);
}

/* What bounds and splits come to together: of whole parts one plan may have a gap of its own. Where
 * algorithms depend on bandwidths, all of that is about those at the reference split. */
void search_say_proof(struct search_result *out, const struct design_point *s)
{
    double left = out->whole ? incumbent_limit(&out->proof) : least_left(out),
           bound = fmin(out->lower_bound, fmin(left, out->proof.open));
    bool known = bound > 0 && out->n_found > 0 && !design_point_has_choice(s);
    out->proved =
        known && out->proof.n_open == 0 && (!out->whole || bound >= out->found[0].value * (1 - ALLOC_GAP));
    out->lower_bound = known ? bound : (double)NAN;
    say_unique(out, s->net.n_dims);
}

static int hunt_survivors(struct survivors *left, struct search_best *best, struct splitting *x,
                          struct sizes *z, struct err *e)
{
    struct pair_hunt p = { .left = { .of = x } };
    int rc = search_best_reserve(&p.met, best->most, 0, e);
    p.met.nearest = best->nearest;
    rc = rc ? rc : search_hunt_pairs(&p, x, z, e);
    best->last.value = search_best_limit(&p.met) * (1 + 2 * ALLOC_GAP);
    *left = p.left;
    search_best_free(&p.met);
    return rc;
}

/* Scouts good plans by a reference split, twice: the second time at a split that suits, instead of an even
 * one. In whole parts the best of them are built. @p scouted: where these were split only. */
static int scout_survivors(struct survivors *left, struct search_best *best, struct search_best *scouted,
                           struct splitting *x, struct err *e)
{
    int32_t top = x->book->space->top;
    int rc = scout(best, x, FIRST_SCOUTS, e);
    rc = rc ? rc : scout(best, x, SCOUTS + top, e);
    if (!rc && x->joint.floors) {
        *scouted = *best;
        rc = search_best_reserve(best, top, -PAIRS_AS_GOOD, e);
        rc = rc ? rc : build_scouted(best, scouted, x, e);
    }
    return rc ? rc : find_survivors(left, x, e);
}

/* Survivors of a hunt, in the order of their bounds, and the split of each that may be among the best: false
 * in *done where scouts say why none has a split, or some are left open: which, depends on plans that happen
 * to be known. */
static int split_hunted(bool *done, struct search_result *out, struct search_best *best, struct splitting *x,
                        struct err *e)
{
    struct survivors left = { 0 };
    struct sizes *z = NULL;
    best->ties = true; /* which is found must not depend on the order of bounds */
    int rc = sizes_begin(&z, x, e);
    rc = rc ? rc : hunt_survivors(&left, best, x, z, e);
    rc = rc ? rc : solve_survivors(best, out, &left, x, e);
    *done = !rc && best->n && !left.n_dropped && !best->last.n_open;
    if (*done)
        search_book_note(x->book, best);
    if (*done)
        sizes_ask(z);
    free(left.list);
    free(z);
    return rc;
}

/* The same after scouts. */
static int split_scouted(struct search_result *out, struct search_best *best, struct search_best *scouted,
                         struct splitting *x, struct err *e)
{
    struct survivors left = { 0 };
    int rc = scout_survivors(&left, best, scouted, x, e);
    rc = rc ? rc : solve_survivors(best, out, &left, x, e);
    free(left.list);
    return rc;
}

static int begin_split(struct search_result *out, struct search_best *best, struct splitting *x,
                       const struct search_book *book, struct err *e)
{
    search_best_free(best);
    int rc = search_best_reserve(best, book->space->top, -PAIRS_AS_GOOD, e);
    best->nearest = book->of && !book->counted; /* a row has no list */
    *out = book->counts;
    out->lower_bound = INFINITY;
    return rc ? rc : splitting_begin(x, book, e);
}

/* The best pair is proved: all others are ruled out by a bound, or split. */
int search_split_kept(struct search_result *out, const struct search_book *book, struct alloc_kept *kept,
                      struct err *e)
{
    struct splitting *x = malloc(sizeof *x);
    struct search_best best = { 0 }, scouted = { 0 };
    bool done = false;
    *out = book->counts;
    int rc = x ? begin_split(out, &best, x, book, e) : err_nomem(e, "a search");
    if (!rc && !x->joint.clash && search_is_hunted(x)) {
        x->kept = kept;
        rc = split_hunted(&done, out, &best, x, e);
        rc = rc || done ? rc : begin_split(out, &best, x, book, e);
    }
    if (!rc && !x->joint.clash && !done)
        rc = split_scouted(out, &best, &scouted, x, e);
    out->whole = x && x->joint.floors && best.n > 0;
    if (scouted.n && !best.n) { /* for why none of them can be built */
        search_best_free(&best);
        best = scouted;
        scouted = (struct search_best){ 0 };
    }
    search_best_free(&scouted);
    out->found = best.found;
    out->n_found = best.n;
    out->clash = x && x->joint.clash;
    if (!rc) {
        search_say_proof(out, book->study);
        if (x->joint.floors && !out->whole) { /* it is of fractions */
            out->proved = out->unique = false;
            out->lower_bound = NAN;
        }
        memcpy(out->why, x->joint.why, sizeof out->why);
    }
    free(x);
    return rc;
}

int search_split(struct search_result *out, const struct search_book *book, struct err *e)
{
    return search_split_kept(out, book, NULL, e);
}

/* ---- no pair of plan and split is better ---- */

/* What bounds leave is split where no pair is known that is worth as little as is asked for. */
static int bound_pairs(struct search_bounded *b, struct splitting *x, struct err *e)
{
    struct pair_hunt p = { .left = { 0 } };
    struct search_best best = { 0 };
    struct search_result of = { .lower_bound = INFINITY };
    int rc = search_best_reserve(&p.met, 1, 0, e);
    p.met.last.value = b->most * (1 + 4 * ALLOC_GAP);
    rc = rc ? rc : search_best_reserve(&best, 1, -PAIRS_AS_GOOD, e);
    rc = rc ? rc : search_find_pairs(&p, x, e);
    double most = search_best_limit(&p.met);
    bool met = p.met.n && p.met.found[0].value <= b->most;
    b->least = fmin(p.left.dropped,
                    fmin(most, p.left.n ? p.left.list[0].value : (double)INFINITY) * (1 - ALLOC_GAP));
    if (!rc && !met && p.left.n) {
        best.last.value = most;
        rc = solve_survivors(&best, &of, &p.left, x, e);
        b->least = fmin(of.lower_bound, fmin(of.proof.open, of.proof.value * (1 - ALLOC_GAP)));
    }
    if (!rc && best.n + p.met.n)
        b->found =
            (struct search_known){ search_book_question(x->book), best.n ? best.found[0] : p.met.found[0] };
    free(p.left.list);
    search_best_free(&p.met);
    search_best_free(&best);
    return rc;
}

static int split_least(struct search_bounded *b, const struct search_book *book, struct err *e)
{
    struct splitting *x = malloc(sizeof *x);
    int rc = x ? splitting_begin(x, book, e) : err_nomem(e, "a search");
    b->least = INFINITY;
    b->found.question = 0;
    if (!rc && !x->joint.clash) {
        x->joint.floors = false;
        rc = search_price_pairs(x, b->known, b->n_known, e);
        rc = rc ? rc : bound_pairs(b, x, e);
    }
    free(x);
    return rc;
}

/* The time that a study with this plan reports: candidates are timed from their parts, which may differ in
 * the last digit. */
static int time_as_reported(struct search_found *f, const struct design_point *s, const struct training *base,
                            struct err *e)
{
    const struct sim_way way = design_point_closed_way(s, f->bw_Bps);
    struct step_tree tree;
    struct sim_step step = { 0 };
    int rc = search_build_tree(&tree, &f->plan, base, &s->net, e);
    if (!rc)
        rc = sim_step_build(&step, &tree, &way, e);
    if (!rc) {
        f->value = f->time_s = step.time_s;
        sim_step_free(&step);
    }
    step_free(&tree);
    return rc;
}

/* Plans that are alike differ by less; so far beyond the last of the best, those that are like it are
 * counted, whatever thread meets them first. */
#define ALIKE_REL 4e-9

int search_given(struct search_result *out, const struct search_book *book, const double *bw_Bps,
                 struct err *e)
{
    const struct collective_way way = search_way(book->study, bw_Bps);
    struct search_best fast, best = { 0 };
    int rc = search_best_reserve(&fast, book->space->top, ALIKE_REL, e);
    fast.folds = true;
    if (!rc && !search_book_find_plans(&fast, book, &way)) {
        rc = search_find_fastest(&fast, book, bw_Bps, e);
        if (!rc)
            search_book_note_plans(book, &way, &fast);
    }
    rc = rc ? rc : search_best_reserve(&best, book->space->top, 0, e);
    /* The list in the order of the times that are reported. */
    for (int32_t i = 0; i < fast.n && !rc; i++) {
        rc = time_as_reported(&fast.found[i], book->study, book->base, e);
        if (!rc)
            search_best_add(&best, &fast.found[i]);
    }
    search_best_free(&fast);
    *out = book->counts;
    out->found = best.found;
    out->n_found = best.n;
    out->proved = !rc && out->n_found > 0; /* all were timed */
    out->lower_bound = NAN;                /* of a time, which may not be what the study asks for */
    return rc;
}

/* ---- the plans of a study ---- */

int search_fail(const struct design_point *s, yaml_id at, const struct search_result *r, struct err *e)
{
    struct text why = { 0 };
    if (r->clash)
        return yaml_fail_key(&s->doc, at, e, ERR_NO_DESIGN,
                             "finds no plan: the constraints contradict each other, no split satisfies them");
    for (int32_t i = 0; i < r->refused.n_keys; i++)
        text_printf(&why, "%s%lld by %s", why.n ? ", " : "", (long long)r->refused.n[i], r->refused.key[i]);
    for (int i = 0; i < N_SEARCH_REASONS; i++)
        if (r->n_rejected[i] && search_reason_words[i])
            text_printf(&why, "%s%lld because %s", why.n ? ", " : "", (long long)r->n_rejected[i],
                        search_reason_words[i]);
    if (r->n_rejected[SEARCH_MEMORY])
        text_printf(&why, " (need at least %.4g GB of %.4g GB)", r->least_B / 1e9, s->net.npu.mem_B / 1e9);
    if (r->n_timed)
        text_printf(&why, "%s%lld because %s%.399s", why.n ? ", " : "", (long long)r->n_timed,
                    r->why[0] ? "no split is best: " : "no split satisfies the constraints", r->why);
    int rc = yaml_fail_key(&s->doc, at, e, ERR_NO_DESIGN, "finds no plan; rejected %s",
                           why.n ? text_str(&why) : "nothing: there is none to try");
    text_free(&why);
    return rc;
}

int search_read_space(struct search_space *space, const struct design_point *s, yaml_id at, bool given,
                      struct err *e)
{
    int rc = schema_read(space, &search_section, &s->doc, at, e);
    if (rc)
        return rc;
    for (int q = 0; q < N_TOPO_PRECISIONS; q++)
        if (space->precision & 1U << q && isnan(topo_npu_peak(&s->net.npu, (enum topo_precision)q)))
            return yaml_fail_key(&s->doc, yaml_get(&s->doc, at, "precision"), e, ERR_RANGE,
                                 "asks for %s, which the NPU does not have", topo_precision_words[q]);
    if (!given && alloc_objectives[s->objective].sends_alone)
        return yaml_fail_key(&s->doc, at, e, ERR_RANGE,
                             "is given with objective utilization; choose another objective");
    return 0;
}

int search_work(double *least_s, const struct design_point *s, int32_t i, struct search_shelf *shelf,
                struct err *e)
{
    const struct training *base = s->workloads[i].training;
    struct search_space space = { 0 };
    int rc = search_read_space(&space, s, base->search, true, e);
    if (rc)
        return rc;
    double n = (double)s->net.n_npus, work_s = search_shelf_work_s(shelf, &space, base, &s->net.npu);
    *least_s = work_s / n * plan_slowest_times(&base->model, &base->plan, n);
    return 0;
}

/* Of no plan that takes longer than @p most_s. */
static int least_at(double *least_s, const struct search_book *book, const double *bw_Bps, double most_s,
                    struct err *e)
{
    struct search_best fast;
    int rc = search_best_reserve(&fast, 1, 0, e);
    fast.last.value = most_s;
    rc = rc ? rc : search_find_fastest(&fast, book, bw_Bps, e);
    *least_s = !rc && fast.n ? fast.found[0].time_s : most_s;
    search_best_free(&fast);
    return rc;
}

int search_least(double *least_s, const struct design_point *s, int32_t i, const double *bw_Bps,
                 double most_s, struct search_shelf *shelf, struct err *e)
{
    const struct training *base = s->workloads[i].training;
    const struct collective_way way = search_way(s, bw_Bps);
    struct search_space space = { 0 }; /* lists that are short of their room are hashed with it */
    struct search_book book;
    int rc = search_read_space(&space, s, base->search, true, e);
    rc = rc ? rc : search_book_open(&book, shelf, &space, s, base, e);
    if (rc)
        return rc;
    if (!search_book_find_time(least_s, &book, &way, most_s)) {
        rc = bw_Bps ? least_at(least_s, &book, bw_Bps, most_s, e) : search_book_least(least_s, &book, e);
        if (!rc)
            search_book_note_time(&book, &way, *least_s, most_s);
    }
    search_book_close(&book, shelf);
    return rc;
}

int search_split_least(struct search_bounded *b, const struct design_point *s, struct search_shelf *shelf,
                       struct err *e)
{
    const struct training *base = s->workloads[0].training;
    struct search_space space = { 0 }; /* lists that are short of their room are hashed with it */
    struct search_book book;
    int rc = search_read_space(&space, s, base->search, true, e);
    rc = rc ? rc : search_book_open(&book, shelf, &space, s, base, e);
    if (rc)
        return rc;
    rc = split_least(b, &book, e);
    search_book_close(&book, shelf);
    return rc;
}

int search_find_rivals(struct search_rivals *out, const struct design_point *s, struct search_shelf *shelf,
                       struct err *e)
{
    const struct training *base = s->workloads[0].training;
    struct search_space space = { 0 }; /* lists that are short of their room are hashed with it */
    struct splitting *x = malloc(sizeof *x);
    struct search_book book;
    out->most = -INFINITY;
    int rc = x ? search_read_space(&space, s, base->search, true, e) : err_nomem(e, "a search");
    rc = rc ? rc : search_book_open(&book, shelf, &space, s, base, e);
    if (!rc) {
        rc = splitting_begin(x, &book, e);
        rc = rc ? rc : search_hunt_rivals(out, x, e);
        search_book_close(&book, shelf);
    }
    free(x);
    return rc;
}

int search_count_plans(struct search_result *out, const struct search_book *book, struct search_shelf *shelf,
                       struct err *e)
{
    struct search_result counts;
    int rc = out->n_found ? 0 : search_book_count(&counts, book, shelf, e);
    if (rc || out->n_found)
        return rc;
    out->refused = counts.refused;
    memcpy(out->n_rejected, counts.n_rejected, sizeof out->n_rejected);
    out->n_candidates = counts.n_candidates;
    out->n_timed = counts.n_timed;
    out->least_B = counts.least_B;
    return 0;
}

/* Plans that are alike, at the same bandwidths, are one of those that were found. */
static void fold_found(struct search_result *r, int32_t n_dims)
{
    int32_t n = 0;
    for (int32_t i = 0; i < r->n_found; i++) {
        struct search_found *last = n ? &r->found[n - 1] : NULL;
        if (last && search_alike(last, &r->found[i]) == 0 && is_same_split(last, &r->found[i], n_dims))
            last->alike += 1 + r->found[i].alike;
        else
            r->found[n++] = r->found[i];
    }
    r->n_found = n;
}

static int search_workload(struct design_choice *c, int32_t i, const double *bw_Bps,
                           struct search_shelf *shelf, struct err *e)
{
    const struct design_point *s = c->point;
    const struct training *base = s->workloads[i].training;
    struct search_result *out = &c->plans[i];
    struct search_space space = { 0 }; /* lists that are short of their room are hashed with it */
    struct search_book book;
    int rc = search_read_space(&space, s, base->search, bw_Bps != NULL, e);
    rc = rc ? rc : search_book_open(&book, shelf, &space, s, base, e);
    if (rc)
        return rc;
    if (bw_Bps)
        rc = search_given(out, &book, bw_Bps, e);
    else if (s->pricing == DESIGN_WHOLE)
        rc = search_whole(out, &book, e);
    else
        rc = search_split_kept(out, &book, c->kept, e);
    rc = rc ? rc : search_count_plans(out, &book, shelf, e);
    fold_found(out, s->net.n_dims);
    search_book_close(&book, shelf);
    if (rc)
        return rc;
    return out->n_found ? choice_take_plan(c, i, &out->found[0].plan, e)
                        : search_fail(s, base->search, out, e);
}

int search_plans(struct design_choice *c, const double *bw_Bps, struct search_shelf *shelf, struct err *e)
{
    const int32_t n = c->asked->n_workloads;
    int32_t n_searched = 0;
    int rc = 0;
    for (int32_t i = 0; i < n; i++)
        n_searched += design_point_is_searched(&c->asked->workloads[i]);
    if (!n_searched)
        return 0;
    c->plans = calloc((size_t)n, sizeof *c->plans);
    if (!c->plans)
        return err_nomem(e, "a search");
    if (n > 1 && !bw_Bps)
        rc = search_mix(c, shelf, e);
    for (int32_t i = 0; i < n && !rc && (n == 1 || bw_Bps); i++)
        if (design_point_is_searched(&c->asked->workloads[i]))
            rc = search_workload(c, i, bw_Bps, shelf, e);
    if (rc)
        return rc;
    search_note_unused(&c->notes, c->point);
    design_point_note_curves(&c->notes, c->point, true);
    return text_check(&c->notes, e);
}
