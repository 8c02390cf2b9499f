/*
 * The page of a figure: title, notes and account above, panels, the legend below; texts at their places. What
 * is drawn is gathered block by block and handed to the writer of the format (plots/script.c, plots/svg.c),
 * which knows no figure, as figures know no format.
 *
 * Sizes are pixels, and widths of texts are estimates, the same on every machine.
 */
#include "plots/canvas.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

enum {
    DEFAULT_WIDTH_PX = 720,
    EDGE_PX = 12,
    LEGEND_ROW_PX = 20,
    SAMPLE_PX = 34,
    TEXT_GAP_PX = 8,
    LEGEND_GAP_PX = 18,
    MANY_MARKERS = 2000,
    SQUARE_PX = 3, /* of more one is drawn in a square so wide */
};

/* The user's own title goes before any that a figure makes up later. */
void canvas_title(struct canvas *c, const char *title)
{
    text_clear(&c->title);
    text_puts(&c->title, c->opt->title && c->opt->title[0] ? c->opt->title : title);
}

void canvas_init(struct canvas *c, const struct plot_options *opt, const char *title)
{
    *c = (struct canvas){ .opt = opt,
                          .writer = opt->format == PLOT_SVG ? &svg_writer : &script_writer,
                          .width_px = opt->width_px ? opt->width_px : DEFAULT_WIDTH_PX,
                          .row = -1 };
    canvas_title(c, title);
}

/* ---- memory ---- */

/* Zeroed. Of no entries one is taken: NULL then always means that there is no memory. */
void *canvas_new(struct canvas *c, int64_t n, size_t size, struct err *e)
{
    void *taken = arena_take(&c->arena, n > 0 ? (size_t)n : 1, size);

    if (!taken)
        err_nomem(e, "the figure");
    return taken;
}

/* Without memory the answer is "", so that callers need not look; the image remembers that it failed. */
const char *canvas_keep_text(struct canvas *c, struct text *t)
{
    struct err e;
    char *kept = t->failed ? NULL : canvas_new(c, (int64_t)t->n + 1, 1, &e);

    c->image.failed = c->image.failed || !kept;
    if (kept)
        memcpy(kept, text_str(t), t->n);
    text_free(t);
    return kept ? kept : "";
}

const char *canvas_keep(struct canvas *c, const char *fmt, ...)
{
    struct text t = { 0 };
    va_list ap;

    va_start(ap, fmt);
    text_vprintf(&t, fmt, ap);
    va_end(ap);
    return canvas_keep_text(c, &t);
}

void canvas_free(struct canvas *c)
{
    arena_free(&c->arena);
    text_free(&c->image);
    text_free(&c->later);
    free(c->items);
    text_free(&c->title);
    text_free(&c->note);
    for (int32_t i = 0; i < c->n_samples; i++)
        text_free(&c->samples[i].label);
    c->n_samples = 0;
}

/* Notes are one text with "; " between, which canvas_open() breaks into lines. */
void canvas_note(struct canvas *c, const char *fmt, ...)
{
    va_list ap;

    text_puts(&c->note, c->note.n ? "; " : "");
    va_start(ap, fmt);
    text_vprintf(&c->note, fmt, ap);
    va_end(ap);
}

void canvas_say(struct canvas *c, const char *fmt, ...)
{
    va_list ap;

    if (!c->opt->said)
        return;
    va_start(ap, fmt);
    text_vprintf(c->opt->said, fmt, ap);
    va_end(ap);
    text_puts(c->opt->said, "\n");
}

void canvas_note_first(struct canvas *c, int64_t n, int64_t n_all, const char *what)
{
    if (n_all > n)
        canvas_note(c, "first %lld of %lld %s", (long long)n, (long long)n_all, what);
}

/* ---- what becomes of rows ---- */

enum { FATE_FILTERED, FATE_DRAWN, FATE_LEFT };

int canvas_rows(struct canvas *c, const struct table *t, struct err *e)
{
    c->account = (struct canvas_account){ .fate = canvas_new(c, t->n_rows, sizeof *c->account.fate, e),
                                          .table = t,
                                          .n_table = t->n_rows };
    return c->account.fate ? 0 : ERR_NOMEM;
}

void canvas_row(struct canvas *c, int64_t row)
{
    c->account.n += c->account.fate[row] == FATE_FILTERED;
    c->account.fate[row] = FATE_DRAWN;
}

void canvas_leave_out(struct canvas *c, int64_t row, const char *why)
{
    struct canvas_account *a = &c->account;
    int32_t k = 0;

    if (a->fate[row] != FATE_DRAWN)
        return;
    while (k < a->n_reasons && strcmp(a->reasons[k].why, why) != 0)
        k++;
    if (k == CANVAS_MAX_REASONS)
        a->reasons[--k].why = "for other reasons";
    if (k == a->n_reasons)
        a->reasons[a->n_reasons++].why = canvas_keep(c, "%s", why);
    a->reasons[k].n++;
    a->n_left++;
    a->fate[row] = (int16_t)(FATE_LEFT + k);
}

static void put_reasons(struct text *out, const struct canvas_account *a)
{
    for (int32_t k = 0; k < a->n_reasons; k++)
        text_printf(out, "%s%lld %s", k ? ", " : "", (long long)a->reasons[k].n, a->reasons[k].why);
}

int canvas_none_left(struct canvas *c, const char *figure, struct err *e)
{
    const struct canvas_account *a = &c->account;
    struct text why = { 0 };

    if (a->n_table > a->n)
        text_printf(&why, "%lld not of --where%s", (long long)(a->n_table - a->n), a->n_left ? ", " : "");
    put_reasons(&why, a);
    err_set(e, ERR_PARSE, "figure %s: rows to draw: is 0 of %lld%s%s%s, expected at least 1", figure,
            (long long)a->n_table, why.n ? " (" : "", text_str(&why), why.n ? ")" : "");
    text_free(&why);
    return ERR_PARSE;
}

/* A line of the page, and one for whoever draws. */
static void account_close(struct canvas *c)
{
    struct canvas_account *a = &c->account;
    struct text why = { 0 };

    if (a->n_left == 0)
        return;
    text_printf(&why, "drawn: %lld of %lld rows; left out: ", (long long)(a->n - a->n_left), (long long)a->n);
    put_reasons(&why, a);
    a->line = canvas_keep_text(c, &why);
    canvas_say(c, "%s", a->line);
}

void canvas_legend(struct canvas *c, struct mark mark, const char *label)
{
    if (c->n_samples == CANVAS_MAX_SAMPLES) {
        /* Said once, however many entries are left out. */
        if (!strstr(text_str(&c->note), "legend"))
            canvas_note(c, "legend: first %d entries", CANVAS_MAX_SAMPLES);
        return;
    }
    struct canvas_sample *s = &c->samples[c->n_samples++];
    *s = (struct canvas_sample){ .mark = mark };
    text_puts(&s->label, label);
}

/* Characters of UTF-8: bytes that do not continue one. */
static size_t count_chars(const char *s, size_t n)
{
    size_t chars = 0;

    for (size_t i = 0; i < n; i++)
        chars += ((unsigned char)s[i] & 0xC0) != 0x80;
    return chars;
}

/*
 * Fonts differ between machines, and the same script must be the same everywhere: each character counts as
 * wide as an average one, with some to spare. Texts that are wider than that in some font stick out a little.
 */
double canvas_width(const char *s, double size_px)
{
    return (double)count_chars(s, strlen(s)) * size_px * CANVAS_CHAR;
}

/* Bytes of s that make at most `chars` characters. */
static size_t prefix_bytes(const char *s, size_t chars)
{
    size_t n = 0;

    for (; s[n]; n++) {
        bool begins = ((unsigned char)s[n] & 0xC0) != 0x80;
        if (begins && chars-- == 0)
            break;
    }
    return n;
}

void canvas_put_short(struct text *out, const char *s, size_t chars)
{
    size_t n = strlen(s), have = count_chars(s, n);

    if (have <= chars) {
        text_puts(out, s);
        return;
    }
    /* The middle goes: names of jobs and networks differ at their ends. */
    size_t last = (chars - 1) / 2;
    text_add(out, s, prefix_bytes(s, chars - 1 - last));
    text_puts(out, "…");
    text_puts(out, s + prefix_bytes(s, have - last));
}

void canvas_text(struct canvas *c, const struct canvas_label *where, const char *s)
{
    struct text shown = { 0 };
    struct canvas_label at = *where;

    if (!*s)
        return;

    text_puts(&shown, s);
    double size_px = where->size_px > 0 ? where->size_px : CANVAS_FONT_PX,
           width_px = canvas_width(s, size_px), room_px = where->room_px > 0 ? where->room_px : HUGE_VAL;
    /* Not beyond the page, from whose middle to the nearer edge there is half of the room. */
    if (where->align == ALIGN_CENTER && where->rotate == 0)
        room_px = fmin(room_px, 2 * fmin(where->x_px, c->width_px - where->x_px));
    /* Smaller first, as far as it stays readable, then cut. */
    if (width_px > room_px && !where->keep_size)
        size_px *= fmax(room_px / width_px, CANVAS_LEAST_SHRINK);
    if (canvas_width(s, size_px) > room_px * (1 + 1e-9)) {
        double chars = fmax(2, floor(room_px / (size_px * CANVAS_CHAR)));
        text_clear(&shown);
        text_add(&shown, s, prefix_bytes(s, (size_t)chars - 1));
        text_puts(&shown, "…");
    }
    at.size_px = size_px;
    c->writer->label(c, &at, text_str(&shown));
    c->image.failed = c->image.failed || shown.failed;
    text_free(&shown);
}

void canvas_leader(struct canvas *c, double from_x, double from_y, double to_x, double to_y)
{
    c->writer->leader(c, (struct canvas_xy){ from_x, from_y }, (struct canvas_xy){ to_x, to_y });
    c->has_leaders = true;
}

void canvas_name(struct canvas *c, const struct canvas_box *box, double room_px, const char *s)
{
    canvas_x_label(c, box->left, box->right, box->top - CANVAS_STRIP_PX * 0.5, room_px, s);
}

void canvas_x_label(struct canvas *c, double left, double right, double y_px, double room_px, const char *s)
{
    struct canvas_label at = {
        .x_px = (left + right) / 2, .y_px = y_px, .align = ALIGN_CENTER, .room_px = room_px
    };
    canvas_text(c, &at, s);
}

void canvas_y_label(struct canvas *c, double x_px, double top, double bottom, double room_px, const char *s)
{
    struct canvas_label at = {
        .x_px = x_px, .y_px = (top + bottom) / 2, .align = ALIGN_CENTER, .rotate = 90, .room_px = room_px
    };
    canvas_text(c, &at, s);
}

void canvas_categories(struct canvas *c, const struct canvas_box *box, const char *const *words, int32_t n,
                       double gap_px)
{
    double width = (box->right - box->left) / n, widest = 1;

    for (int32_t i = 0; i < n; i++)
        widest = fmax(widest, canvas_width(words[i], CANVAS_SMALL_PX));
    /* All words in one size; where they are too wide for one line every other one stands a line lower. */
    bool two_lines = n > 1 && widest > width - gap_px;
    double room = (two_lines ? 2 : 1) * width - gap_px;
    struct canvas_label at = { .align = ALIGN_CENTER,
                               .size_px = CANVAS_SMALL_PX * fmin(1, fmax(room / widest, CANVAS_LEAST_SHRINK)),
                               .room_px = room,
                               .keep_size = true };

    for (int32_t i = 0; i < n; i++) {
        at.x_px = box->left + (i + 0.5) * width;
        at.y_px = box->bottom + CANVAS_X_TICS_PX * (!two_lines ? 0.5 : i % 2 ? 0.8 : 0.32);
        canvas_text(c, &at, words[i]);
    }
}

void canvas_axis_labels(struct canvas *c, const struct canvas_box *body, const char *x_label,
                        const char *y_label)
{
    canvas_x_label(c, body->left + CANVAS_Y_LABEL_PX, body->right, body->bottom - CANVAS_X_LABEL_PX * 0.5, 0,
                   x_label);
    canvas_y_label(c, body->left + CANVAS_Y_LABEL_PX * 0.5 - 4, body->top, body->bottom - CANVAS_X_LABEL_PX,
                   0, y_label);
}

/* Bytes of the first line of s when at most `chars` fit: broken at a space where there is one. A word longer
 * than a line is broken anywhere. */
static size_t line_bytes(const char *s, size_t chars)
{
    size_t n = prefix_bytes(s, chars);

    if (!s[n])
        return n;
    for (size_t i = n; i > 0; i--)
        if (s[i] == ' ')
            return i;
    return n;
}

/* Lines of s, centred on the page from top_px on; returns where they end. Draws nothing when c is to be
 * measured. */
static double put_lines(struct canvas *c, const char *s, double size_px, double top_px, const char *color,
                        bool measure)
{
    size_t chars = (size_t)fmax(8, (c->width_px - 2 * EDGE_PX) / (size_px * CANVAS_CHAR));
    struct text line = { 0 };

    while (*s) {
        size_t n = line_bytes(s, chars);
        struct canvas_label at = { .x_px = c->width_px / 2,
                                   .y_px = top_px + size_px * 0.65,
                                   .align = ALIGN_CENTER,
                                   .size_px = size_px,
                                   .color = color };
        text_clear(&line);
        text_add(&line, s, n);
        if (!measure)
            canvas_text(c, &at, text_str(&line));
        c->image.failed = c->image.failed || line.failed;
        top_px += size_px * 1.35;
        for (s += n; *s == ' ';)
            s++;
    }
    text_free(&line);
    return top_px;
}

/* Title, notes, then on a line of its own what is left out: where they end. */
static double canvas_put_head(struct canvas *c, bool measure)
{
    double y = put_lines(c, text_str(&c->title), CANVAS_TITLE_PX, 10, CANVAS_BLACK, measure);
    y = put_lines(c, text_str(&c->note), CANVAS_SMALL_PX, y + 2, CANVAS_GREY, measure);
    return put_lines(c, c->account.line ? c->account.line : "", CANVAS_SMALL_PX, y, CANVAS_GREY, measure) + 6;
}

static double sample_width(const struct canvas *c, int32_t i)
{
    double text_px = canvas_width(text_str(&c->samples[i].label), CANVAS_FONT_PX);
    return fmin(SAMPLE_PX + TEXT_GAP_PX + text_px, c->width_px - 2 * EDGE_PX);
}

/* How many samples from `first` on stand in one row of the legend, and their width. */
static int32_t legend_row(const struct canvas *c, int32_t first, double *row_px)
{
    int32_t i = first;

    *row_px = sample_width(c, i++);
    while (i < c->n_samples && *row_px + LEGEND_GAP_PX + sample_width(c, i) <= c->width_px - 2 * EDGE_PX)
        *row_px += LEGEND_GAP_PX + sample_width(c, i++);
    return i - first;
}

static double legend_height(const struct canvas *c)
{
    double row_px, height_px = EDGE_PX;

    for (int32_t i = 0; i < c->n_samples; i += legend_row(c, i, &row_px))
        height_px += LEGEND_ROW_PX;
    return height_px;
}

int canvas_open(struct canvas *c, struct canvas_box *body, double body_px, double least_px, struct err *e)
{
    account_close(c);
    double top_px = canvas_put_head(c, true), legend_px = legend_height(c);

    /* Title and notes are measured first: they wrap, and the page grows with them. */
    c->height_px = c->opt->height_px ? c->opt->height_px : ceil(top_px + body_px + legend_px);
    if (c->height_px < top_px + least_px + legend_px)
        return err_set(e, ERR_RANGE, "height: is %g px, expected at least %g", c->height_px,
                       ceil(top_px + least_px + legend_px));
    c->legend_top_px = c->height_px - legend_px;
    *body = (struct canvas_box){
        .left = EDGE_PX, .top = top_px, .right = c->width_px - EDGE_PX, .bottom = c->legend_top_px
    };
    c->writer->open(c);
    canvas_put_head(c, false);
    return 0;
}

void canvas_panel(struct canvas *c, const struct canvas_box *b, const struct axis *x, const struct axis *y)
{
    c->box = *b;
    c->x = *x;
    c->y = *y;
    c->writer->panel(c);
}

bool canvas_has_frame(const struct canvas *c)
{
    return !(c->x.bare && c->y.bare) || c->x.framed;
}

void canvas_mark_row(struct canvas *c, int64_t row)
{
    c->row = row;
}

static void put_item(struct canvas *c, struct canvas_item item)
{
    item.row = c->row;
    if (vec_reserve(c->items, c->cap_items, c->n_items + 1))
        c->items[c->n_items++] = item;
    else
        c->image.failed = true;
}

void canvas_point(struct canvas *c, double x, double y)
{
    put_item(c, (struct canvas_item){ .as = ITEM_POINT, .x = x, .y = y });
}

void canvas_bar(struct canvas *c, double x_lo, double y_lo, double x_hi, double y_hi)
{
    put_item(c, (struct canvas_item){ ITEM_BOX, x_lo, y_lo, x_hi, y_hi, 0 });
}

void canvas_area(struct canvas *c, double x_lo, double y_lo, double x_hi, double y_hi)
{
    put_item(c, (struct canvas_item){ ITEM_AREA, x_lo, y_lo, x_hi, y_hi, 0 });
}

/* The next point begins another line or shape of the same look. */
void canvas_break(struct canvas *c)
{
    if (c->n_items > 0)
        put_item(c, (struct canvas_item){ .as = ITEM_BREAK });
}

double canvas_px(const struct canvas *c, bool along, double at)
{
    const struct canvas_box *b = &c->box;
    return along ? b->left + axis_share(&c->x, at) * (b->right - b->left)
                 : b->bottom - axis_share(&c->y, at) * (b->bottom - b->top);
}

bool canvas_has(const struct canvas *c, double x_px, double y_px)
{
    const struct canvas_box *b = &c->box;
    const double edge = 0.01;
    return x_px >= b->left - edge && x_px <= b->right + edge && y_px >= b->top - edge &&
           y_px <= b->bottom + edge;
}

/* Of very many markers one is kept in each square: next to nothing of the others would be seen behind it. */
static void thin_markers(struct canvas *c)
{
    int64_t width = (int64_t)((c->box.right - c->box.left) / SQUARE_PX) + 2,
            height = (int64_t)((c->box.bottom - c->box.top) / SQUARE_PX) + 2, kept = 0;
    bool *taken = calloc((size_t)(width * height), sizeof *taken);

    c->image.failed = c->image.failed || !taken;
    for (int64_t k = 0; k < c->n_items && taken; k++) {
        double x = canvas_px(c, true, c->items[k].x), y = canvas_px(c, false, c->items[k].y);
        bool *square = canvas_has(c, x, y) ? &taken[(int64_t)((y - c->box.top) / SQUARE_PX) * width +
                                                    (int64_t)((x - c->box.left) / SQUARE_PX)]
                                           : NULL;
        if (!square || !*square)
            c->items[kept++] = c->items[k];
        if (square)
            *square = true;
    }
    c->n_items = taken ? kept : c->n_items;
    free(taken);
}

void canvas_block_end(struct canvas *c, struct mark mark)
{
    if (c->n_items > MANY_MARKERS && mark_look(mark).as == LOOK_POINTS)
        thin_markers(c);
    if (c->n_items > 0)
        c->writer->block(c, mark);
    c->n_items = 0;
    c->row = -1;
}

void canvas_line(struct canvas *c, struct mark mark, double x_from, double y_from, double x_to, double y_to)
{
    canvas_point(c, x_from, y_from);
    canvas_point(c, x_to, y_to);
    canvas_block_end(c, mark);
}

void canvas_draw(struct canvas *c)
{
    c->writer->draw(c);
    c->has_leaders = false;
    c->image.failed = c->image.failed || c->later.failed;
    text_clear(&c->later);
}

/* The legend's panel is as wide as the page and has one unit to the pixel, from its top. */
static void canvas_put_sample(struct canvas *c, const struct canvas_sample *s, double x, double y)
{
    switch (s->mark.kind) {
    case MARK_FILL:
    case MARK_BAR:
    case MARK_SHADE:
    case MARK_FRAME:
        canvas_bar(c, x, y + 6, x + SAMPLE_PX, y - 6);
        break;
    case MARK_POINT:
    case MARK_HOLLOW:
    case MARK_DOT:
    case MARK_CLOUD:
    case MARK_SPOT:
    case MARK_RING:
        canvas_point(c, x + SAMPLE_PX - 8, y);
        break;
    case MARK_LINE:
        /* A line without markers, then one marker in its middle. */
        canvas_line(c, (struct mark){ MARK_TRACE, s->mark.style }, x, y, x + SAMPLE_PX, y);
        canvas_point(c, x + SAMPLE_PX * 0.5, y);
        break;
    case MARK_AREA:
    case MARK_TINT:
    case MARK_BAND:
        canvas_area(c, x, y + 6, x + SAMPLE_PX, y - 6);
        break;
    case MARK_WHISKER:
        canvas_bar(c, x + SAMPLE_PX * 0.5, y, y + 6, y - 6);
        break;
    case MARK_FRONT:
    case MARK_CURVE:
    case MARK_TRACE:
    case MARK_RULE:
    case MARK_HAIR:
        canvas_point(c, x, y);
        canvas_point(c, x + SAMPLE_PX, y);
        break;
    }
    canvas_block_end(c, s->mark);
}

/* Entries have room for all of their text, unless one is wider than the page. */
static void put_legend_row(struct canvas *c, int32_t first, int32_t n, double left_px, double y_px)
{
    for (int32_t i = first; i < first + n; i++) {
        struct canvas_label at = { .x_px = left_px + SAMPLE_PX + TEXT_GAP_PX,
                                   .y_px = y_px,
                                   .size_px = CANVAS_FONT_PX,
                                   .room_px = sample_width(c, i) - SAMPLE_PX - TEXT_GAP_PX + 1,
                                   .color = CANVAS_BLACK };
        canvas_put_sample(c, &c->samples[i], left_px, y_px - c->legend_top_px);
        canvas_text(c, &at, text_str(&c->samples[i].label));
        left_px += sample_width(c, i) + LEGEND_GAP_PX;
    }
}

void canvas_close(struct canvas *c)
{
    struct canvas_box band = { 0, c->legend_top_px, c->width_px, c->height_px };
    /* y_px is on the page, for texts; samples count from the top of the legend's own panel. */
    double y_px = c->legend_top_px + LEGEND_ROW_PX * 0.7, row_px;

    if (c->n_samples > 0) {
        const struct axis x = { .hi = c->width_px, .bare = true },
                          y = { .lo = c->height_px - c->legend_top_px, .bare = true };
        canvas_panel(c, &band, &x, &y);
        for (int32_t i = 0; i < c->n_samples;) {
            int32_t n = legend_row(c, i, &row_px);
            put_legend_row(c, i, n, (c->width_px - row_px) / 2, y_px);
            i += n;
            y_px += LEGEND_ROW_PX;
        }
        canvas_draw(c);
    }
    c->writer->close(c);
}
