/**
 * @file Options of the command line: one table row per option drives reading, checking and --help.
 *
 * All commands share one struct options: an option that several have (-o, --where) is one field, and a
 * command is known by the groups it lists. The words that decide the output are recorded, quoted for a shell,
 * in the order given: the head of every output has them, and running them again gives the same bytes. What
 * only says where output goes or how fast (`outside`) is not among them.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "plots/xy.h"
#include "study/kind.h"

/** What an option holds, and the type of its field in struct options. */
enum option_kind {
    OPTION_FLAG,  /**< bool */
    OPTION_TEXT,  /**< const char *, borrowed from argv; NULL when absent */
    OPTION_WORD,  /**< int32_t, index into `words`; -1 when absent */
    OPTION_COUNT, /**< int64_t, `min` to `max`; 0 when absent */
    OPTION_REAL,  /**< double, `least` to `most`; NaN when absent, or what cli/options.c says */
    OPTION_LIST,  /**< struct option_list: may be given several times */
};

/** A row. Its value is checked when it is read; what depends on other options the command checks. */
struct option {
    const char *name;  /**< without "--" */
    const char *value; /**< what help calls the value; NULL for a flag */
    const char *help;
    size_t offset;            /**< of the field in struct options */
    const char *const *words; /**< OPTION_WORD, and lists of words: NULL-terminated */
    const char *catalogue;    /**< kinds of the catalogue that it may name, blanks between; NULL: none */
    int64_t min, max;         /**< OPTION_COUNT, inclusive */
    double least, most;       /**< OPTION_REAL, inclusive */
    enum option_kind kind;
    char letter;  /**< of "-o"; 0 = none */
    bool outside; /**< changes nothing in the output, so the command it records leaves it out */
};

/** Rows by kind: name, what help calls the value, field of struct options, help; then members of struct
 * option that few rows have. */
#define OPTION_ROW(of_kind, called, shown, field, ...)                                                       \
    {                                                                                                        \
        .name = (called), .value = (shown), .kind = (of_kind), .offset = offsetof(struct options, field),    \
        .help = __VA_ARGS__                                                                                  \
    }
#define FLAG_OPTION(called, field, ...)        OPTION_ROW(OPTION_FLAG, called, NULL, field, __VA_ARGS__)
#define TEXT_OPTION(called, shown, field, ...) OPTION_ROW(OPTION_TEXT, called, shown, field, __VA_ARGS__)
#define LIST_OPTION(called, shown, field, ...) OPTION_ROW(OPTION_LIST, called, shown, field, __VA_ARGS__)
#define WORD_OPTION(called, shown, field, list, ...)                                                         \
    OPTION_ROW(OPTION_WORD, called, shown, field, __VA_ARGS__, .words = (list))
#define COUNT_OPTION(called, shown, field, least, most, ...)                                                 \
    OPTION_ROW(OPTION_COUNT, called, shown, field, __VA_ARGS__, .min = (least), .max = (most))
#define REAL_OPTION(called, shown, field, low, high, ...)                                                    \
    OPTION_ROW(OPTION_REAL, called, shown, field, __VA_ARGS__, .least = (low), .most = (high))
/** A group of all rows of an array. */
#define OPTION_GROUP(title, rows)                                                                            \
    {                                                                                                        \
        title, rows, sizeof(rows) / sizeof *(rows)                                                           \
    }

/** Row of -j; @p what: what runs at the same time. */
#define OPTION_THREADS(what)                                                                                 \
    COUNT_OPTION("threads", "N", threads, 1, OPTION_MAX_THREADS,                                             \
                 what " at the same time (default: one per processor); the rows are the same",               \
                 .letter = 'j', .outside = true)
enum { OPTION_MAX_THREADS = 1024 };

/** Some options and the heading --help gives them; groups of one heading stand together. */
struct option_group {
    const char *title;
    const struct option *rows; /**< shape [n], borrowed */
    size_t n;
};

struct option_list {
    const char **items; /**< shape [n], owned array of texts borrowed from argv */
    int32_t n;
};

enum { OPTIONS_MAX_OPERANDS = 512, OPTIONS_MAX_GROUPS = 5 };

/** Everything the options of any command can say. Release with options_free(). */
struct options {
    const char *operands[OPTIONS_MAX_OPERANDS]; /**< NULL when absent */
    int32_t n_operands;
    struct option_list set, where, limits;
    int32_t format;       /**< enum table_format, -1 = by the extension of `out` */
    int32_t image_format; /**< enum plot_format, likewise */
    int32_t model;        /**< index into sim_model_words, -1 = the study's */
    int32_t search;       /**< 0: parallelism; -1: only what the study asks for */
    const char *card;     /**< the workload is this model card's; NULL: the study's */
    const char *out, *parts, *graphml, *dot, *astra, *astra_system, *title, *timeline, *links;
    const char *tables[STUDY_MAX_TABLES]; /**< files for extra tables, by their number in the kind of study */
    const char *store, *shard, *table;
    bool force, quiet, verbose, help, version, wide;
    bool bill, igraph, spec, split, dry_run, list, say_columns, timing, all, what_if;
    bool resume, partial, slurm, typed, front_only, curves, schema, xy_linear, skip_bad, cpu_jobs;
    int64_t threads, width_px, height_px, front_behind, front_ties;
    int64_t jobs;                        /**< shards of a job array, 0 = absent */
    int32_t shape, algorithm, in_switch; /**< enum topo_shape and so on, -1 = absent */
    int32_t collective;                  /**< enum collective_kind, -1 = absent */
    const char *dim_name, *bw_GBps, *npu;
    double power_W, slow_link, slow_npu, scatter_percent;
    struct option_list columns;
    int32_t kernel; /**< enum topo_kernel, -1 = absent */
    int64_t size, ranks, curve, regimes;
    int32_t trace; /**< index into trace_formats, -1 = absent */
    const char *profile;
    int32_t from;        /**< enum recipe_format, -1 = absent */
    const char *network; /**< that an imported recipe is for */
    struct option_list like;
    const char *check_by, *front_by, *front_per, *front_design, *front_at;
    struct option_list xy_y, xy_best;
    struct plot_xy xy;           /**< but for what follows from --y, --log and --linear */
    int32_t xy_log;              /**< index into words of --log, -1 = absent */
    struct option_list statuses; /**< words of trace_status_words */
    int64_t seed, window, start, horizon_s, max_gpus;
};

extern const struct option_group options_study, options_search, options_format, options_files;
/** options_files without -o, where an operand is what is written. */
extern const struct option_group options_alone;
/** Of options_study the first: --set alone, for studies without prices of parts. */
extern const struct option_group options_set;

/** Where options are looked up. */
struct option_scope {
    const struct option_group *const *groups; /**< shape [OPTIONS_MAX_GROUPS], NULL at the end */
    int32_t min_operands, max_operands;
    const char *operands; /**< as usage shows them: "STUDY" */
};

/**
 * Read argv[0..argc-1], which are what follows the command's name. Forms: --name
 * value, --name=value, -o value, -ovalue, flags together (-fq), "--" before operands that
 * start with '-'. --help is always known; with it the number of operands does not matter.
 *
 * @param[out] o         empty and safe to free after failure.
 * @param[out] recorded  appended: the words that decide the output, quoted for the shell.
 * @return 0, ERR_NOMEM or ERR_USAGE: unknown option (with the nearest), value missing or
 *         wrong, an option twice, too few or too many operands.
 */
int options_parse(struct options *o, const struct option_scope *scope, int argc, char **argv,
                  struct text *recorded, struct err *e);
void options_free(struct options *o);

/** A fault @p inner of the value of an option is one of the command line, unless it is of the machine or of a
 * cell of the input. Returns the code. */
int options_misuse(const char *option, const struct err *inner, struct err *e);

/** Option number @p i of the scope; NULL past the last. */
const struct option *options_at(const struct option_scope *scope, size_t i);

/** The first row of a group from @p first on that is given; NULL: none is. */
const struct option *options_given(const struct options *o, const struct option_group *group, size_t first);

/** Append the groups as --help shows them. Columns are as wide as the widest option of all groups. */
void options_help(struct text *out, const struct option_group *const *groups);

#endif
