/**
 * @file The page a figure is drawn on, whatever the format: what figures call, and what a writer of a format
 * fills in.
 *
 * A figure is built in one order: canvas_init(), notes and legend, canvas_open() (which knows then how high
 * they are), for each panel canvas_panel(), blocks and labels, canvas_draw(), and at the end canvas_close().
 * Lack of memory is kept in the image and told once, by whoever takes it.
 */
#ifndef PLOTS_CANVAS_H
#define PLOTS_CANVAS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/text.h"
#include "plots/figure.h"
#include "plots/marks.h"
#include "plots/scale.h"

#define CANVAS_FONT_PX  13.0 /* labels: 9.75 pt, so a figure shrunk to 6.5 inches still has 9 pt */
#define CANVAS_SMALL_PX 11.0
#define CANVAS_TITLE_PX 15.0
#define CANVAS_CHAR     0.56 /* mean width of a character over font size, text of mixed case in DejaVu Sans */

/** Text too long for its room is set smaller down to this share, then cut: nothing is below 9 px. */
#define CANVAS_LEAST_SHRINK (9 / CANVAS_SMALL_PX)

#define CANVAS_WHITE "#ffffff"
#define CANVAS_BLACK "#000000"
#define CANVAS_GREY  "#555555"
#define CANVAS_DARK  "#111111" /* on a light fill, which stays light on a dark page */

enum { CANVAS_MAX_SAMPLES = 24 };

struct canvas_sample {
    struct mark mark;
    struct text label;
};

struct canvas_box {
    double left, top, right, bottom; /**< [px] */
};

/** Room around a panel [px], for text of CANVAS_FONT_PX. */
enum {
    CANVAS_X_TICS_PX = 25,
    CANVAS_X_LABEL_PX = 20,
    CANVAS_Y_LABEL_PX = 22,
    CANVAS_STRIP_PX = 20, /**< the name of a panel, a column or a row of them */
};

/** A point in the units of a panel's axes. */
struct canvas_xy {
    double x, y;
};

enum { CANVAS_MAX_REASONS = 24 };

/** What becomes of the rows of the table. Each that passes the filters is drawn, or left out for one reason.
 */
struct canvas_account {
    int16_t *fate; /**< shape [n_table]: 0 it does not pass, 1 it is drawn, 2 + k left out for reason k */
    const struct table *table;  /**< borrowed */
    int64_t n, n_table, n_left; /**< rows that pass; of the table; those of them that are left out */
    struct {
        const char *why;
        int64_t n;
    } reasons[CANVAS_MAX_REASONS]; /**< shape [n_reasons]; the last is shared by all beyond it */
    int32_t n_reasons;
    const char *line; /**< what the page says of it; NULL: all rows are drawn, or the page is not open */
};

/** A point of a line or of markers, a box, a rectangle of an area, or what parts lines and shapes. */
struct canvas_item {
    enum { ITEM_POINT, ITEM_BOX, ITEM_AREA, ITEM_BREAK } as;
    double x, y, x_hi, y_hi; /**< the latter of a box and of an area: its other corner */
    int64_t row;             /**< of the table; -1: of none */
};

/** Initialise with canvas_init(); release with canvas_free(). */
struct canvas {
    struct text image; /**< what is written so far */
    struct text later; /**< what the writer keeps until the panel ends */
    struct text title, note;
    const struct plot_options *opt; /**< borrowed */
    const struct canvas_writer *writer;
    struct canvas_box box; /**< the panel at hand */
    struct axis x, y;
    struct canvas_item *items; /**< shape [n_items], owned: of the block at hand */
    int64_t n_items, cap_items;
    int64_t row;      /**< whose the next items are */
    int64_t n_titles; /**< items that are named so far */
    struct canvas_sample samples[CANVAS_MAX_SAMPLES];
    int32_t n_samples, n_blocks; /**< entries of the legend; blocks so far, over all panels */
    bool has_leaders;            /**< canvas_leader() since the last panel */
    struct arena arena;          /**< what lives as long as the canvas */
    struct canvas_account account;
    double width_px, height_px, legend_top_px; /**< width_px: known from the start */
};

/** @p title is the figure's own; that of @p opt goes before it. */
void canvas_init(struct canvas *c, const struct plot_options *opt, const char *title);
/** All that was taken from it, the script among it. */
void canvas_free(struct canvas *c);

/** Zeroed memory for @p n things of @p size, released with the canvas: for all that a figure keeps. NULL,
 * with the error set, when there is none. */
void *canvas_new(struct canvas *c, int64_t n, size_t size, struct err *e);
/** A text that lives as long as the canvas; "" when out of memory, which the script then tells. */
const char *canvas_keep(struct canvas *c, const char *fmt, ...) ERR_PRINTF(2, 3);
/** The same of what @p t holds, which is released. */
const char *canvas_keep_text(struct canvas *c, struct text *t);

/** Another title of the figure's own, where that of the options does not go before it. */
void canvas_title(struct canvas *c, const char *title);

/** Add a remark to the lines below the title. */
void canvas_note(struct canvas *c, const char *fmt, ...) ERR_PRINTF(2, 3);

/** Tell whoever draws, by the options' `said`. */
void canvas_say(struct canvas *c, const char *fmt, ...) ERR_PRINTF(2, 3);

/*
 * Every figure accounts for its rows: data_read() begins, whoever leaves rows out later says so, row by row,
 * and canvas_open() writes what is left out and why, on a line of the page and by canvas_say(). Nothing
 * vanishes without a word.
 */

/** The rows of @p t, none of which passes so far. ERR_NOMEM. */
int canvas_rows(struct canvas *c, const struct table *t, struct err *e);
/** Row @p row of the table passes the filters: it is drawn unless it is left out. */
void canvas_row(struct canvas *c, int64_t row);
/** It is left out: "infeasible", "without time_s", "behind a better one of the same bar". The first reason
 * counts; equal ones add up. O(reasons). */
void canvas_leave_out(struct canvas *c, int64_t row, const char *why);
/** ERR_PARSE: no row of the table is left to @p figure, and why. */
int canvas_none_left(struct canvas *c, const char *figure, struct err *e);

/** "first 5 of 9 workloads", where not all are drawn. */
void canvas_note_first(struct canvas *c, int64_t n, int64_t n_all, const char *what);

/** Add an entry to the legend; beyond CANVAS_MAX_SAMPLES entries the rest is left out and noted. */
void canvas_legend(struct canvas *c, struct mark mark, const char *label);

/**
 * Set the terminal and write title and notes. @p body is the room between them and
 * the legend: as high as @p body_px unless the options fix the height of the page.
 * @return 0 or ERR_RANGE when the page is too low for a body of @p least_px.
 */
int canvas_open(struct canvas *c, struct canvas_box *body, double body_px, double least_px, struct err *e);

/** Begin a panel: its frame, axes, tics and grid. Without a frame where both axes are bare. */
void canvas_panel(struct canvas *c, const struct canvas_box *b, const struct axis *x, const struct axis *y);

/** Items of a block of data: the first begins one, canvas_block_end() ends it and says how it is drawn.
 * Without items there is no block. */
void canvas_point(struct canvas *c, double x, double y);
/** A box for MARK_FILL, MARK_BAR, MARK_SHADE and MARK_FRAME; of a MARK_WHISKER x, y, low end and high end. */
void canvas_bar(struct canvas *c, double x_lo, double y_lo, double x_hi, double y_hi);
/** A box of a MARK_AREA, which takes a quarter of a MARK_BAR's bytes. Boxes of equal y follow each other by
 * x. */
void canvas_area(struct canvas *c, double x_lo, double y_lo, double x_hi, double y_hi);
/** The items up to the end of the block are of row @p row of the table: an SVG names each of them. */
void canvas_mark_row(struct canvas *c, int64_t row);
/** Before items that are no one shape or line with those before them. */
void canvas_break(struct canvas *c);
/** Later blocks of a panel are drawn over earlier ones. Of very many markers those that hide others are. */
void canvas_block_end(struct canvas *c, struct mark mark);
/** A block of one line. */
void canvas_line(struct canvas *c, struct mark mark, double x_from, double y_from, double x_to, double y_to);

/** Draw the panel with its blocks and the labels since the last panel. */
void canvas_draw(struct canvas *c);

enum canvas_align { ALIGN_LEFT, ALIGN_CENTER, ALIGN_RIGHT };

struct canvas_label {
    double x_px, y_px; /**< anchor; the text is centred on it vertically */
    enum canvas_align align;
    int32_t rotate;    /**< degrees, anticlockwise */
    double size_px;    /**< 0: CANVAS_FONT_PX */
    double room_px;    /**< room_px > 0: set the text smaller to that length, then cut it */
    bool keep_size;    /**< cut it at once */
    const char *color; /**< NULL: black */
};

/** Any text, shown literally. */
void canvas_text(struct canvas *c, const struct canvas_label *where, const char *s);

/** A thin line between two points of the page [px]: from a marker to a text that stands apart from it. */
void canvas_leader(struct canvas *c, double from_x, double from_y, double to_x, double to_y);

/* Texts at their places around a panel. Room: set smaller, then cut; 0 = as long as they are. */

/** Above, in the middle of the strip. */
void canvas_name(struct canvas *c, const struct canvas_box *box, double room_px, const char *s);
/** Below, in the middle of @p left to @p right. */
void canvas_x_label(struct canvas *c, double left, double right, double y_px, double room_px, const char *s);
/** Upright, in the middle of @p top to @p bottom. */
void canvas_y_label(struct canvas *c, double x_px, double top, double bottom, double room_px, const char *s);
/** Words below the @p n equal parts of its width. */
void canvas_categories(struct canvas *c, const struct canvas_box *box, const char *const *words, int32_t n,
                       double gap_px);
/** Names of axes that all panels of @p body share: below in the middle of the panels, and upright at the
 * left. */
void canvas_axis_labels(struct canvas *c, const struct canvas_box *body, const char *x_label,
                        const char *y_label);

/** Write the legend and end the page. */
void canvas_close(struct canvas *c);

/* ---- writers ---- */

/** One format. What a panel holds comes between panel() and draw(); all that is written goes to `image`. */
struct canvas_writer {
    void (*open)(struct canvas *c); /**< the page; its size is known */
    void (*panel)(struct canvas *c);
    void (*block)(struct canvas *c, struct mark mark); /**< the items gathered, at least one */
    /** Over all blocks of the panel. Its size is fixed, and so are its characters. */
    void (*label)(struct canvas *c, const struct canvas_label *at, const char *s);
    void (*leader)(struct canvas *c, struct canvas_xy from, struct canvas_xy to);
    void (*draw)(struct canvas *c);
    void (*close)(struct canvas *c);
};
extern const struct canvas_writer script_writer, svg_writer;
/** Has the panel at hand a frame? */
bool canvas_has_frame(const struct canvas *c);
/** Where a value of its axis x (@p along) or y is on the page. */
double canvas_px(const struct canvas *c, bool along, double at);
/** Is a point of the page within it? */
bool canvas_has(const struct canvas *c, double x_px, double y_px);

/** Append @p s, of more than @p chars >= 3 characters the first and last alone: "A long na…me 7". */
void canvas_put_short(struct text *out, const char *s, size_t chars);

/** Width of @p s in the label font [px], an estimate. */
double canvas_width(const char *s, double size_px);

#endif
