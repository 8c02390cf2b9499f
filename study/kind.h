/**
 * @file What a kind of study (designs, placements, layers, gossip) is to the engine.
 *
 * A study is a YAML file whose `vary` spans points: every combination of what varies. The engine reads it,
 * hands out the work to threads and ranks, keeps what comes back in a store, and writes rows, fronts and
 * reports. What a point is and how it runs it does not know: that is a `struct study_kind`, one for each
 * kind, listed in kinds/kinds.c.
 *
 * Two ways to run:
 * - Kinds with **runs** (placements, layers, gossip): a point has entries (schedulers, methods), each is run
 *   with each of the study's seeds. A run gives one flat `result`; what all runs of a point share is one flat
 *   `shared`. When all runs of a point are there, `reduce` makes its rows from these, and from nothing else:
 *   whoever resumes or merges a study has them in the store, and has never read the point.
 * - Kinds with **blocks** (designs): a point is one row, and takes microseconds; a thread takes many points
 *   that share what is slow to read at a time (struct block_ops).
 *
 * To add a kind with runs:
 * 1. kinds/NAME/: a struct for the point as read (`read`, `free`), one for `shared` (begins with struct
 *    study_shared), one for `result` (begins with struct study_result), one a table for its rows, each with a
 *    list of columns (base/column.h).
 * 2. `prepare` fills in what the runs of a point share, `run` does one and puts its result, `reduce` makes
 *    rows.
 * 3. A row of kinds/kinds.c; own_keys are how `weft sweep FILE` tells it. Store, shards, resume, merge,
 *    export, front, MPI, dry runs, `where` and `keep` are there then.
 *
 * Hooks are called by many threads at once, each with its own point; none may keep state elsewhere. A point
 * or a run that fails is a row, not the end: only ERR_NOMEM and ERR_IO end a study.
 *
 * Failures: `read`, `prepare`, `seed_begin` and `run` return a code with a message; ERR_NOMEM ends the study,
 * any other code becomes part of the point's or the run's row. Results must be functions of the study, the
 * point, the entry and the seed alone: not of threads, time, or other runs; else a resumed study would differ
 * from one that was left alone.
 */
#ifndef STUDY_KIND_H
#define STUDY_KIND_H

#include "base/column.h"
#include "base/schema.h"
#include "study/blocks.h"
#include "study/source.h"
#include "study/axes.h"

struct study_kind;
struct store;
struct keep_rule;
struct front_set;

enum {
    STUDY_MAX_TABLES = 8,     /**< of a kind */
    STUDY_MAX_ENTRIES = 4096, /**< of a point; also rows of one */
    STUDY_MAX_RESULT = 8      /**< result_columns of a kind */
};

/* ---- a study ---- */

/** The columns of one of its tables. */
struct study_table {
    const struct column *list; /**< borrowed */
    struct columns shown;      /**< of list, as axes and `timing` have it; hidden ones too */
    bool axis[SWEEP_MAX_KEYS]; /**< shape [sweep.n_keys]: does the axis have a column? */
};

/**
 * A study that was opened. Its kind's `open` fills in what is marked so. Constant once opened: all threads
 * read it.
 */
struct study {
    const struct study_kind *kind;
    struct study_source from; /**< borrowed; without axes */
    struct sweep sweep;       /**< its points */
    int64_t seed, seeds;      /**< open: the first seed, and how many; 1 for kinds with blocks */
    unsigned long long hash;  /**< open (or kind->hash): of all that the results depend on */
    struct text name;         /**< open */
    struct text notes;        /**< open: warnings to be said before it runs, a line each */
    struct study_table tables[STUDY_MAX_TABLES]; /**< open may change them by study_set_columns() */
    /** open: shape [sweep.n_axes], which value of each axis rows are compared with, -1: their own; borrowed.
     * NULL: a point is compared with none but itself. */
    const int64_t *base_at;
    bool resolves;   /**< open: seeds are added until `resolved` of the kind */
    bool timing;     /**< columns of COLUMN_TIMING are wanted */
    uint32_t wanted; /**< bit t: rows of extra table t are recorded */
    void *own;       /**< open: the kind's; kind->close frees it */
};

/** A column and the texts that it is made of; do not copy: `of` points into it. */
struct made_column {
    struct column of;
    char name[COLUMN_NAME], title[COLUMN_NAME], help[256];
};

/** A table of a kind. */
struct table_def {
    const char *word; /**< "jobs": --jobs FILE, export --table jobs */
    const struct column *columns;
    bool by_seed;    /**< rows by (point, seed, entry), else by (point, entry, seed) */
    bool first_seed; /**< rows of the first seed alone */
    bool always;     /**< recorded in every store, asked for or not */
    bool as_rows;    /**< of columns called as those of tables[0] it shows those that are shown there */
    /** Fill in cells that are known when all runs of the point are done; at export. NULL: none. */
    void (*derive)(void *row, const void *shared);
};
enum { TABLE_ROWS /**< tables[0]: rows of points */, TABLE_RUNS /**< tables[1] of kinds with runs */ };

/* ---- runs ---- */

/** What every `result` begins with. The engine fills both in after a failure of `run`. */
struct study_result {
    int64_t rc;          /**< 0: it did not fail */
    const char *message; /**< NULL: nothing to say; may be set by a run that did not fail */
};

/** What every `shared` begins with. The engine fills in rc and message after a failure of `read` or
 * `prepare`: then the point has no runs. */
struct study_shared {
    int64_t rc;
    const char *message;
    const char *notes; /**< lines; NULL: none. See enum notes_rule */
    int64_t n_entries; /**< the engine's: 0 after a failure */
    int64_t base;      /**< the engine's: the point that it is compared with, study.base_at */
};

/** Columns of these, for the lists of a kind: `STUDY_SHARED_COLUMNS(struct hetero_shared, study), ...`. */
#define STUDY_RESULT_COLUMNS(type, head)                                                                     \
    COLUMN_AT(type, head.rc, "rc", TABLE_COUNT, NULL),                                                       \
        COLUMN_AT(type, head.message, "message", TABLE_TEXT, NULL)
#define STUDY_SHARED_COLUMNS(type, head)                                                                     \
    STUDY_RESULT_COLUMNS(type, head), COLUMN_AT(type, head.notes, "notes", TABLE_TEXT, NULL),                \
        COLUMN_AT(type, head.n_entries, "n_entries", TABLE_COUNT, NULL),                                     \
        COLUMN_AT(type, head.base, "base", TABLE_COUNT, NULL)

/** One run, or with `whole_seed` all entries of a seed. */
struct study_run {
    const struct study *study;
    const void *point;      /**< prepared */
    const void *seed_state; /**< of seed_begin; NULL where the kind has none */
    int64_t k, seed;        /**< seed = study->seed + k */
    int32_t entry;          /**< 0 with whole_seed */
    int32_t n_entries;      /**< of the point */
    uint32_t wanted;        /**< tables to put rows into: those of first_seed with k = 0 alone */
};

/** Where a run puts what it finds; opaque. Texts are copied. */
struct sink;
/** A row of table @p table (>= TABLE_RUNS), in the order of the table; nothing where it is not wanted. */
void sink_put(struct sink *s, int32_t table, const void *row);
/** The result of an entry; once each. */
void sink_result(struct sink *s, int32_t entry, const void *result);

/** Results of the runs of a point, for `reduce`; opaque. */
struct results;
/** That of @p entry with seed number @p k; NULL where that is not run. Texts live as long as the results. */
const void *results_at(const struct results *r, int32_t entry, int64_t k);
int32_t results_entries(const struct results *r); /**< study_shared.n_entries */
/** How many it was run with: all of the study, or fewer where these said enough (study.resolves). */
int64_t results_seeds(const struct results *r);
/** Those of the point that it is compared with, itself or another, of which only numbers may be kept; NULL:
 * none, or `where` leaves that out. */
const struct results *results_base(const struct results *r);
const void *results_shared(const struct results *r); /**< of the point; borrowed */

/** Rows of a point; opaque. Texts are copied. */
struct study_rows;
/**
 * Of the kind's struct for TABLE_ROWS; at most STUDY_MAX_ENTRIES a point. Lack of memory is told after
 * reduce().
 */
void study_rows_put(struct study_rows *r, const void *row);
/** Append lines to study_shared.notes of the point. Copied. */
void study_rows_note(struct study_rows *r, const char *lines);

/** Which lines of study_shared.notes are said when all is done. */
enum notes_rule {
    NOTES_NONE,
    NOTES_COMMON, /**< those of all points that could be read, in the order of the first */
    NOTES_EACH,   /**< each line once, in the order of points */
};

/* ---- blocks ---- */

/** What the hands of a study share; all borrowed. */
struct block_job {
    const struct study *study;
    const struct units *order;
    const struct keep_rule *rule;  /**< rows that are kept */
    const struct front_set *known; /**< second pass of `prune`: what points are held against; else NULL */
};

/** For kinds that run many points at a time: in place of prepare .. reduce. */
struct block_ops {
    /** Is @p path a key that changes a point without reading it again? Points that differ in such keys alone
     * are a block. */
    bool (*quick)(const char *path);
    int64_t largest; /**< points that a block may have */
    /** How many points a block has at most, here. @p largest: the study cut into blocks as large as they can
     * be. ERR_NOMEM. */
    int (*most)(int64_t *most, const struct block_job *largest, struct err *e);
    /** Memory of one thread. ERR_NOMEM; ERR_PARSE: the rule names a column that rows lack. */
    int (*hand)(void **out, const struct block_job *job, struct err *e);
    void (*hand_free)(void *hand); /**< NULL is fine */
    /** Append the rows of the points of @p unit, and count; the same rows whatever the hand did before. */
    int (*block)(void *hand, const struct sweep_unit *unit, struct table *rows, struct sweep_counts *n,
                 struct err *e);
};

/* ---- what is said ---- */

/** Rows that were read back, whoever ran the study. All borrowed. */
enum { STUDY_MAX_SOUGHT = 5 };
struct study_report {
    const struct study_kind *kind;
    const struct table *rows;                     /**< all; as exported, hidden columns too */
    const struct table *tables[STUDY_MAX_TABLES]; /**< extra ones; NULL: not recorded */
    const char *const *axes;                      /**< shape [n_axes] */
    int32_t n_axes;
    int64_t n_points, seed, seeds;
    const char *name;
    const char *sought[STUDY_MAX_SOUGHT]; /**< columns of the rows that are shown in any case; NULL: none */
};

/** What a study comes to, for the exit code. */
enum study_verdict { VERDICT_FINE, VERDICT_INPUT /**< exit 3 */, VERDICT_NO_DESIGN /**< exit 4 */ };

/* ---- a kind ---- */

struct study_kind {
    const char *word; /**< "hetero": the command that forces it, and the kind in the head of a store */
    const char *what; /**< "layers of a model on types of resources" */
    const struct section *keys;     /**< of the study's own file */
    const char *const *own_keys;    /**< NULL-terminated: top-level keys that no other kind has */
    const char *const *fixed_axes;  /**< NULL-terminated: keys that cannot vary: "seed", "seeds" */
    const struct table_def *tables; /**< shape [n_tables]: TABLE_ROWS, TABLE_RUNS, then extra ones */
    int32_t n_tables;

    /** Check what axes are of, before the first point is read. NULL: nothing. */
    int (*check)(const struct study *s, const struct yaml_doc *doc, struct err *e);
    /** Fill in the study's fields that are marked so. @p first: its first point, as `read` makes it; NULL for
     * kinds with blocks, where it may be wrong. @p doc: the study's own file. */
    int (*open)(struct study *s, const struct yaml_doc *doc, const void *first, struct err *e);
    void (*close)(struct study *s); /**< NULL: there is nothing to free */
    /** Where hashing takes reading many points: called when the hash is needed. NULL: `open` has set it to
     * that of the document, and the engine adds the content of the files that its values name. */
    int (*hash)(struct study *s, struct err *e);

    /* -- points -- */
    size_t point_size; /**< bytes of what `read` fills in */
    /** The study at a point. @p point uninitialised; safe to free after failure. */
    int (*read)(void *point, const struct study_source *from, struct err *e);
    void (*free)(void *point);
    /** Names for `where` besides those of axes, NULL-terminated, and their values at a point; NaN: not known,
     * constraints over it hold. */
    const char *const *fact_names;
    void (*facts)(double *x, const void *point);

    /* -- kinds with runs; all NULL where there are `blocks` -- */
    const struct column *shared, *result; /**< fields of these structs, those of their heads among them */
    size_t shared_size, result_size;
    /** What its runs share, into the point and (flat) into @p shared, which is row_clear(). */
    int (*prepare)(void *point, void *shared, const struct study *s, struct err *e);
    int32_t (*n_entries)(const void *point);
    /** Does the entry differ from seed to seed? Else it is run with k = 0 alone. NULL: all do. */
    bool (*seeded)(const void *point, int32_t entry);
    size_t seed_size; /**< what the runs of a point with one seed share; 0: nothing */
    int (*seed_begin)(void *state, const void *point, int64_t seed, struct err *e);
    void (*seed_end)(void *state); /**< also after a failure of seed_begin */
    bool whole_seed;               /**< one call runs all entries of a seed */
    /** Rows that it puts before it fails are kept. */
    int (*run)(const struct study_run *r, struct sink *sink, struct err *e);
    /** Make the rows of a point, also of one that failed; may sharpen @p shared, which is stored after it. */
    int (*reduce)(struct study_rows *rows, void *shared, const struct results *r, struct err *e);
    /** Of a study that resolves: do the seeds so far say enough of the point? A function of the store alone,
     * as reduce(). */
    bool (*resolved)(const void *shared, const struct results *r);
    enum notes_rule notes;

    /* -- results -- */
    /** Is the row a result, which can be kept and be on a front? @p cols: where result_columns are, -1 = not
     * there. */
    bool (*is_result)(const struct table *rows, int64_t row, const int32_t *cols);
    const char *const *result_columns; /**< NULL-terminated, STUDY_MAX_RESULT at most: what it looks at */
    const char *label;        /**< column that names the row within its point; NULL: one row a point */
    const char *const *front; /**< NULL-terminated: the first two with values */
    const char *time;         /**< column of a row's time [s], blank without a result; NULL: rows have none */
    /** Number @p i of the columns of rows and runs that `tables` do not list, as they are made for a study;
     * false: there are no more. '#' in name and title stands for a number of any kind: "time_p#_s". NULL:
     * there are none. */
    bool (*made)(struct made_column *out, int32_t i);
    const char *const *work;     /**< NULL-terminated: axes below these make rows incomparable (`per`), .. */
    const char *const *not_work; /**< .. but not those below these; may be NULL */
    const char *const
        *batch;       /**< NULL-terminated: axes below these change how much a row's time is for, .. */
    const char *rate; /**< .. and the column that compares all the same; may be NULL */
    /** Clear show[] of columns of tables[0] that are not exported, shape [columns->n_cols], besides those
     * that `upto` and `with` leave out already. NULL: nothing else. */
    int (*trim)(bool *show, const struct table *columns, struct store *s, struct err *e);

    /* -- what is said -- */
    /** Rows for people. */
    int (*say)(struct text *out, const struct study_report *r, struct err *e);
    /** What to say of rows that are no results, lines into @p out, and what the study comes to. */
    int (*conclude)(struct text *out, enum study_verdict *verdict, const struct study_report *r,
                    struct err *e);
    /** Of a study of one point that has no results: 0 where its rows say so, else the error that the command
     * fails with; no rows are written then. NULL: always rows. */
    int (*fail_alone)(const struct study_report *r, struct err *e);
    /** What --list prints: schedulers or methods. */
    int (*list)(struct text *out, struct err *e);
    const char
        *empty_of;    /**< column whose first word says why an extra table stays empty; NULL: nobody asks */
    bool notes_first; /**< study_shared.notes are said before that error, else only where there is none */

    /* -- what only some kinds have -- */
    const struct block_ops *blocks; /**< NULL: it has runs */
    bool has_uncertain, has_prune;  /**< keys `uncertain` and `keep.prune`; else refused with a line */
};

/** All kinds; the first is that of studies that no other claims. Shape [n_study_kinds]; kinds/kinds.c. */
extern const struct study_kind *const study_kinds[];
extern const int32_t n_study_kinds;

#endif
