/**
 * @file From the command line to a study and its design, and the words that reports share about it.
 *
 * Commands for one design (alloc, sim, explain, check, topo) go this way; those for many open a study
 * (study/study.h).
 */
#ifndef CLI_LOAD_H
#define CLI_LOAD_H

#include "base/report.h"
#include "cli/overrides.h"
#include "kinds/design/answer/design.h"
#include "study/study.h"

/** "all-reduce" of a node of the tree with the group's name: "tp all-reduce". */
void bind_name(struct text *out, const struct step_tree *t, const struct sim_collective *c);

/** "ring", "halving-doubling, regime 2", "double-binary-tree, 64 segments": how dimension @p d carries out
 * the collective; "" where no algorithm is modelled. */
void bind_choice(struct text *out, const struct sim_collective *c, int32_t d);

/** Append the names of the collectives that dimension @p d decides, each once: "tp all-reduce, dp
 * all-reduce". */
void bind_names(struct text *out, const struct design_point *s, const struct design *x, int32_t d);

/*
 * From the command line to a study and its design.
 */

/** overrides_read(), and its notes as warnings. */
int load_overrides(struct overrides *o, struct run *run, struct err *e);

/**
 * design_point_load() of the first operand; its notes go out as warnings. After a failure there is nothing to
 * free. Errors as design_point_load().
 */
int load_study(struct design_point *s, struct run *run, const struct overrides *o, unsigned needs,
               struct err *e);

/** Where the bandwidths of a design come from. */
enum load_from {
    LOAD_GIVEN,  /**< the network gives all */
    LOAD_SOLVED, /**< the split problem is solved */
    LOAD_EITHER, /**< given if the network gives all, else solved */
};

struct load_design {
    struct design_point asked;
    const struct design_point *study; /**< `asked`, with what `design` chose */
    struct design design;
    struct text notes; /**< warnings, a line each */
    bool solved;       /**< design.answer means something */
};

/**
 * Load the study and find its design. Its notes are the caller's to print. When the split has no answer that
 * is said on standard error and run->exit_code is EXIT_NO_DESIGN; read design.answer.status first. Safe to
 * free after failure.
 *
 * @return 0, also without a split; errors as design_point_load(), design_solve() and design_evaluate().
 */
int load_design(struct load_design *x, struct run *run, const struct overrides *o, enum load_from from,
                unsigned needs, struct err *e);
void load_design_free(struct load_design *x);
/** What a command about one design does: load it, print its notes, and @p write it; where there is no split
 * load_write_status(). Errors of all of them. */
int load_and_write(struct run *run, int (*write)(struct run *run, const struct load_design *x, struct err *e),
                   struct err *e);

/** Text: that times are not what links carry, where they are not: a line. */
void load_say_semantics(struct report *r, const struct design_point *s);

/** A line of text with the price of the bill at the low and the high end of its parts' prices; nothing
 * without a bill, or where no part has a band. */
void load_say_range(struct report *r, const struct design_point *s, const struct design *d);

/** A warning where prices are older than the study's price_days, by the clock or by SOURCE_DATE_EPOCH. Of a
 * study with points the first of each grid are asked. */
void load_say_ages(struct run *run, const struct design_point *s);
void load_say_study_ages(struct run *run, const struct study *study);

/** Say of the design of file or point @p where why there is no split (exit code 4), or that its proof fell
 * short (exit code 1). */
void load_say_status(struct run *run, const char *where, const struct design *d);
/** In JSON the object { weft, status, reason } where there is no split; other formats have nothing to say. */
int load_write_status(const struct run *run, const struct load_design *x, struct err *e);
/** The names of the dimensions, as list "dims" of JSON. */
void load_report_dims(struct report *r, const struct topo_network *net);
/** Its name, or "unnamed". */
const char *load_workload_name(const struct design_workload *w);
/** "GPT-3+Turing-NLG"; "" without workloads. */
void load_workload_names(struct text *out, const struct design_point *s);

/** The network's name, or its spec word when it has none. Borrowed from @p net or @p word. */
const char *load_network_name(char word[TOPO_SPEC], const struct topo_network *net);

#endif
