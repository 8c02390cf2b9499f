/*
 * The lattice of a study's whole designs, entry by entry: what bandwidths its ports give, and what each
 * costs.
 *
 * A plain dimension has the multiples of one link more at every NPU; a fabric with free tapers all
 * combinations of links at NPUs and links up from every subtree. What cannot be built (no Clos so large, a
 * leaf with too many ports) is left out; the price of the rest is the bill's (topo_spend()), so what is
 * optimised is what is bought.
 *
 * An entry of more than ALL_CHOICES combinations is not written down as a whole: ranges of links are halved,
 * and a box of bandwidths is left out where no design in it can be as good as one that is known
 * (whole_cuts_bound()). Such an entry comes last, held against what the others add at least; the known
 * design is the relaxation's split rounded, and moved by steps as long as that helps.
 *
 * Invariant: a combination that is left out is in no best design, and in none that ties with it; where more
 * than ALL_TIES are left those that at best tie and cost more are left out too, and ties are not counted.
 */
#include "kinds/design/answer/whole.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/bound.h"
#include "alloc/incumbent.h"
#include "alloc/lp.h"
#include "base/vec.h"
#include "kinds/design/ask/system.h"

enum { D = TOPO_MAX_DIMS, ALL_CHOICES = 1 << 15, ALL_TIES = 1 << 17 };

/** Boxes of one entry, some seconds; a relaxation solved anew counts as so many. */
enum { MAX_WORK = 1 << 20, SHARPEN_WORK = 1 << 13 };

/** Boxes with a bound this much above the best known are left out; more than rounding, less than a tie. */
#define WORSE_REL 1e-9

/** Choices of one entry as they are found. */
struct menu {
    double *bw_Bps;               /**< shape [n][n_dims] */
    double *spent[N_ALLOC_SPENT]; /**< shape [n] each */
    int64_t n, cap;
};

struct maker {
    const struct design_point *study;
    const struct alloc_problem *problem;
    double most_Bps[D]; /**< no better design has more, but for rounding */
    double bw_Bps[D];   /**< of the entry under way */
    struct menu menus[D];
    struct whole_block blocks[D]; /**< of each entry, those under way or to come with n = 0 */
    int32_t n_blocks, at;         /**< the entry under way */
    struct err why;               /**< why the last choice cannot be built */
    bool too_many;
    int64_t work;           /**< boxes that were bounded in the entry under way */
    bool cut_short;         /**< of an entry only the known design is there, as it has too many choices */
    bool bounded[D];        /**< entries of which only some choices are written down */
    double n_points;        /**< combinations, those that were left out too */
    struct incumbent known; /**< price in USD */
    double known_Bps[D];
    double rest_usd; /**< what the other entries' parts cost at least, and all that is fixed */
    bool cheapest;   /**< ties that cost more are left out */
    struct whole_cuts cuts;
    struct whole_box box; /**< of the bounded entry under way */
    double *rest_row;     /**< shape [problem->n_rows], owned: least that all else adds to the left sides */
};

/* ---- how far bandwidths can go ---- */

/* What rows of one bandwidth ask for at least, as min_GBps does. */
static double asked_Bps(const struct alloc_problem *p, int32_t d)
{
    double least_Bps = 0;
    for (int32_t i = 0; i < p->n_rows; i++) {
        const struct alloc_row *row = &p->rows[i];
        bool alone = row->sense == LINEXPR_GE && row->coef[d] > 0;
        for (int32_t k = 0; k < p->step->n_dims; k++)
            alone = alone && (k == d || row->coef[k] == 0);
        least_Bps = alone ? fmax(least_Bps, row->rhs / row->coef[d]) : least_Bps;
    }
    return least_Bps;
}

/* A design near `factor` times the relaxation's split: every free bandwidth rounded up to what ports give, or
 * down where rows ask for less, a link at least, and what a row asks for. */
static void round_split(double *bw_Bps, const struct maker *m, const double *relaxed_Bps, double factor)
{
    const struct design_point *s = m->study;
    for (int32_t d = 0; d < s->net.n_dims; d++) {
        const struct topo_dim *dim = &s->net.dims[d];
        double step_Bps = topo_port_step_Bps(&s->net, d, &s->parts);
        if (!isnan(dim->bw_Bps) || !(step_Bps > 0)) {
            bw_Bps[d] = isnan(dim->bw_Bps) ? dim->tie * bw_Bps[d - 1] : dim->bw_Bps;
            continue;
        }
        double links = ceil(fmax(factor * relaxed_Bps[d], asked_Bps(m->problem, d)) / step_Bps * (1 - 1e-9));
        bw_Bps[d] = step_Bps * fmax(fmin(links, floor(m->most_Bps[d] / step_Bps * (1 + 1e-9))), 1);
    }
}

/* Rounding of rows that hold with equality, such as those of tapers, and of the limit on time. */
#define KNOWN_REL 1e-13
#define TIME_REL  1e-12

/* What is tied to bandwidth @p d. */
static void follow_ties(double *bw_Bps, const struct topo_network *net, int32_t d)
{
    for (int32_t k = d + 1;
         k < net->n_dims && net->dims[k].level > 0 && isnan(net->dims[k].bw_Bps) && net->dims[k].tie > 0; k++)
        bw_Bps[k] = net->dims[k].tie * bw_Bps[k - 1];
}

/* A free bandwidth by so many links more, what is tied to it along; false: it has none, or there are not so
 * many. */
static bool move_links(double *bw_Bps, const struct maker *m, int32_t d, int32_t links)
{
    const struct topo_network *net = &m->study->net;
    double step_Bps = topo_port_step_Bps(net, d, &m->study->parts), to_Bps;
    if (!isnan(net->dims[d].bw_Bps) || !(step_Bps > 0))
        return false;
    to_Bps = step_Bps * (round(bw_Bps[d] / step_Bps) + links);
    if (!(to_Bps > 0 && to_Bps <= m->most_Bps[d] * (1 + 1e-9)))
        return false;
    bw_Bps[d] = to_Bps;
    follow_ties(bw_Bps, net, d);
    return true;
}

static bool rows_hold(const struct alloc_problem *p, const double *bw_Bps, const double *spent,
                      int32_t n_dims, double rel)
{
    for (int32_t i = 0; i < p->n_rows; i++)
        if (fabs(alloc_outside_spent(&p->rows[i], bw_Bps, spent, n_dims)) > rel)
            return false;
    return true;
}

double design_whole_factor(const struct alloc_problem *p, const double *bw_Bps, const double *spent,
                           int32_t n_dims)
{
    double total_Bps = 0, growth = 1;
    if (alloc_is_time(p->objective))
        return 1;
    switch (alloc_objectives[p->objective].counted) {
    case ALLOC_COUNTED_USD:
        return spent[ALLOC_USD] + p->usd_fixed;
    case ALLOC_COUNTED_BANDWIDTH:
        for (int32_t d = 0; d < n_dims; d++)
            total_Bps += bw_Bps[d];
        return total_Bps;
    case ALLOC_COUNTED_FACTOR:
        break;
    }
    if (p->growth)
        growth = p->growth(p->about, spent[ALLOC_STOPS] * (1 - TIME_REL));
    return growth * (p->factor_fixed + p->factor_unit * spent[p->factor]);
}

double design_whole_value(const struct alloc_problem *p, double factor, double time_s)
{
    return alloc_is_late(p, time_s) ? (double)INFINITY : alloc_value_of(p->objective, time_s, factor);
}

/* What the objective is there; INFINITY where a row is broken or parts cannot be had. */
static double value_there(double *usd, const struct design_point *s, const struct alloc_problem *p,
                          const double *bw_Bps)
{
    double spent[N_ALLOC_SPENT];
    struct err ignored = { 0 };
    if (system_spend(spent, s, 0, s->net.n_dims, bw_Bps, &ignored) ||
        !rows_hold(p, bw_Bps, spent, s->net.n_dims, KNOWN_REL))
        return INFINITY;
    double time_s = step_time(p->step, bw_Bps);
    *usd = spent[ALLOC_USD] + p->usd_fixed;
    double value = p->exact
                       ? p->exact(p->about, bw_Bps, time_s)
                       : design_whole_value(p, design_whole_factor(p, bw_Bps, spent, s->net.n_dims), time_s);
    return isnan(value) ? (double)INFINITY : value;
}

/* Take a design as the best known, if it is better, or as good and cheaper. */
static bool know_design(struct maker *m, const double *bw_Bps)
{
    double usd, value = value_there(&usd, m->study, m->problem, bw_Bps);
    if (!isfinite(value) || incumbent_compare(&m->known, value, usd) >= 0)
        return false;
    m->known.value = fmin(m->known.value, value);
    m->known.price = usd;
    memcpy(m->known_Bps, bw_Bps, sizeof m->known_Bps);
    return true;
}

/* Is a design known, or only what it has to beat? */
static bool knows_design(const struct maker *m)
{
    return isfinite(m->known.price);
}

/* Move the best known design by many links at a time, then by fewer, in one dimension or between two. */
static void improve_known(struct maker *m)
{
    const struct topo_network *net = &m->study->net;
    enum { MOST_LINKS = 4096 };
    for (int32_t links = MOST_LINKS, moved = 0; links > 0 && knows_design(m);
         links = moved ? links : links / 2) {
        moved = 0;
        for (int32_t up = 0; up < net->n_dims; up++)
            for (int32_t down = -1; down < net->n_dims; down++)
                for (int32_t sign = -1; sign < 2; sign += 2) {
                    double bw_Bps[D];
                    memcpy(bw_Bps, m->known_Bps, sizeof bw_Bps);
                    if (down == up || (down >= 0 && sign < 0) || !move_links(bw_Bps, m, up, sign * links) ||
                        (down >= 0 && !move_links(bw_Bps, m, down, -links)))
                        continue;
                    moved |= know_design(m, bw_Bps);
                }
    }
}

/* What a row leaves for a bandwidth when all others have what they have at least: @p least_Bps, shape
 * [n_dims]. Whole parts spend no less than the row's linear prices say. */
static void cap_by_rows(struct maker *m, const double *least_Bps)
{
    const struct alloc_problem *p = m->problem;
    for (int32_t i = 0; i < p->n_rows; i++) {
        const struct alloc_row *row = &p->rows[i];
        double left = row->rhs;
        bool adds = row->sense != LINEXPR_GE;
        for (int32_t d = 0; d < p->step->n_dims; d++) {
            left -= row->coef[d] * least_Bps[d];
            adds = adds && row->coef[d] >= 0 && row->money_coef[d] >= 0;
        }
        for (int32_t d = 0; d < p->step->n_dims && adds; d++)
            if (row->coef[d] > 0)
                m->most_Bps[d] =
                    fmin(m->most_Bps[d], fmax(left / row->coef[d] + least_Bps[d], 0) * (1 + 1e-9));
    }
}

/* Bandwidths that rows alone limit, and those that a known design limits: what costs more on its own, by the
 * linear price, is no better. */
static void find_most(struct maker *m, const struct alloc_answer *relaxed)
{
    const struct alloc_problem *p = m->problem, counted = alloc_with_factor(p);
    static const double factors[] = { 1, 0.9, 0.75, 0.5, 0.25, 0.1, 0 }, more[] = { 1.1, 1.5, 4 };
    double bw_Bps[D];
    for (int32_t d = 0; d < D; d++)
        m->most_Bps[d] = INFINITY;
    round_split(bw_Bps, m, relaxed->bw_Bps, 0);
    for (int32_t d = 0; d < p->step->n_dims; d++)
        if (isnan(m->study->net.dims[d].bw_Bps) && !alloc_carries_traffic(p->step, d))
            bw_Bps[d] = 0;
    alloc_find_caps(m->most_Bps, p);
    cap_by_rows(m, bw_Bps);
    bool product = alloc_is_product(p->objective);
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        round_split(bw_Bps, m, relaxed->bw_Bps, factors[i]);
        know_design(m, bw_Bps);
    }
    for (size_t i = 0; i < sizeof more / sizeof *more && !knows_design(m); i++) {
        round_split(bw_Bps, m, relaxed->bw_Bps, more[i]);
        know_design(m, bw_Bps);
    }
    if (!alloc_needs_prices(p->objective))
        return;
    /* In USD, or whatever else the objective counts. */
    double value = m->known.value, least_s = step_time(p->step, m->most_Bps) * (1 - 1e-12), least_usd[D],
           sum_usd = counted.usd_fixed;
    /* At least a link in all others, where there is traffic. */
    round_split(bw_Bps, m, relaxed->bw_Bps, 0);
    for (int32_t d = 0; d < p->step->n_dims; d++) {
        least_usd[d] =
            alloc_carries_traffic(p->step, d) ? counted.usd_per_Bps[d] * bw_Bps[d] * (1 - 1e-9) : 0;
        sum_usd += least_usd[d];
    }
    double usd =
        (product ? (least_s > 0 ? value / least_s : (double)INFINITY) : value) * (1 + 1e-9) - sum_usd;
    for (int32_t d = 0; d < p->step->n_dims; d++)
        if (counted.usd_per_Bps[d] > 0)
            m->most_Bps[d] = fmin(m->most_Bps[d], (usd + least_usd[d]) / counted.usd_per_Bps[d]);
}

/* The bandwidth that nothing limits though more of it may help, -1 = none. */
static int32_t find_unlimited(const struct maker *m)
{
    const struct topo_network *net = &m->study->net;
    for (int32_t d = 0; d < net->n_dims; d++)
        if (isnan(net->dims[d].bw_Bps) && net->dims[d].level == 0 && isinf(m->most_Bps[d]) &&
            alloc_carries_traffic(m->problem->step, d))
            return d;
    return -1;
}

/* ---- choices ---- */

static int add_levels(struct maker *m, int32_t first, int32_t d, int32_t n_dims, struct err *e);
static bool whole_is_worse(struct maker *m, double usd);

static int menu_add(struct maker *m, int32_t first, int32_t n_dims, struct err *e)
{
    struct menu *menu = &m->menus[m->at];
    double spent[N_ALLOC_SPENT];
    int rc = system_spend(spent, m->study, first, n_dims, m->bw_Bps, &m->why);
    if (rc)
        return rc == ERR_NOMEM ? err_nomem(e, "a bill") : 0;
    if (m->bounded[m->at] && whole_is_worse(m, spent[ALLOC_USD]))
        return 0;
    if (menu->n == (m->bounded[m->at] && !m->cheapest ? ALL_TIES : WHOLE_MAX_CHOICES)) {
        m->too_many = true;
        return 0;
    }
    if (menu->n == menu->cap) {
        int64_t cap = menu->cap ? 2 * menu->cap : 64;
        bool grown = vec_resize(menu->bw_Bps, cap * n_dims);
        for (int32_t j = 0; j < N_ALLOC_SPENT && grown; j++)
            grown = vec_resize(menu->spent[j], cap);
        if (!grown)
            return err_nomem(e, "whole parts");
        menu->cap = cap;
    }
    memcpy(&menu->bw_Bps[menu->n * n_dims], &m->bw_Bps[first], (size_t)n_dims * sizeof *menu->bw_Bps);
    for (int32_t j = 0; j < N_ALLOC_SPENT; j++)
        menu->spent[j][menu->n] = spent[j];
    menu->n++;
    return 0;
}

/* Is anything sent through level d, or through what is tied to it? */
static bool carries_traffic(const struct maker *m, int32_t d)
{
    const struct topo_network *net = &m->study->net;
    int32_t end = d - net->dims[d].level + (net->dims[d].n_levels > 1 ? net->dims[d].n_levels : 1);
    bool carries = alloc_carries_traffic(m->problem->step, d);
    for (d++; d < end && net->dims[d].tie > 0; d++)
        carries = carries || alloc_carries_traffic(m->problem->step, d);
    return carries;
}

/* Level d's links when the level below has @p below_Bps: from *least to the one returned, a link more than is
 * allowed for the step up, links up at most as many as links down. 0 and 0: it has no choice. */
static int64_t level_links(int64_t *least, const struct maker *m, int32_t d, double below_Bps)
{
    const struct topo_network *net = &m->study->net;
    double step_Bps = topo_port_step_Bps(net, d, &m->study->parts);
    *least = 0;
    if (!isnan(net->dims[d].bw_Bps) || !(step_Bps > 0))
        return 0;
    *least = carries_traffic(m, d) ? 1 : 0;
    double most_Bps = fmin(m->most_Bps[d] + step_Bps, TOPO_MAX_BW_GBps * 1e9);
    if (net->dims[d].level > 0)
        most_Bps = fmin(most_Bps, below_Bps);
    return (int64_t)floor(most_Bps / step_Bps * (1 + 1e-9));
}

/* Bandwidth of a level without choice. */
static double bound_Bps(const struct maker *m, int32_t d, double below_Bps)
{
    const struct topo_dim *dim = &m->study->net.dims[d];
    return isnan(dim->bw_Bps) ? dim->tie * below_Bps : dim->bw_Bps;
}

/* Has level d of an entry a choice? */
static bool has_choice(const struct maker *m, int32_t d)
{
    return isnan(m->study->net.dims[d].bw_Bps) && topo_port_step_Bps(&m->study->net, d, &m->study->parts) > 0;
}

/* Combinations of levels d and above; of each level so many numbers of links one by one, between them in
 * proportion. */
static double count_levels(const struct maker *m, int32_t d, int32_t end, double below_Bps,
                           int64_t one_by_one)
{
    int64_t least, most;
    double n = 0, step_Bps;
    if (d == end)
        return 1;
    if (!has_choice(m, d))
        return count_levels(m, d + 1, end, bound_Bps(m, d, below_Bps), one_by_one);
    step_Bps = topo_port_step_Bps(&m->study->net, d, &m->study->parts);
    most = level_links(&least, m, d, below_Bps);
    if (d + 1 == end)
        return fmax((double)(most - least + 1), 0);
    int64_t by = (most - least) / one_by_one + 1;
    for (int64_t k = least; k <= most; k += by) {
        double in = (double)(k + by <= most ? by : most - k + 1);
        n += in * count_levels(m, d + 1, end, step_Bps * ((double)k + (in - 1) / 2), one_by_one);
    }
    return n;
}

/* Limits of levels d and above in the box, when level d - 1 lies between those that stand there. */
static void set_box(struct maker *m, int32_t d, int32_t end)
{
    struct whole_box *box = &m->box;
    for (; d < end; d++) {
        int64_t least = 0, most = 0;
        double step_Bps = topo_port_step_Bps(&m->study->net, d, &m->study->parts),
               lo_Bps = d > box->first ? box->lo_Bps[d - 1] : 0,
               hi_Bps = d > box->first ? box->hi_Bps[d - 1] : 0;
        if (has_choice(m, d))
            most = level_links(&least, m, d, hi_Bps);
        box->lo_Bps[d] = has_choice(m, d) ? step_Bps * (double)least : bound_Bps(m, d, lo_Bps);
        box->hi_Bps[d] = has_choice(m, d) ? step_Bps * (double)most : bound_Bps(m, d, hi_Bps);
    }
}

/* Least that a block, or the limits of dimensions that are in none yet, add to a row; of money what is spent
 * in USD at least, the rest by linear prices. -INFINITY where nothing can be said. */
static double row_least(const struct maker *m, const struct alloc_row *row, const struct whole_block *b)
{
    double least = b->n ? INFINITY : 0;
    for (int32_t j = 0; j < N_ALLOC_SPENT; j++)
        if (row->spent_coef[j] < 0)
            return -INFINITY;
    for (int32_t d = b->first; d < b->first + b->n_dims && !b->n; d++)
        least += row->coef[d] * (row->coef[d] > 0 ? m->box.lo_Bps[d] : m->box.hi_Bps[d]);
    for (int64_t k = 0; k < b->n; k++) {
        double sum = row->spent_coef[ALLOC_USD] * b->spent[ALLOC_USD][k];
        for (int32_t d = 0; d < b->n_dims; d++)
            sum += (row->coef[b->first + d] -
                    row->spent_coef[ALLOC_USD] * m->problem->usd_per_Bps[b->first + d]) *
                   b->bw_Bps[k * b->n_dims + d];
        least = fmin(least, sum);
    }
    return least;
}

/* Does a row that limits something forbid all of the box? */
static bool is_forbidden(const struct maker *m)
{
    const struct whole_box *box = &m->box;
    const struct whole_block own = { .first = box->first, .n_dims = box->n_dims };
    for (int32_t i = 0; i < m->problem->n_rows; i++) {
        const struct alloc_row *row = &m->problem->rows[i];
        double sum = m->rest_row[i] + row_least(m, row, &own) + row->spent_coef[ALLOC_USD] * box->more_usd;
        if (row->sense == LINEXPR_LE && sum > row->rhs + WORSE_REL * fmax(fabs(row->rhs), fabs(sum)))
            return true;
    }
    return false;
}

/* Is no design in the box as good as the one that is known? @p usd: of the entry's parts, all of whose
 * bandwidths are chosen; NaN: not known yet. */
static bool whole_is_worse(struct maker *m, double usd)
{
    struct whole_box *box = &m->box;
    box->more_usd = 0;
    for (int32_t d = box->first; d < box->first + box->n_dims && !isnan(usd); d++)
        usd -= m->problem->usd_per_Bps[d] * box->lo_Bps[d];
    box->more_usd = usd > 0 ? usd : 0;
    if (is_forbidden(m))
        return true;
    m->too_many = m->too_many || ++m->work > MAX_WORK;
    double bound = whole_cuts_bound(&m->cuts, box), usd_least = m->rest_usd + box->more_usd;
    for (int32_t d = box->first; d < box->first + box->n_dims; d++)
        usd_least += m->problem->usd_per_Bps[d] * box->lo_Bps[d];
    return incumbent_rules_out_priced(&m->known, bound, m->cheapest ? usd_least : -INFINITY);
}

/* What the choices of all other blocks cost beyond linear prices, at least. */
static double least_beyond(const struct maker *m)
{
    double sum = 0;
    for (int32_t b = 0; b < m->n_blocks; b++) {
        const struct whole_block *block = &m->blocks[b];
        double least = block->n ? INFINITY : 0;
        for (int64_t k = 0; k < block->n; k++) {
            double more = block->spent[ALLOC_USD][k];
            for (int32_t d = 0; d < block->n_dims; d++)
                more -= m->problem->usd_per_Bps[block->first + d] * block->bw_Bps[k * block->n_dims + d];
            least = fmin(least, more);
        }
        sum += fmax(least, 0);
    }
    return sum;
}

/*
 * Levels first..d of the bounded entry are chosen, and there is much above: the relaxation with these fixed,
 * and with what the other entries cost in whole parts, gives multipliers for all below here, and a design to
 * begin with. *dead: not even fractions satisfy the rows.
 */
static int sharpen(bool *dead, struct maker *m, int32_t d, struct err *e)
{
    struct alloc_problem fixed = *m->problem;
    struct alloc_answer answer;
    double beyond_usd = least_beyond(m), bw_Bps[D];
    struct alloc_row *rows = calloc((size_t)fixed.n_rows + D, sizeof *rows);
    if (!rows)
        return err_nomem(e, "constraints");
    memcpy(rows, fixed.rows, (size_t)fixed.n_rows * sizeof *rows);
    for (int32_t i = 0; i < fixed.n_rows; i++)
        rows[i].rhs -= rows[i].sense == LINEXPR_LE ? fmax(rows[i].spent_coef[ALLOC_USD], 0) * beyond_usd : 0;
    for (int32_t k = m->box.first; k <= d; k++)
        if (has_choice(m, k)) {
            struct alloc_row row = {
                .sense = LINEXPR_EQ, .rhs = m->bw_Bps[k], .unit = 1e9, .unit_name = "GB/s"
            };
            row.coef[k] = 1;
            rows[fixed.n_rows++] = row;
        }
    fixed.rows = rows;
    fixed.usd_fixed += beyond_usd;
    int rc = alloc_solve(&answer, &fixed, e);
    free(rows);
    if (rc)
        return rc;
    *dead = answer.status == ALLOC_INFEASIBLE;
    if (alloc_has_split(&answer)) {
        round_split(bw_Bps, m, answer.bw_Bps, 1);
        know_design(m, bw_Bps);
        improve_known(m);
        rc = whole_cuts_build(&m->cuts, m->problem, &answer, answer.bw_Bps, e);
        if (!rc)
            whole_cuts_rest(&m->cuts, &m->box, m->blocks, m->n_blocks);
    }
    alloc_answer_free(&answer);
    return rc;
}

/* Links from..to of level d of a bounded entry, halved until a box is left out or holds one number of them.
 */
static int add_range(struct maker *m, int32_t d, int64_t from, int64_t to, struct err *e)
{
    int32_t first = m->box.first, end = first + m->box.n_dims;
    double step_Bps = topo_port_step_Bps(&m->study->net, d, &m->study->parts);
    if (from > to || m->too_many)
        return 0;
    m->box.lo_Bps[d] = step_Bps * (double)from;
    m->box.hi_Bps[d] = step_Bps * (double)to;
    set_box(m, d + 1, end);
    if (whole_is_worse(m, NAN))
        return 0;
    if (from < to) {
        int64_t half = from + (to - from) / 2;
        int rc = add_range(m, d, from, half, e);
        return rc ? rc : add_range(m, d, half + 1, to, e);
    }
    m->bw_Bps[d] = step_Bps * (double)from;
    if (m->work > MAX_WORK / 2 || count_levels(m, d + 1, end, m->bw_Bps[d], 16) <= ALL_CHOICES)
        return add_levels(m, first, d + 1, end - first, e);
    const struct whole_cuts before = m->cuts;
    bool dead = false;
    m->work += SHARPEN_WORK;
    int rc = sharpen(&dead, m, d, e);
    set_box(m, d + 1, end);
    if (!rc && !dead && !whole_is_worse(m, NAN))
        rc = add_levels(m, first, d + 1, end - first, e);
    m->cuts = before;
    return rc;
}

/* Bandwidths of level d of the entry that begins at `first`, all lower levels chosen; then those above. */
static int add_levels(struct maker *m, int32_t first, int32_t d, int32_t n_dims, struct err *e)
{
    double below_Bps = d > first ? m->bw_Bps[d - 1] : 0,
           step_Bps = d < first + n_dims ? topo_port_step_Bps(&m->study->net, d, &m->study->parts) : 0;
    int64_t least, most;
    int rc = 0;
    if (d == first + n_dims)
        return menu_add(m, first, n_dims, e);
    if (!has_choice(m, d)) {
        m->bw_Bps[d] = bound_Bps(m, d, below_Bps);
        m->box.lo_Bps[d] = m->box.hi_Bps[d] = m->bw_Bps[d];
        return add_levels(m, first, d + 1, n_dims, e);
    }
    most = level_links(&least, m, d, below_Bps);
    if (m->bounded[m->at])
        return add_range(m, d, least, most, e);
    for (int64_t k = least; k <= most && !rc && !m->too_many; k++) {
        m->bw_Bps[d] = step_Bps * (double)k;
        rc = add_levels(m, first, d + 1, n_dims, e);
    }
    return rc;
}

/* The entry's block without its choices; are they more than are written down as a whole? */
static void begin_entry(struct maker *m, int32_t first, int32_t n_dims)
{
    double n = count_levels(m, first, first + n_dims, 0, 1024);
    m->bounded[m->n_blocks] = n > ALL_CHOICES;
    m->n_points *= m->bounded[m->n_blocks] ? n : 1;
    struct whole_block *block = &m->blocks[m->n_blocks++];
    *block = (struct whole_block){ .first = first, .n_dims = n_dims };
    for (int32_t d = 0; d < n_dims; d++)
        block->tied |= has_choice(m, first + d) ? 0 : 1u << d;
}

/* What the cheapest choice of an entry costs; of one that has none yet by linear prices. */
static double least_usd(const struct maker *m, const struct whole_block *b)
{
    double least = b->n ? INFINITY : 0;
    for (int32_t d = b->first; d < b->first + b->n_dims && !b->n; d++)
        least += m->problem->usd_per_Bps[d] * m->box.lo_Bps[d];
    for (int64_t k = 0; k < b->n; k++)
        least = fmin(least, b->spent[ALLOC_USD][k]);
    return least;
}

static int add_entry(struct maker *m, int32_t b, struct err *e)
{
    struct whole_block *block = &m->blocks[b];
    struct menu *menu = &m->menus[b];
    const struct topo_network *net = &m->study->net;
    m->at = b;
    m->box = (struct whole_box){ .first = block->first, .n_dims = block->n_dims };
    if (m->bounded[b]) {
        for (int32_t d = 0; d < net->n_dims; d = topo_after_entry(net->dims, d)) {
            m->box.first = d;
            set_box(m, d, topo_after_entry(net->dims, d));
        }
        m->box.first = block->first;
        whole_cuts_rest(&m->cuts, &m->box, m->blocks, m->n_blocks);
        m->rest_usd = m->problem->usd_fixed;
        for (int32_t k = 0; k < m->n_blocks; k++)
            m->rest_usd += k == b ? 0 : least_usd(m, &m->blocks[k]);
        for (int32_t i = 0; i < m->problem->n_rows; i++) {
            m->rest_row[i] = 0;
            for (int32_t k = 0; k < m->n_blocks; k++)
                m->rest_row[i] += k == b ? 0 : row_least(m, &m->problem->rows[i], &m->blocks[k]);
        }
    }
    m->work = 0;
    int rc = add_levels(m, block->first, block->first, block->n_dims, e);
    if (!rc && m->too_many && m->work <= MAX_WORK && m->bounded[b] && !m->cheapest) {
        m->cheapest = true;
        m->too_many = false;
        menu->n = 0;
        m->work = 0;
        rc = add_levels(m, block->first, block->first, block->n_dims, e);
    }
    if (!rc && m->too_many && m->bounded[b] && knows_design(m)) {
        m->too_many = m->bounded[b] = false;
        m->cut_short = true;
        menu->n = 0;
        memcpy(m->bw_Bps, m->known_Bps, sizeof m->bw_Bps);
        rc = menu_add(m, block->first, block->n_dims, e);
        m->bounded[b] = true;
    }
    if (rc)
        return rc;
    block->n = menu->n;
    block->bw_Bps = menu->bw_Bps;
    memcpy(block->spent, menu->spent, sizeof block->spent);
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): m holds the menu, which is freed with it */
    m->n_points *= m->bounded[b] ? 1 : (double)menu->n;
    return 0;
}

static void give_up(struct whole_answer *out, enum alloc_status status, const char *what, const char *name,
                    const char *why)
{
    *out = (struct whole_answer){ .status = status, .value = NAN };
    snprintf(out->reason, sizeof out->reason, "%s \"%s\"%s%.900s", what, name, *why ? ": " : "", why);
}

/* Entries of few choices first: a bounded one is held against what they add. */
static int add_entries(struct maker *m, struct whole_answer *out, const struct alloc_answer *relaxed,
                       struct err *e)
{
    const struct topo_network *net = &m->study->net;
    for (int32_t pass = 0; pass < 2; pass++)
        for (int32_t b = 0; b < m->n_blocks; b++) {
            const char *name = net->dims[m->blocks[b].first].name;
            int rc = 0;
            if (m->bounded[b] != (pass == 1))
                continue;
            if (pass == 1 && m->cuts.p == NULL) {
                improve_known(m);
                m->rest_row = calloc((size_t)m->problem->n_rows + 1, sizeof *m->rest_row);
                if (!m->rest_row)
                    return err_nomem(e, "constraints");
                rc =
                    whole_cuts_build(&m->cuts, m->problem, relaxed, knows_design(m) ? m->known_Bps : NULL, e);
            }
            rc = rc ? rc : add_entry(m, b, e);
            if (rc)
                return rc;
            if (m->too_many)
                give_up(out, ALLOC_STALLED, "too many combinations of parts for", name,
                        "give max_GBps, fixed tapers or pricing: fraction");
            else if (m->menus[b].n == 0)
                give_up(out, ALLOC_INFEASIBLE, "no whole parts can be had for", name,
                        *m->why.msg ? m->why.msg : "none that satisfies all constraints");
            if (out->reason[0])
                return 0;
        }
    return 0;
}

/* The neighbour of a design in a bounded entry, which may have been left out: the nearest that is to be had.
 */
static void find_step_beyond(struct whole_step *step, struct maker *m, const struct whole_answer *out,
                             int32_t b, int32_t d, int32_t by)
{
    const struct design_point *s = m->study;
    const struct whole_block *block = &m->blocks[b];
    const struct alloc_problem *p = m->problem;
    double bw_Bps[D], step_Bps = topo_port_step_Bps(&s->net, d, &s->parts), usd[2];
    struct topo_spent spent;
    int64_t least, most = level_links(&least, m, d, d > block->first ? out->bw_Bps[d - 1] : 0),
                   k = llround(out->bw_Bps[d] / step_Bps);
    *step = (struct whole_step){ .broken = -1 };
    memcpy(bw_Bps, out->bw_Bps, sizeof bw_Bps);
    for (int32_t i = 0; i < 2; i++) {
        bool there = i == 0;
        for (; !there && (k += by) >= least && k <= most;) {
            bw_Bps[d] = step_Bps * (double)k;
            /* Links up are no more than links down, and what is tied to them follows. */
            follow_ties(bw_Bps, &s->net, d);
            there = !(d + 1 < block->first + block->n_dims && has_choice(m, d + 1) &&
                      bw_Bps[d + 1] > bw_Bps[d] * (1 + 1e-9));
            spent = (struct topo_spent){ 0 };
            there = there &&
                    !topo_spend(&spent, &s->net, &s->parts, block->first, block->n_dims, bw_Bps, &m->why);
        }
        if (!there)
            return;
        spent = (struct topo_spent){ 0 };
        if (topo_spend(&spent, &s->net, &s->parts, block->first, block->n_dims, bw_Bps, &m->why))
            return;
        usd[i] = spent.usd;
    }
    step->there = true;
    step->bw_Bps = bw_Bps[d];
    step->time_s = step_time(p->step, bw_Bps);
    step->cost_usd = out->cost_usd + usd[1] - usd[0];
    step->late = alloc_is_late(p, step->time_s);
    double all[N_ALLOC_SPENT];
    if (system_spend(all, s, 0, s->net.n_dims, bw_Bps, &m->why))
        return;
    for (int32_t i = 0; i < p->n_rows && step->broken < 0; i++)
        if (fabs(alloc_outside_spent(&p->rows[i], bw_Bps, all, s->net.n_dims)) > KNOWN_REL)
            step->broken = i;
}

static void find_steps_beyond(struct whole_answer *out, struct maker *m)
{
    for (int32_t b = 0; b < m->n_blocks; b++)
        for (int32_t d = m->blocks[b].first; d < m->blocks[b].first + m->blocks[b].n_dims && m->bounded[b];
             d++)
            if (has_choice(m, d)) {
                find_step_beyond(&out->up[d], m, out, b, d, 1);
                find_step_beyond(&out->down[d], m, out, b, d, -1);
            }
}

/* Are there parts for the relaxation's split, rounded up, or for a link everywhere; if not, m->why. */
static bool can_build(struct maker *m, const struct alloc_answer *relaxed)
{
    const struct design_point *s = m->study;
    bool can = false;
    for (int32_t factor = 1; factor >= 0 && !can; factor--) {
        struct topo_spent spent = { 0 };
        double bw_Bps[D];
        round_split(bw_Bps, m, relaxed->bw_Bps, factor);
        can = topo_spend(&spent, &s->net, &s->parts, 0, s->net.n_dims, bw_Bps, &m->why) == 0;
    }
    return can;
}

static int make(struct maker *m, struct whole_answer *out, const struct alloc_answer *relaxed, struct err *e)
{
    const struct topo_network *net = &m->study->net;
    find_most(m, relaxed);
    int32_t unlimited = find_unlimited(m);
    if (unlimited >= 0 && !can_build(m, relaxed)) {
        *out = (struct whole_answer){ .status = ALLOC_INFEASIBLE, .value = NAN };
        snprintf(out->reason, sizeof out->reason,
                 "no whole parts can be had, not even of a link everywhere: %.900s", m->why.msg);
        return 0;
    }
    if (unlimited >= 0) {
        give_up(out, ALLOC_ILL_POSED, "nothing limits", net->dims[unlimited].name,
                "more whole parts may always help; give a total, a maximum or a budget");
        return 0;
    }
    for (int32_t d = 0; d < net->n_dims; d = topo_after_entry(net->dims, d))
        begin_entry(m, d, topo_after_entry(net->dims, d) - d);
    int rc = add_entries(m, out, relaxed, e);
    if (rc || out->reason[0])
        return rc;
    const struct whole_lattice l = { .blocks = m->blocks, .n_blocks = m->n_blocks };
    rc = alloc_solve_whole(out, m->problem, &l, relaxed, e);
    out->n_points = m->n_points;
    out->ties_counted = out->ties_counted && !m->cheapest;
    if (!rc && out->n_ties > 0 && m->cut_short) { /* proved by fractions alone */
        out->ties_counted = false;
        out->lower_bound = fmin(out->lower_bound, relaxed->lower_bound);
        out->gap = out->value > 0 ? (out->value - out->lower_bound) / out->value : 0;
        out->status = out->gap <= ALLOC_GAP ? ALLOC_SOLVED : ALLOC_STALLED;
        if (out->status == ALLOC_STALLED)
            snprintf(
                out->reason, sizeof out->reason,
                "%.3g designs of whole parts are too many: the best found is proved to within %.2g of the "
                "optimum; give max_GBps, or fixed tapers",
                m->n_points, out->gap);
    }
    if (!rc && out->n_ties > 0 && !(m->problem->most_value > 0))
        find_steps_beyond(out, m);
    return rc;
}

static void free_menus(struct maker *m)
{
    for (int32_t b = 0; b < D; b++) {
        free(m->menus[b].bw_Bps);
        for (int32_t j = 0; j < N_ALLOC_SPENT; j++)
            free(m->menus[b].spent[j]);
    }
}

static int solve_lattice(struct whole_answer *out, const struct design_point *s,
                         const struct alloc_problem *p, const struct alloc_answer *relaxed, struct err *e)
{
    struct maker m = { .study = s, .problem = p, .n_points = 1, .known = incumbent_none(WORSE_REL) };
    m.known.value = p->most_value > 0 ? p->most_value : (double)INFINITY;
    int rc = make(&m, out, relaxed, e);
    free(m.rest_row);
    free_menus(&m);
    return rc;
}

/* ---- all of it, whatever the workload ---- */

/* Where a list stands: bandwidths and spendings of the entries so far. */
struct lister {
    const struct maker *m;
    struct whole_list *out;
    const struct whole_limit *limit;
    int64_t cap;
    double bw_Bps[D], spent[N_ALLOC_SPENT];
};

static int list_add(struct lister *x, struct err *e)
{
    struct whole_list *out = x->out;
    const struct alloc_problem *p = x->m->problem;
    int32_t n_dims = x->m->study->net.n_dims;
    double factor = design_whole_factor(p, x->bw_Bps, x->spent, n_dims);
    if (!(design_whole_value(p, factor, x->limit->least_s) <= x->limit->value) ||
        !rows_hold(p, x->bw_Bps, x->spent, n_dims, TIME_REL))
        return 0;
    out->too_many = out->n == WHOLE_LIST_MAX;
    if (out->too_many)
        return 0;
    if (!vec_reserve(out->list, x->cap, out->n + 1))
        return err_nomem(e, "whole parts");
    struct whole_design *to = &out->list[out->n++];
    *to = (struct whole_design){ .factor = factor, .usd = x->spent[ALLOC_USD] };
    memcpy(to->bw_Bps, x->bw_Bps, (size_t)n_dims * sizeof *to->bw_Bps);
    return 0;
}

/* The choices of entry @p b, each with those of all that follow. */
static int list_entry(struct lister *x, int32_t b, struct err *e)
{
    const struct whole_block *block = &x->m->blocks[b];
    const struct menu *menu = &x->m->menus[b];
    double before[N_ALLOC_SPENT];
    int rc = 0;
    if (b == x->m->n_blocks)
        return list_add(x, e);
    memcpy(before, x->spent, sizeof before);
    for (int64_t k = 0; k < menu->n && !rc && !x->out->too_many; k++) {
        memcpy(&x->bw_Bps[block->first], &menu->bw_Bps[k * block->n_dims],
               (size_t)block->n_dims * sizeof *menu->bw_Bps);
        for (int32_t j = 0; j < N_ALLOC_SPENT; j++)
            x->spent[j] = before[j] + menu->spent[j][k];
        rc = list_entry(x, b + 1, e);
    }
    memcpy(x->spent, before, sizeof before);
    return rc;
}

/* No entry has choices where nothing limits it; combinations are counted before any is made. */
static int list_all(struct whole_list *out, struct maker *m, const struct whole_limit *limit, struct err *e)
{
    const struct topo_network *net = &m->study->net;
    struct lister x = { .m = m, .out = out, .limit = limit };
    double n = 1, most = 0;
    int rc = 0;
    for (int32_t d = 0; d < net->n_dims; d = topo_after_entry(net->dims, d)) {
        int32_t end = topo_after_entry(net->dims, d);
        double n_here = count_levels(m, d, end, 0, 1024);
        n *= n_here;
        most = fmax(most, n_here);
        m->blocks[m->n_blocks++] = (struct whole_block){ .first = d, .n_dims = end - d };
    }
    out->too_many = !(n <= WHOLE_LIST_TRIED && most <= ALL_CHOICES);
    for (m->at = 0; m->at < m->n_blocks && !rc && !out->too_many; m->at++) {
        int32_t first = m->blocks[m->at].first;
        rc = add_levels(m, first, first, m->blocks[m->at].n_dims, e);
        out->too_many = m->too_many;
    }
    return rc || out->too_many ? rc : list_entry(&x, 0, e);
}

int design_list_whole(struct whole_list *out, const struct design_point *s, const struct alloc_problem *p,
                      const struct whole_limit *limit, struct err *e)
{
    struct step_fn none = { .n_dims = s->net.n_dims }; /* nothing is sent: any entry may have no links */
    struct alloc_problem asked = *p;
    struct maker m = { .study = s, .problem = &asked };
    asked.step = &none;
    *out = (struct whole_list){ 0 };
    for (int32_t d = 0; d < D; d++)
        m.most_Bps[d] = limit->most_Bps[d];
    int rc = list_all(out, &m, limit, e);
    free_menus(&m);
    return rc;
}

void design_list_free(struct whole_list *l)
{
    free(l->list);
    *l = (struct whole_list){ 0 };
}

/* The least that whole parts are: a link in every dimension that carries traffic. */
int32_t design_put_floors(struct alloc_row *rows, const struct design_point *s, const struct alloc_problem *p)
{
    int32_t n = 0;
    for (int32_t d = 0; d < s->net.n_dims; d++) {
        double step_Bps = topo_port_step_Bps(&s->net, d, &s->parts);
        if (!(step_Bps > 0) || !isnan(s->net.dims[d].bw_Bps) || !alloc_carries_traffic(p->step, d))
            continue;
        struct alloc_row row = { .sense = LINEXPR_GE, .rhs = step_Bps, .unit = 1e9, .unit_name = "GB/s" };
        row.coef[d] = 1;
        snprintf(row.name, sizeof row.name, "a port of %s", s->net.dims[d].name);
        rows[n++] = row;
    }
    return n;
}

/* Where fractions are best at bandwidths of 0, a link everywhere makes them a question with an answer. */
int design_solve_whole(struct whole_answer *out, const struct design_point *s, const struct alloc_problem *p,
                       const struct alloc_answer *relaxed, double *relaxed_bound, struct err *e)
{
    struct alloc_problem floored = *p;
    struct alloc_answer answer;
    *out = (struct whole_answer){ .status = ALLOC_STALLED, .value = NAN };
    *relaxed_bound = relaxed->lower_bound;
    if (relaxed->status != ALLOC_ILL_POSED)
        return solve_lattice(out, s, p, relaxed, e);
    struct alloc_row *rows = calloc((size_t)p->n_rows + D, sizeof *rows);
    if (!rows)
        return err_nomem(e, "constraints");
    memcpy(rows, p->rows, (size_t)p->n_rows * sizeof *rows);
    floored.rows = rows;
    floored.n_rows += design_put_floors(rows + p->n_rows, s, p);
    int rc = alloc_solve(&answer, &floored, e);
    if (!rc) {
        *relaxed_bound = alloc_has_split(&answer) ? answer.lower_bound : (double)NAN;
        rc = solve_lattice(out, s, &floored, &answer, e);
        alloc_answer_free(&answer);
    }
    free(rows);
    return rc;
}
