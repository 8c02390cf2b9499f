#include "tests/support.h"

#include "base/text.h"
#include "plots/canvas.h"

/* What a mark looks like, as a text. */
static void put_look(struct text *out, struct mark mark)
{
    const struct look l = mark_look(mark);
    text_printf(out, "%d %s %g %s %d %g %s %s %g %d", (int)l.as, l.stroke ? l.stroke : "-", l.width,
                l.dash ? l.dash : "-", l.point, l.size, l.ring ? l.ring : "-", l.fill ? l.fill : "-",
                l.opacity, l.hatch);
}

enum { MOST = 64 };

/* The first `n` styles of a kind, from `first` on, are as many different elements. */
static void assert_styles_differ(enum mark_kind kind, int32_t first, int32_t n)
{
    struct text s[MOST] = { { 0 } };

    for (int32_t i = 0; i < n; i++) {
        put_look(&s[i], (struct mark){ kind, first + i });
        for (int32_t k = 0; k < i; k++)
            assert_string_not_equal(text_str(&s[i]), text_str(&s[k]));
    }
    for (int32_t i = 0; i < n; i++)
        text_free(&s[i]);
}

TEST(as_many_styles_differ_as_the_header_says)
{
    assert_styles_differ(MARK_FILL, FILL_FIRST, 24);
    assert_styles_differ(MARK_LINE, 0, 64);
    assert_styles_differ(MARK_POINT, 0, MARKS_POINTS);
    assert_styles_differ(MARK_SHADE, 0, SHADE_COUNT);
}

/* A filled marker is never read as the hollow one of the same series, nor of another. */
TEST(every_point_has_a_hollow_form_of_its_own)
{
    struct text s[2 * MARKS_POINTS] = { { 0 } };
    for (int32_t i = 0; i < 2 * MARKS_POINTS; i++) {
        put_look(&s[i], (struct mark){ i % 2 ? MARK_HOLLOW : MARK_POINT, i / 2 });
        for (int32_t k = 0; k < i; k++)
            assert_string_not_equal(text_str(&s[i]), text_str(&s[k]));
    }
    for (int32_t i = 0; i < 2 * MARKS_POINTS; i++)
        text_free(&s[i]);
    for (int32_t color = 0; color < MARKS_COLORS; color++)
        for (int32_t shape = 0; shape < MARKS_SHAPES; shape++)
            for (int32_t other = 0; other < color * MARKS_SHAPES + shape; other++)
                assert_int_not_equal(marks_point_style(color, shape),
                                     marks_point_style(other / MARKS_SHAPES, other % MARKS_SHAPES));
}

/* Hatching is black: on black it would not show. */
TEST(nothing_black_is_hatched)
{
    for (int32_t i = 0; i < 24; i++) {
        const struct look look = mark_look((struct mark){ MARK_FILL, FILL_FIRST + i });
        assert_false(strcmp(look.fill, "#000000") == 0 && look.hatch);
    }
}

TEST(the_parts_of_a_line_look_like_it)
{
    for (int32_t i = 0; i < 20; i++) {
        const struct look line = mark_look((struct mark){ MARK_LINE, i }),
                          trace = mark_look((struct mark){ MARK_TRACE, i }),
                          dot = mark_look((struct mark){ MARK_DOT, i }),
                          band = mark_look((struct mark){ MARK_BAND, i }),
                          whisker = mark_look((struct mark){ MARK_WHISKER, 1 + i });
        assert_string_equal(trace.stroke, line.stroke);
        assert_ptr_equal(trace.dash, line.dash);
        assert_true(trace.point == 0 && line.point > 0 && dot.point == line.point);
        assert_string_equal(dot.stroke, line.stroke);
        assert_string_equal(band.fill, line.stroke);
        assert_string_equal(whisker.stroke, line.stroke);
    }
}

/* It is cut: 12 pixels of edge, then a sample of 34 and a gap of 8. */
TEST(an_entry_of_the_legend_that_is_wider_than_the_page_begins_at_its_edge)
{
    static const struct plot_options options = { .format = PLOT_SCRIPT };
    KEEP(struct canvas, c, canvas_free);
    struct canvas_box body;
    char label[400], want[32];
    memset(label, 'm', sizeof label - 1);
    label[sizeof label - 1] = '\0';
    canvas_init(&c, &options, "");
    canvas_legend(&c, (struct mark){ MARK_LINE, 0 }, label);
    OK(canvas_open(&c, &body, 100, 50, e));
    canvas_close(&c);
    snprintf(want, sizeof want, "…' at screen %.6f,", (12 + 34 + 8) / c.width_px);
    assert_has(text_str(&c.image), want);
}
