/** @file Small clusters and jobs in slots for tests: everything by hand. */
#ifndef TESTS_UNIT_SLOTS_FIXTURE_H
#define TESTS_UNIT_SLOTS_FIXTURE_H

#include "sim/slots/slots.h"
#include "tests/settings.h"
#include "tests/unit/cluster_fixture.h"

/** @p n servers of gpus[i] at one switch, each by a link of @p Bps. */
static inline struct cluster star_of(int32_t n, const double *gpus, double Bps)
{
    struct cluster c;
    fixture_racks(&c, n, NULL, gpus, Bps, 0);
    return c;
}

/** The usual settings, of so many slots. */
static inline struct elastic_settings slots_of(int32_t n_slots)
{
    struct elastic_settings s = elastic_settings_default();
    s.n_slots = n_slots;
    return s;
}

/** One GPU a worker, one iteration worth 1 each worker-slot, no bandwidth; both numbers of workers @p
 * workers.
 */
static inline struct elastic_job plain_job(const char *id, int32_t arrival, int32_t workers, double budget)
{
    struct elastic_job j = { .id = id,
                             .arrival = arrival,
                             .max_workers = workers,
                             .fixed_workers = workers,
                             .demand = { 1 },
                             .budget = budget,
                             .zeta = 1,
                             .leave_frac = INFINITY };
    MUST(utility_build(&j.aim, UTILITY_LINEAR, 1, 0, 0, 0, e));
    j.report = j.aim;
    return j;
}

/** The scheduler of that name. */
static inline const struct elastic_scheduler *scheduler_named(const char *name)
{
    for (int32_t i = 0; i < elastic_n_schedulers; i++)
        if (strcmp(elastic_schedulers[i]->name, name) == 0)
            return elastic_schedulers[i];
    print_error("no scheduler %s\n", name);
    fail();
    return NULL;
}

/** Workers of @p job in slot @p slot of a run that kept its choices. */
static inline int32_t workers_of(const struct elastic_result *r, int32_t slot, int32_t job)
{
    const struct elastic_choice *x = &r->choices[slot - 1];
    for (int32_t i = 0; i < x->n_rings; i++)
        if (x->rings[i].job == job)
            return x->rings[i].workers_total;
    return 0;
}

/** Does the ring fit? And take it (@p sign 1) or give it back (-1). */
static inline bool ring_fits(struct elastic_room *room, const struct elastic_job *j, const int32_t *servers,
                             const int32_t *workers, int32_t n)
{
    bool ok;
    MUST(elastic_room_fits(&ok, room, j, servers, workers, n, e));
    return ok;
}

static inline void ring_take(struct elastic_room *room, const struct elastic_job *j, const int32_t *servers,
                             const int32_t *workers, int32_t n, int sign)
{
    MUST(elastic_room_take(room, j, servers, workers, n, sign, e));
}

#endif
