/*
 * What a study of many points tells: lines that are true at all points that were looked at, whatever place in
 * the file they name.
 *
 * Notes warn of keys without effect and the like, which may hold at one point and not at another; a warning
 * about a key that does its work at some point would be wrong. Reading every point is out of the question
 * (each is a whole study), so a sample speaks for all: of up to 50 grids the first point and its neighbours
 * along each axis, 200 points in all. A line is told if every point of the sample that could be read says it;
 * a grid that does not vary a key which others vary has no say about that key. That is a heuristic in one
 * direction: some warnings may be missing, or one too many where only points outside of the sample use the
 * key.
 */
#include <stdlib.h>
#include <string.h>

#include "study/axes.h"

enum {
    NEIGHBOURS = 16, /* of a grid's first point along each axis */
    MOST = 200,      /* points looked at in all: each is a study that is read */
};

/* What is said of the points of one grid. */
struct grid_notes {
    bool any; /* some point could be read */
    struct text common;
};

/* ---- lines ---- */

/* What a note says, after its place; *n is its length. */
static const char *said(const char *line, size_t *n)
{
    const char *end = strchr(line, '\n'), *start = line;
    /* The place ends with the last ": " before the verb; file names may hold colons. */
    const char *verb = strstr(line, " has no effect ");
    for (const char *s = line; s < end && verb && s < verb; s++)
        if (s[0] == ':' && s[1] == ' ')
            start = s + 2;
    *n = (size_t)(end - start) + 1;
    return start;
}

static bool says(const char *notes, const char *what, size_t n)
{
    for (; *notes; notes = strchr(notes, '\n') + 1) {
        size_t length;
        const char *s = said(notes, &length);
        if (length == n && memcmp(s, what, n) == 0)
            return true;
    }
    return false;
}

/* Keep the lines of `notes` that `other` has too, whatever place it gives them. */
static void keep_common(struct text *notes, const char *other)
{
    size_t kept = 0;
    for (const char *line = text_str(notes); *line;) {
        size_t n, length = (size_t)(strchr(line, '\n') - line) + 1;
        const char *what = said(line, &n);
        if (says(other, what, n)) {
            memmove(notes->s + kept, line, length);
            kept += length;
        }
        line += length;
    }
    if (notes->s)
        notes->s[kept] = '\0';
    notes->n = kept;
}

/* ---- points of a grid ---- */

int sweep_check_distinct(const struct sweep *w, const struct sweep_point *p, const struct yaml_doc *doc,
                         struct err *e)
{
    yaml_id found[SWEEP_MAX_KEYS];
    for (int32_t k = 0; k < w->n_keys; k++) {
        found[k] = sweep_value(w, p, k) ? yaml_find(doc, w->keys[k].path) : -1;
        for (int32_t i = 0; i < k; i++)
            if (found[k] >= 0 && found[k] == found[i])
                return yaml_fail(doc, yaml_get(doc, doc->root, "vary"), e, ERR_RANGE,
                                 "has \"%.100s\" and \"%.100s\"; use one axis for what is one key",
                                 w->keys[i].path, w->keys[k].path);
    }
    return 0;
}

/* Where points are looked at, and how. */
struct looks {
    const struct sweep *w;
    sweep_look *look;
    void *data;
};

/* Notes at point p: the first ones, or what they have in common with those before. */
static int note_point(struct grid_notes *notes, const struct looks *l, const struct sweep_point *p,
                      struct err *e)
{
    struct text own = { 0 };
    bool read = true;
    int rc = l->look(l->data, p, notes->any ? &own : &notes->common, &read, e);
    if (!rc && read && notes->any)
        keep_common(&notes->common, text_str(&own));
    notes->any = notes->any || read;
    if (!rc)
        rc = text_check(&own, e);
    text_free(&own);
    return rc ? rc : text_check(&notes->common, e);
}

/* Of n values that are not the first, so many are looked at, the last one among them. */
static int note_axis(struct grid_notes *notes, const struct looks *l, struct sweep_point *p, int32_t k,
                     int64_t most, struct err *e)
{
    const struct sweep *w = l->w;
    int64_t n = w->axes[w->grids[p->grid].axes[k]].n - 1, looks = n < most ? n : most;
    int rc = 0;
    for (int64_t i = 1; i <= looks && !rc; i++) {
        p->at[k] = i * n / looks;
        rc = note_point(notes, l, p, e);
    }
    p->at[k] = 0;
    return rc;
}

/* A key may have no effect at one point and some at another: ask the neighbours of the first point too. */
static int note_grid(struct grid_notes *notes, const struct looks *l, int32_t grid, int64_t most,
                     struct err *e)
{
    struct sweep_point p = { .grid = grid };
    int32_t n_axes = l->w->grids[grid].n_axes;
    /* No division by zero: a grid has an axis, since a map of axes is refused where it is empty. */
    int64_t each = (most - 1) / n_axes;
    int rc = note_point(notes, l, &p, e);
    for (int32_t k = 0; k < n_axes && !rc; k++)
        rc = note_axis(notes, l, &p, k, each < NEIGHBOURS ? each : NEIGHBOURS, e);
    return rc;
}

/* ---- all grids ---- */

/* Is a note about a key that varies in some grids, but not in this one? Then the grid has no say in it. */
static bool is_foreign(const struct sweep *w, int32_t grid, const char *what)
{
    const struct sweep_point p = { .grid = grid };
    for (int32_t k = 0; k < w->n_keys; k++) {
        size_t n = strlen(w->keys[k].path);
        if (strncmp(what, w->keys[k].path, n) == 0 && what[n] == ' ')
            return !sweep_value(w, &p, k);
    }
    return false;
}

static bool all_say(const struct sweep *w, const struct grid_notes *notes, const char *what, size_t n)
{
    for (int32_t grid = 0; grid < w->n_grids; grid++)
        if (notes[grid].any && !is_foreign(w, grid, what) && !says(text_str(&notes[grid].common), what, n))
            return false;
    return true;
}

/* What all grids say that have a say, once. */
static void gather(struct text *out, const struct sweep *w, const struct grid_notes *notes)
{
    for (int32_t grid = 0; grid < w->n_grids; grid++)
        for (const char *line = text_str(&notes[grid].common); *line; line = strchr(line, '\n') + 1) {
            size_t n;
            const char *what = said(line, &n);
            if (all_say(w, notes, what, n) && !says(text_str(out), what, n))
                text_add(out, line, (size_t)(strchr(line, '\n') - line) + 1);
        }
}

int sweep_note(struct text *out, const struct sweep *w, sweep_look *look, void *data, struct err *e)
{
    const struct looks l = { w, look, data };
    /* Of very many grids some are left out, evenly. */
    int32_t looks = w->n_grids < MOST / 4 ? w->n_grids : MOST / 4;
    struct grid_notes *notes = calloc((size_t)w->n_grids + 1, sizeof *notes);
    int rc = notes ? 0 : err_nomem(e, "grids");
    for (int32_t i = 0; i < looks && !rc; i++) {
        int32_t grid = (int32_t)((int64_t)i * w->n_grids / looks);
        rc = note_grid(&notes[grid], &l, grid, MOST / looks, e);
    }
    if (!rc) {
        gather(out, w, notes);
        rc = text_check(out, e);
    }
    for (int32_t grid = 0; grid < w->n_grids && notes; grid++)
        text_free(&notes[grid].common);
    free(notes);
    return rc;
}
