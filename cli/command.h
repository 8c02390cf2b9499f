/**
 * @file A command of weft, and one run of it.
 *
 * A command is a row: its words for help, its options, and a function. The function returns a code of failure
 * (struct err says why) or 0; an outcome that is none (no split, over budget, interrupted) is said on
 * standard error and set as the exit code. Data go to standard output or -o alone, messages to standard error
 * alone, so that one can be piped whatever the other says.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "cli/options.h"

/** What the process returns. */
enum exit_code {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,      /**< memory, files, libraries */
    EXIT_USAGE = 2,       /**< the command line is wrong */
    EXIT_INPUT = 3,       /**< a file, or what it says, is wrong */
    EXIT_NO_DESIGN = 4,   /**< infeasible, unbounded, ill-posed, or over budget */
    EXIT_INTERRUPT = 130, /**< stopped by SIGINT (as shells count signals) or SIGTERM */
};

struct run;
struct output_files;

/** One row of the table in commands.c; usage, help, manual pages, completion and dispatch all read it. */
struct command {
    const char *group; /**< heading in the list of commands */
    const char *name, *help;
    const char *about; /**< a paragraph for --help, lines ended */
    struct option_scope scope;
    /** Do it. A failure is a returned code; an outcome other than done is set in run->exit_code. */
    int (*run)(struct run *run, struct err *e);
    /** Append what the first operand or an option chooses from, a line each that begins with its name; NULL:
     * nothing, or the list of the command's kind of study. */
    int (*list)(struct text *out, struct err *e);
};

struct run {
    const struct command *command; /**< borrowed; a row of commands.c */
    struct options opt;            /**< owned; texts borrowed from argv */
    const char *recorded;          /**< the command line that gives this output again */
    int exit_code;                 /**< enum exit_code; EXIT_DONE at the start */
    struct text warned;            /**< warnings so far, a line each: none is given twice */
    struct output_files *files;    /**< borrowed; what it has written, see cli/output.h */
};

/** Groups and operands of a command: SCOPE(1, 1, "STUDY", &options_study, &options_files). */
#define SCOPE(least, most, text, ...)                                                                        \
    {                                                                                                        \
        .groups = (const struct option_group *const[OPTIONS_MAX_GROUPS + 1]){ __VA_ARGS__ },                 \
        .min_operands = least, .max_operands = most, .operands = text                                        \
    }

extern const struct command cmd_topo, cmd_alloc, cmd_sim, cmd_explain, cmd_fail, cmd_check, cmd_sweep,
    cmd_front, cmd_plot, cmd_import, cmd_calibrate, cmd_keys, cmd_place, cmd_hetero, cmd_gossip, cmd_export,
    cmd_merge, cmd_tornado, cmd_diff, cmd_new, cmd_report, cmd_best;

#endif
