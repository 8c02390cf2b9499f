/**
 * @file Pages of panels: wrapped in rows, or two beside each other; and short texts beside markers, where
 * there is room.
 *
 * All lengths are pixels of the page, 96 to the inch, y downwards from the top. Panels are found from the
 * room that canvas_open() leaves, so a page of another size changes panels and never the text around them.
 */
#ifndef PLOTS_PAGE_H
#define PLOTS_PAGE_H

#include "plots/data.h"

/** A panel and its axes. */
struct panel {
    struct canvas_box box;
    struct axis x, y;
};
/**
 * Where a point of the panel is on the page. Not clipped: a point outside of the axes lies outside of the
 * box.
 */
struct canvas_xy panel_px(const struct panel *p, struct canvas_xy at);

/* ---- panels in rows, as even as can be: four are 2 x 2 ---- */

/** How a page of wrapped panels looks [px]. */
struct wrap_look {
    int32_t most, in_row;             /**< panels */
    double panel_px, least_px, alone; /**< height; of one alone so many times more */
    double y_tics_px, gap_px;
    double name_px;  /**< how far a name may be wider than its panel */
    double strip_px; /**< above panels without names */
};

struct wrap {
    struct canvas *c;
    const struct wrap_look *look;
    const char *const *names; /**< shape [n], above the panels */
    int32_t n, n_columns, n_rows;
    double strip_px;
    struct canvas_box body;
};

/** @p n panels, of which look->most are drawn. */
void wrap_fit(struct wrap *w, struct canvas *c, const struct wrap_look *look, const char *const *names,
              int32_t n);
/** Open the page, whose notes and legend are set. ERR_RANGE when it is too low. */
int wrap_open(struct wrap *w, struct err *e);
/** Where panel k, 0 <= k < n, is on the page: after wrap_open(). */
struct canvas_box wrap_box(const struct wrap *w, int32_t k);
/** Begin panel k: its axes and its name. canvas_draw() ends it. */
void wrap_panel(const struct wrap *w, const struct panel *p, int32_t k);

/* ---- two columns, a row for each point of a study ---- */

enum { PAIRS_MOST = 4 };

/** All borrowed. */
struct pairs {
    const struct points *points;           /**< of which at most PAIRS_MOST are drawn */
    const char *x_labels[2], *y_labels[2]; /**< of the columns, with units */
    /** Draw panel @p column of point @p point from canvas_panel() up to its blocks, in @p box. */
    void (*paint)(struct canvas *c, const struct canvas_box *box, int32_t point, int32_t column, void *of);
    void *of; /**< handed to `paint` */
};
/** Draw the panels on a page whose notes and legend are set. ERR_RANGE when the page is too low. */
int pairs_build(struct canvas *c, const struct pairs *spec, struct err *e);

/* ---- short texts ---- */

/** What of a panel is taken: a box, a thin one, which may be crossed where there is no other room, or
 * (segment) the way from its left top to its right bottom. */
struct place_taken {
    struct canvas_box box;
    bool thin, segment;
};
/**
 * Rooms of one panel, a list that is searched from end to end: a panel has some hundred texts and markers at
 * most.
 */
struct places {
    struct canvas_box inside; /**< where texts may be */
    struct place_taken *taken;
    int32_t n, most; /**< beyond `most` things the rest counts as free */
};

/** Half a marker with some air [px]. */
#define PLACES_MARKER_PX 5

/** Begin with nothing taken. ERR_NOMEM. */
int places_begin(struct places *p, struct canvas *c, int32_t most, struct err *e);
/** Take a room; that of a marker; of a line from @p a to @p b in small thin boxes. All in pixels of the page.
 */
void places_take(struct places *p, struct place_taken taken);
void places_take_marker(struct places *p, struct canvas_xy at);
/** As many as its length asks for, at most p->most. */
void places_take_line(struct places *p, struct canvas_xy a, struct canvas_xy b);
/** Whether a box is inside and free, or crossed by nothing but thin things. O(p->n). */
bool places_free(const struct places *p, const struct canvas_box *box, bool over_thin);
/**
 * Write @p s beside the marker at @p at: above, below, right, left or at a corner; false, and nothing
 * written, when there is no room, or none but (unless @p over_lines) over a line. What is written is taken.
 * Sides are tried in a fixed order, so the same data give the same picture.
 */
bool places_put_beside(struct places *p, struct canvas *c, struct canvas_xy at, const char *s,
                       const char *color, bool over_lines);
/** The same, rather than over a line, but there if need be. */
bool places_put(struct places *p, struct canvas *c, struct canvas_xy at, const char *s, const char *color);
/** The same further off, with a line from the marker to the text that crosses no other text and no marker. */
bool places_put_apart(struct places *p, struct canvas *c, struct canvas_xy at, const char *s,
                      const char *color, bool over_lines);
/** Append the letter of the @p k-th thing, from 0: "a" to "z", then "aa" to "zz". */
void places_put_letter(struct text *out, int32_t k);

/** In notes: what whiskers of steps are. */
#define BAND_WORDS "9 of 10 measured steps are within"

#endif
