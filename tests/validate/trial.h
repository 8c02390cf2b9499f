/** @file Placement studies of configs/clusters, run as `weft place` runs them, with the rows of every seed at
 * hand. */
#ifndef TESTS_VALIDATE_TRIAL_H
#define TESTS_VALIDATE_TRIAL_H

#include "base/stat.h"
#include "tests/validate/verdict.h"
#include "kinds/place/place.h"

/* What cannot be read or run ends the program with its message. */

/** Release with trial_free(). */
struct trial {
    struct study place;
    struct table rows;    /**< what `weft place` writes: a row for each point and scheduler */
    struct table runs;    /**< what --runs writes: a row for each point, seed and scheduler */
    struct table slots;   /**< what --slots writes: of the first seed of each point; empty unless asked for */
    int32_t n_schedulers; /**< rows of one point and seed */
};

/** Run configs/clusters/NAME.yaml with what --set would change: shape [n_set]. */
void trial_run(struct trial *t, const char *name, const struct study_override *set, int32_t n_set);
/** The same, with the table of slots (model slots). */
void trial_run_slots(struct trial *t, const char *name);
void trial_free(struct trial *t);

/** One scheduler of one trial at one point. */
struct entrant {
    const struct trial *trial;
    int64_t point;
    const char *scheduler;
};

/** Column @p metric of the run with the @p k-th seed. */
double trial_value(struct entrant x, int64_t k, const char *metric);
/** Column @p metric of its row of the main table, the same for all seeds. */
double trial_row_value(struct entrant x, const char *metric);
/** Over the seeds. */
struct stat_mean trial_mean(struct entrant x, const char *metric);
/** Of the ratios a/b, seed by seed, over the seeds. Both trials have the same seeds. */
struct stat_mean trial_ratio(struct entrant a, struct entrant b, const char *metric);
/**
 * In how many seeds do the values of the @p n entrants rise strictly (@p sign 1) or fall strictly (-1)?
 */
int trial_ordered(const struct entrant *x, int n, const char *metric, int sign);

/** Room for one printed figure. */
enum { TRIAL_CELL = 48 };
/** "1662 ± 103" with @p digits decimals; without interval where there is none; "> 1e6" of
 * what divides by next to nothing. Returns @p buf. */
const char *trial_cell(char buf[TRIAL_CELL], struct stat_mean m, int digits);

/* The parts of the section; each returns how many of its rows are contradicted. */
int cluster_gadget(void);   /**< the papers' settings, the scarce profiles, what breaks their order */
int cluster_rounding(void); /**< slots against their bound, shares embedded */
int cluster_batch(void);
int cluster_interval(void);
int cluster_spine(void);

#endif
