/** @file The time of planned steps of one place at given bandwidths, a few hundred nanoseconds each. */
#ifndef KINDS_DESIGN_EXPLORE_CLOCK_H
#define KINDS_DESIGN_EXPLORE_CLOCK_H

#include <stdint.h>

#include "alloc/bound.h"
#include "workloads/collective.h"
#include "workloads/plan_cost.h"

enum { CLOCK_SEEN = 4096 };

/** Times of collectives that the clocks of a thread found last: plans of one place send few different sizes,
 * over and over. Zero-initialise. */
struct search_seen {
    int64_t n_clocks; /**< set so far: numbers them */
    struct {
        int64_t clock; /**< 0: none */
        enum plan_group group;
        enum collective_kind kind;
        double bytes;
        struct collective_time time;
    } at[CLOCK_SEEN]; /**< each where its hash says; a later one takes the place of an earlier one */
};

/** Collectives of one place whatever their bytes and bandwidths, each found once. */
struct search_forms {
    const struct plan_place *place;
    bool linear[N_COLLECTIVES]; /**< nothing is chosen by the bytes */
    enum { FORM_BLANK, FORM_FOUND, FORM_NONE } found[N_PLAN_GROUPS][N_COLLECTIVES];
    struct collective_form forms[N_PLAN_GROUPS][N_COLLECTIVES];
};

/** Of any bandwidths of @p way. @p place is borrowed. */
void search_forms_set(struct search_forms *f, const struct collective_way *way,
                      const struct plan_place *place);

/** Times of collectives of one place, found once. */
struct search_clock {
    struct collective_way way;
    struct search_forms *forms;
    struct search_seen *seen;
    int64_t id; /**< in seen */
    /** Times are a bound over all bandwidths that are at most those of the clock and have price . B <= rent,
     * shape [n_dims]: lines are of those that suit each collective best. NULL: none. */
    const double *price;
    double rent;
    bool found[N_PLAN_GROUPS][N_COLLECTIVES];
    struct collective_lines lines[N_PLAN_GROUPS][N_COLLECTIVES];
};

/** All but the clock is borrowed and must outlive it; @p forms are set. */
void search_clock_set(struct search_clock *c, const struct collective_way *way, struct search_forms *forms,
                      struct search_seen *seen);

/** A line below the times of a collective in all places of a shape. */
struct search_least {
    bool found[N_PLAN_GROUPS][N_COLLECTIVES];
    struct {
        double const_s, s_per_B;
    } lines[N_PLAN_GROUPS][N_COLLECTIVES];
};

/** No place takes less [s]: those of @p n clocks, @p stride apart. @p least is zero at the first call for
 * them. */
double search_clock_least(struct search_least *least, struct search_clock *clocks, int32_t stride, int32_t n,
                          const struct plan_cost *cost);

/** The cut that touches T at the bandwidths of the clock, unless algorithms depend on them; all of it times
 * @p weight. @param[out] at_s  T there. */
struct alloc_cut search_tangent(double *at_s, struct search_clock *c, const struct plan_cost *cost,
                                double weight);

/** The same without a clock, at bandwidths that are asked once: those of @p way. */
struct alloc_cut search_tangent_of(const struct collective_way *way, struct search_forms *forms,
                                   const struct plan_cost *cost, double weight);

/** The same at a place that is asked once. */
struct alloc_cut search_tangent_at(const struct collective_way *way, const struct plan_place *place,
                                   const struct plan_cost *cost, double weight);

enum { SEARCH_PATH_KINDS = 7 };

/** The path that decides at some bandwidths, or a mean of such, as what it sends: const_s and, of each kind
 * of collective of a group, how often and how many bytes. Whatever these take, the step takes no less. Kinds
 * beyond the first few are left out. Zero-initialise. */
struct search_path {
    float const_s;
    uint8_t n;
    uint8_t group[SEARCH_PATH_KINDS], kind[SEARCH_PATH_KINDS];
    float times[SEARCH_PATH_KINDS], bytes[SEARCH_PATH_KINDS]; /**< shape [n] */
};

/** Rounding of a mean of up to eight paths comes to less. */
#define SEARCH_PATH_REL 1e-6

/** Add @p share of the path that decides at the bandwidths of @p way, links that collectives share left out.
 */
void search_path_add(struct search_path *path, double share, const struct collective_way *way,
                     struct search_forms *forms, const struct plan_cost *cost);

/** The path on another network, whose forms and bandwidths are those of @p way, times @p weight. */
struct alloc_cut search_path_cut(const struct search_path *path, const struct collective_way *way,
                                 struct search_forms *forms, double weight);

/** Time of a step without a clock [s]. */
double search_clock_at(const struct collective_way *way, const struct plan_place *place,
                       const struct plan_cost *cost);

/** Time of the step [s]. Of a step longer than @p most_s, a bound from below that is above most_s. */
double search_clock_time(struct search_clock *c, const struct plan_cost *cost, double most_s);

/** The same with what each dimension takes of the path that decides. */
void search_clock_sum(struct plan_sum *out, struct search_clock *c, const struct plan_cost *cost);

#endif
