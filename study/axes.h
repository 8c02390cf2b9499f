/**
 * @file What varies in a study: axes of keys and their values, grids of axes, points of grids.
 *
 * A point is one combination of values; the first axis of a grid varies slowest, grids come one after
 * another, and a point's number follows from that alone. What a value means is for who reads the study.
 *
 * Values stay YAML text from the file to the store's columns: what a user wrote is what a table shows, what
 * an override sets and what a hash covers. Memory is that of the values of axes, never of their combinations:
 * 10^12 points cost nothing before they are run. Everything here is read-only once sweep_read_axes() and
 * sweep_read_where() are done, so threads share one struct sweep.
 */
#ifndef STUDY_AXES_H
#define STUDY_AXES_H

#include "base/num.h"
#include "base/schema.h"
#include "base/table.h"
#include "base/text.h"
#include "study/source.h"

enum {
    SWEEP_MAX_KEYS = 16, /**< that vary, over all grids */
    SWEEP_MAX_AXES = 16, /**< of one grid */
    SWEEP_MAX_GRIDS = 256,
    SWEEP_MAX_VALUES = 1000000, /**< of one axis */
    SWEEP_MAX_POINTS = 1000000, /**< of studies whose rows are kept in memory: place, hetero, gossip */
};

/**
 * Keys that take their values together: one of a plain axis, several of a zip or of samples. A zip of k keys
 * has n values of k texts each.
 */
struct sweep_axis {
    int32_t keys[SWEEP_MAX_KEYS]; /**< shape [n_keys]: which of the sweep's keys */
    int32_t n_keys;
    char **values; /**< shape [n][n_keys], owned: YAML text, in `text` */
    char *text;    /**< owned */
    int64_t n;
    bool generated; /**< no value names a file that the first one does not name */
    bool fills;     /**< `count: max`: of each combination of the others the largest value within a limit */
};

/** Which value of a filling axis each combination of the others has; see sweep_fill_axes(). */
struct sweep_fill {
    int32_t axis;                 /**< its place among the grid's axes; -1: the grid has none */
    bool matters[SWEEP_MAX_AXES]; /**< by place: the value depends on this axis */
    int64_t
        *chosen; /**< shape [product of those that matter], owned: a value; -1: none is within the limit */
};

/** Every combination of some of the axes; the first varies slowest. */
struct sweep_grid {
    int32_t axes[SWEEP_MAX_AXES]; /**< shape [n_axes]: which of the sweep's axes */
    int32_t n_axes;
    int64_t first, n_points; /**< its points are first..first+n_points-1; the product of its axes' lengths */
};

/** A key that varies, as a path in --set. */
struct sweep_key {
    char *path;      /**< owned */
    bool overridden; /**< an override sets this very key: its value is the only one */
    yaml_id at;      /**< where the study varies it first, in the document that was read */
};

/** Opaque: the study's `where`. */
struct sweep_where;

/** The points at which some keys have one value each. */
struct sweep_slice {
    int32_t keys[SWEEP_MAX_KEYS];       /**< shape [n_keys]: which of the sweep's keys */
    const char *values[SWEEP_MAX_KEYS]; /**< likewise, borrowed; NULL: of grids that do not vary the key */
    int32_t n_keys;
    int64_t n_points; /**< with those that `where` leaves out */
};

/** What points are given beside their axes, and after these: all of them, or those at which a key has a
 * value. Texts are borrowed, and live as long as studies that are read with them. */
struct sweep_shift {
    struct study_override at; /**< path NULL: nothing */
    int32_t key;              /**< -1: at all points */
    const char *value;        /**< of the key, as sweep_value() gives it */
};

/** Points of the study's `vary`: grids one after another. Release with sweep_free(). */
struct sweep {
    struct sweep_key keys[SWEEP_MAX_KEYS]; /**< in the order of the study; columns of its rows */
    int32_t n_keys;
    struct sweep_axis *axes; /**< shape [n_axes], owned; grids may share them */
    int32_t n_axes;
    struct sweep_grid *grids; /**< shape [n_grids], owned */
    int32_t n_grids;
    int64_t n_points;               /**< with those that `where` leaves out */
    struct sweep_where *where;      /**< owned; NULL = the study has none */
    struct sweep_fill *fills;       /**< shape [n_grids], owned; NULL = no axis is filled */
    struct sweep_shift shift;       /**< of a sweep of fewer than SWEEP_MAX_KEYS keys */
    const struct sweep_slice *part; /**< borrowed: sweep_passes() leaves out all other points; NULL: none */
};

/**
 * One point: its grid, and which value of each of the grid's axes. 136 bytes on the stack of whoever asks;
 * its number alone is stored.
 */
struct sweep_point {
    int32_t grid;
    int64_t at[SWEEP_MAX_AXES]; /**< shape [n_axes of the grid] */
};

/** Point number @p i, 0 <= i < n_points. O(log(grids) + axes). */
void sweep_find_point(struct sweep_point *p, const struct sweep *w, int64_t i);

/**
 * Points and what they are compared with. @p at, shape [n_axes]: which value of each axis a base has; -1:
 * that of the point. A base is its own base. O(axes) each.
 */
int64_t sweep_base(const struct sweep *w, int64_t point, const int64_t *at);
/** How many points have @p base, which is one, as their base, itself among them; and number @p i of these. */
int64_t sweep_base_members(const struct sweep *w, int64_t base, const int64_t *at);
int64_t sweep_base_member(const struct sweep *w, int64_t base, const int64_t *at, int64_t i);

/** Value of key @p key at a point as YAML text, borrowed; NULL where the point's grid does not vary it.
 * O(axes). */
const char *sweep_value(const struct sweep *w, const struct sweep_point *p, int32_t key);

/**
 * Read `vary` of an opened document. Forms: docs/sweep.md.
 *
 * A map of axes is every combination of them. KEY is a path as in --set ("network.dims.pod.max_GBps"); its
 * values are a list, a range { from, to, step } or { from, to, points, scale: linear|log }, or the networks
 * of a { factor: ... }. `zip` is one axis of several keys, `sobol` one of quasi-random points, `union` a list
 * of maps of axes, whose points come one after another, each with the axes beside the union. A list in place
 * of the outermost map is a union alone.
 *
 * Values of a range are rounded to the decimals they are written with (12 digits in log scale and of
 * samples), `to` is among them when a step ends there. File names in values count from the study's folder. An
 * override of a KEY takes the place of its values wherever it varies. Time O(values), not of points.
 *
 * @param[out] w  uninitialised; the caller frees it, also after failure.
 * @param root    the outermost keys of the document.
 * @param most    points at most.
 * @return 0; ERR_PARSE or ERR_RANGE with the place: no `vary`, empty axis, unknown key, a key twice, a range
 *         that is none, a zip of unequal lengths, too many points; ERR_NOMEM. That a point's study is wrong
 *         is no error.
 */
int sweep_read_axes(struct sweep *w, const struct section *root, const struct yaml_doc *doc,
                    const struct study_source *from, int64_t most, struct err *e);

/** That a map below a key has a table of its own, so that axes below it can be checked. */
struct section_link {
    const struct section *above;
    const char *key;
    const struct section *below;
    bool is_list; /**< of such maps, by name or number */
};
extern const struct section_link section_links[]; /**< ends with above NULL; kinds/kinds.c */

/** The key at a path such as "workloads[1].workload.traffic" or "network.dims.pod.size", below the outermost
 * ones in @p root; NULL: no table has it. O(keys on the way). */
const struct key *sweep_find_key(const struct section *root, const char *path);

enum { SWEEP_MAX_FACTS = 16 };
/**
 * Read `where` of a study whose axes are read. Names in it are those of keys that vary (a path, or its last
 * names where no other key ends so) and @p facts (NULL-terminated, SWEEP_MAX_FACTS at most; may be NULL).
 * ERR_PARSE, ERR_RANGE with the place: a constraint that cannot be decided; ERR_NOMEM.
 */
int sweep_read_where(struct sweep *w, const struct yaml_doc *doc, const char *const *facts, struct err *e);
/** With its `where`; also of one that was read half-way. */
void sweep_free(struct sweep *w);

/** Is the site of point @p p within its limits? An error is one of the study. */
typedef int sweep_within(void *data, const struct sweep_point *p, bool *within, struct err *e);
/**
 * Choose the values of axes with `count: max`: the largest that @p within allows, and not the next, for each
 * combination of the axes that matter: those of no key that begins with one of @p ignored (NULL-terminated).
 * What is asked about grows with the value; others are left out as by `where`. ERR_RANGE with the place: a
 * grid with two such axes, too many combinations, one of which the last value is still within; errors of @p
 * within. O(combinations log values).
 */
int sweep_fill_axes(struct sweep *w, const char *const *ignored, sweep_within *within, void *data,
                    const struct yaml_doc *doc, struct err *e);
/** Is point @p p one of those that fill a limit, or of a grid without? O(axes). */
bool sweep_fills(const struct sweep *w, const struct sweep_point *p);
/** The axis that is filled, "network.dims[1].size"; NULL: none is. */
const struct sweep_key *sweep_filled_key(const struct sweep *w);

/**
 * Hold points apart by keys @p of, shape [n_of]: a part for each combination of their values as they are
 * written, in the order of the parts' first points. Every point is in one. @p parts: shape [*n], to be freed.
 * ERR_RANGE: more than @p most parts, or too many values; ERR_NOMEM. O(combinations * keys).
 */
int sweep_find_parts(struct sweep_slice **parts, int32_t *n, const struct sweep *w, const int32_t *of,
                     int32_t n_of, int32_t most, struct err *e);
/** Is point @p p in the sweep's part? O(keys * axes). */
bool sweep_in_part(const struct sweep *w, const struct sweep_point *p);

/**
 * Is point @p p in the sweep's part, one of those that fill a limit, where an axis says so, and does it
 * satisfy all constraints of the study's `where`? Each to within 1e-9 of the sum of its
 * terms' magnitudes.
 * @param facts  those of the point, in the order of their names; NaN, or NULL for all: not known, and
 *               constraints over it are taken to hold.
 * O(constraints * names). Thread-safe.
 */
bool sweep_passes(const struct sweep *w, const struct sweep_point *p, const double *facts);

/**
 * The value of each key at a point as an override, but of those that an override has replaced, then the
 * shift. Returns how many; @p axes has room for SWEEP_MAX_KEYS. O(keys * axes). Texts are those of @p w.
 */
int32_t sweep_point_overrides(struct study_override *axes, const struct sweep *w,
                              const struct sweep_point *p);

/**
 * @p hash, and with it all values of all axes. In order of axes and values, without their keys: a caller
 * hashes the document too, which has them.
 */
unsigned long long sweep_hash(const struct sweep *w, unsigned long long hash);

/*
 * The maps below `vary` as written.
 */

/* Words are indices, -1 = absent; so are absent counts and nodes. Absent reals are NaN. */

enum range_scale { RANGE_LINEAR, RANGE_LOG };

/**
 * The values of a key as a range, or as networks that are written for it. `from` and `to` are written in the
 * key's own unit.
 */
struct sweep_range {
    double from, to, step; /**< NaN where absent */
    int64_t points;
    int32_t scale, count; /**< count 0: max */
};

/** What `vary` itself may hold; for the manual alone, as a key that varies may have any name. */
extern const struct section sweep_vary_section;
extern const struct section sweep_range_section, sweep_sobol_section;

/*
 * The values that a study gives to one key, as YAML text.
 */

/** Zero-initialise; release with sweep_column_free(). */
struct sweep_column {
    struct text text; /**< the values one after another, a NUL after each */
    int64_t n;
    bool generated, fills; /**< as of struct sweep_axis */
};

/** Append a value. Lack of memory shows in text_check(). */
void sweep_column_put(struct sweep_column *c, const char *value);
void sweep_column_free(struct sweep_column *c);

/** Append the value of node @p id as text that means the same where it stands alone or, with @p inside, in a
 * list or map in brackets. */
void sweep_put_yaml(struct text *out, const struct yaml_doc *doc, yaml_id id, bool inside);

/**
 * The values of the key at node @p id: a list, a range, or networks by `factor`.
 * @param c  empty; the caller frees it, also after failure.
 * @return 0; ERR_PARSE, ERR_RANGE with the place; ERR_NOMEM.
 */
int sweep_column_read(struct sweep_column *c, const struct yaml_doc *doc, yaml_id id, struct err *e);

/** Is it a range without step and points, of which numbers between the ends are samples? Then @p r is filled
 * and checked. */
int sweep_read_between(struct sweep_range *r, bool *is_between, const struct yaml_doc *doc, yaml_id id,
                       struct err *e);
/** The sample of @p r at @p share, 0 to 1, as text of 12 digits. */
const char *sweep_between(char buf[NUM_TEXT], const struct sweep_range *r, double share);

/** Networks by the map at node @p id; see docs/sweep.md. */
int sweep_factor_read(struct sweep_column *c, const struct yaml_doc *doc, yaml_id id, struct err *e);

/* ---- one axis of a sweep, and the study at one point ---- */

/** Is @p key, as the path of axis @p id names it, one of table @p s? ERR_PARSE with the nearest one. */
int sweep_check_key(const struct section *s, const char *key, const struct yaml_doc *doc, yaml_id id,
                    struct err *e);

/**
 * A misspelled key would make every point an error; better one now. @p root has the outermost keys of the
 * document; @p id is the node of a key that varies. ERR_PARSE with the place. Walks the sections of
 * section_links as far as there are some; below, the reader of the map checks.
 */
int sweep_check_path(const struct section *root, const struct yaml_doc *doc, yaml_id id, struct err *e);

/**
 * Give @p axis, whose n_keys is set, @p n values from as many columns; one of a single value has it in every
 * row. The columns are used up. ERR_NOMEM, and then the axis has none.
 */
int sweep_axis_fill(struct sweep_axis *axis, struct sweep_column *columns, int64_t n, struct err *e);
void sweep_axis_free(struct sweep_axis *axis);

void sweep_where_free(struct sweep_where *where); /**< NULL is fine */

/**
 * Append the notes of a point, a line each, to @p notes; *read = false: it cannot be read. Only lack of
 * memory and sweep_check_distinct() are failures. It reads the whole study at that point, which is why so few
 * are asked.
 */
typedef int sweep_look(void *data, const struct sweep_point *p, struct text *notes, bool *read,
                       struct err *e);
/**
 * Append to @p out the notes common to the points looked at, some 200 at most: the first of each grid and its
 * neighbours along each axis, at most 16 to an axis. A note that names a place is the same note at another
 * place: lines are compared behind their places. ERR_NOMEM, or what @p look returns.
 */
int sweep_note(struct text *out, const struct sweep *w, sweep_look *look, void *data, struct err *e);
/** ERR_RANGE where two keys that vary at a point are spellings of one in its document. */
int sweep_check_distinct(const struct sweep *w, const struct sweep_point *p, const struct yaml_doc *doc,
                         struct err *e);

/** ERR_RANGE where points times @p seeds are more than SWEEP_MAX_POINTS. */
int sweep_check_seeds(const struct sweep *w, int64_t seeds, const struct yaml_doc *doc, struct err *e);

#endif
