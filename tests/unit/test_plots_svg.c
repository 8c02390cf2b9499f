/* What the program's own writer of SVG owes to any page: well-formed, no ids, nothing beyond the panel, names
 * of rows. What each figure shows is in tests/figures. */
#include "tests/unit/test_plots_csv.h"

#include <libxml/parser.h>

#include "plots/canvas.h"

static const struct plot_options svg = { .format = PLOT_SVG };

/* One panel of 0..10 by 0..10 in a page, its box into @p box. */
static void open_panel(struct canvas *c, struct canvas_box *box)
{
    const struct axis axis = { .hi = 10 };
    canvas_init(c, &svg, "A title");
    MUST(canvas_open(c, box, 200, 100, e));
    *box = (struct canvas_box){ box->left + 40, box->top + 10, box->right - 20, box->bottom - 40 };
    canvas_panel(c, box, &axis, &axis);
}

static const char *close_panel(struct canvas *c)
{
    canvas_draw(c);
    canvas_close(c);
    return text_str(&c->image);
}

static int64_t times(const char *s, const char *what)
{
    int64_t n = 0;
    for (; (s = strstr(s, what)); s++)
        n++;
    return n;
}

static void assert_xml(const char *s)
{
    xmlDocPtr doc = xmlReadMemory(s, (int)strlen(s), "figure", NULL, XML_PARSE_NONET | XML_PARSE_NOWARNING);
    if (!doc)
        fail_msg("not well-formed:\n%s", s);
    xmlFreeDoc(doc);
}

TEST(texts_are_shown_literally_and_run_nothing)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "</text><script>alert(1)</script>", "&lt;/text&gt;&lt;script&gt;alert(1)&lt;/script&gt;" },
        { "<img onerror=x>&amp;]]>", "&lt;img onerror=x&gt;&amp;amp;]]&gt;" },
        { "\"'`{}", ">\"'`{}<" },
        { "two\nlines\x1b[31m\x7f", ">two lines [31m?<" },
        { "right \xE2\x80\xAE to left", ">right ??? to left<" },
        { "\xE9t\xE9 \xEF\xBF\xBF", ">?t? " },
        { "é µ 中", ">é µ 中<" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct canvas, c, canvas_free);
        struct canvas_box box;
        open_panel(&c, &box);
        canvas_title(&c, cases[i].text);
        canvas_text(&c, &(struct canvas_label){ .x_px = 9, .y_px = 9 }, cases[i].text);
        const char *s = close_panel(&c);
        assert_xml(s);
        assert_has(s, cases[i].want);
        assert_null(strstr(s, "<script"));
    }
}

/* Several stand in one page. */
TEST(a_figure_has_a_name_and_no_id)
{
    KEEP(struct canvas, c, canvas_free);
    struct canvas_box box;
    canvas_init(&c, &svg, "Cost & time");
    canvas_note(&c, "a note");
    canvas_legend(&c, (struct mark){ MARK_POINT, 0 }, "one");
    canvas_legend(&c, (struct mark){ MARK_LINE, 0 }, "two");
    OK(canvas_open(&c, &box, 200, 100, e));
    canvas_close(&c);
    const char *s = text_str(&c.image);
    assert_xml(s);
    assert_int_equal(strncmp(s, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"720\"", 51), 0);
    assert_has(s, "<title>Cost &amp; time</title>\n<desc>a note; shown: one, two</desc>");
    assert_null(strstr(s, " id="));
    assert_int_equal(times(s, "http"), 1);
}

/* A marker outside is not drawn; whatever lines and boxes have outside is cut. */
TEST(nothing_is_drawn_beyond_the_panel)
{
    static const double at[][2] = { { 5, 5 }, { 0, 10 }, { 10.1, 5 }, { -1, 5 }, { 5, 11 }, { 5, NAN } };
    KEEP(struct canvas, c, canvas_free);
    struct canvas_box box;
    char cut[200];
    open_panel(&c, &box);
    for (size_t i = 0; i < COUNT_OF(at); i++)
        canvas_point(&c, at[i][0], at[i][1]);
    canvas_block_end(&c, (struct mark){ MARK_RING, 0 });
    assert_int_equal(times(text_str(&c.image), " 1 0"), 2 * 2); /* the arcs of circles */
    canvas_bar(&c, -5, 2, 20, 3);
    canvas_block_end(&c, (struct mark){ MARK_FILL, FILL_FIRST + 1 });
    canvas_line(&c, (struct mark){ MARK_TRACE, 1 }, -5, -5, 20, 20);
    const char *s = close_panel(&c);
    assert_xml(s);
    snprintf(cut, sizeof cut, "<svg x=\"%.6g\" y=\"%.6g\" width=\"%.6g\" height=\"%.6g\"", box.left, box.top,
             box.right - box.left, box.bottom - box.top);
    assert_int_equal(times(s, cut), 2);
    assert_int_equal(times(s, "<svg"), 3);
}

/* Each line of a hatching lies in its box, be it low, wide or narrow. */
TEST(hatchings_stay_in_their_boxes)
{
    static const double boxes[][4] = {
        { 1, 1, 9, 2 }, { 1, 1, 1.1, 9 }, { 0, 0, 10, 10 }, { 3, 3, 3.01, 3.01 }
    };
    for (int32_t style = 0; style < 24; style++)
        for (size_t i = 0; i < COUNT_OF(boxes); i++) {
            const double *b = boxes[i];
            KEEP(struct canvas, c, canvas_free);
            struct canvas_box box;
            double x, y;
            open_panel(&c, &box);
            double wide = (box.right - box.left) / 10, high = (box.bottom - box.top) / 10;
            struct canvas_box in = { box.left + b[0] * wide, box.bottom - b[3] * high, box.left + b[2] * wide,
                                     box.bottom - b[1] * high };
            canvas_bar(&c, b[0], b[1], b[2], b[3]);
            canvas_block_end(&c, (struct mark){ MARK_FILL, style });
            const char *s = strstr(text_str(&c.image), "</g>");
            assert_non_null(s);
            for (s = strpbrk(s, "M"); s; s = strpbrk(s + 1, "ML"))
                if (sscanf(s + 1, "%lf %lf", &x, &y) == 2 &&
                    (x < in.left - 0.02 || x > in.right + 0.02 || y < in.top - 0.02 || y > in.bottom + 0.02))
                    fail_msg("style %d, box %zu: %g %g", (int)style, i, x, y);
            assert_xml(close_panel(&c));
        }
}

TEST(a_mark_says_which_row_it_is_of)
{
    struct plot_options opt = svg;
    KEEP(struct text, image, text_free) = { 0 };
    KEEP(struct table, t, table_free) = { 0 };
    csv_table(&t, "point,workload,network,time_s,cost_usd,front,knee\n7,A & B,flat,5,1e6,all,yes\n"
                  "9,A & B,deep,1,9e6,all,no\n");
    OK(plot_draw("front", &t, &opt, &image, e));
    assert_xml(text_str(&image));
    assert_has(text_str(&image), "<title>row 1 (point 7), flat, A &amp; B: 1, 5</title>");
}

/* The page has rows with these ids. Size and colours are its own. */
TEST(marks_of_a_page_are_links_to_their_rows)
{
    const struct plot_options opt = { .format = PLOT_SVG, .linked = true };
    KEEP(struct text, image, text_free) = { 0 };
    KEEP(struct table, t, table_free) = { 0 };
    csv_table(&t, "workload,time_s,cost_usd,front,knee\nB,1,1,neither,no\nA,5,1e6,all,yes\nA,1,9e6,all,no\n");
    OK(plot_draw("front", &t, &opt, &image, e));
    assert_xml(text_str(&image));
    assert_has(text_str(&image), "<a href=\"#p1\" data-p=\"1\"><title>row 2, A: 1, 5</title><path d=\"M");
    assert_null(strstr(text_str(&image), "#p0"));
    assert_null(strstr(text_str(&image), "<style"));
    assert_null(strstr(text_str(&image), "<rect"));
    assert_has(text_str(&image), "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=");
}

/* The title above need not be said again; a bar that is no row of the page leads nowhere. */
TEST(links_have_the_names_that_a_page_gives_its_rows)
{
    const int64_t ids[] = { 40, -1 };
    const struct plot_options opt = { .format = PLOT_SVG, .linked = true, .row_ids = ids, .title = "A & B" };
    KEEP(struct text, image, text_free) = { 0 };
    KEEP(struct table, t, table_free) = { 0 };
    csv_table(&t, "workload,network,time_s,cost_usd,front,knee\nA & B,flat,5,1e6,all,yes\n"
                  "A & B,deep,1,9e6,all,yes\n");
    OK(plot_draw("front", &t, &opt, &image, e));
    assert_xml(text_str(&image));
    assert_has(text_str(&image), "<a href=\"#p40\" data-p=\"40\"><title>40, flat: 1, 5</title><path d=\"M");
    assert_has(text_str(&image), "<title>row 2, deep: 9, 1</title></path>");
    assert_null(strstr(text_str(&image), "#p-1"));
}

/* Of any figure, be its room as small as it can be. */
TEST(no_text_is_smaller_than_nine_pixels)
{
    static const char *const figures[] = {
        "speedup", "cost", "pareto", "split", "time", "nic", "utilization"
    };
    KEEP(struct table, t, table_free) = { 0 };
    csv_table(
        &t, "point,n_dims,network,dims,workload,objective,status,total_GBps,time_s,compute_s,cost_usd,"
            "equal_time_s,equal_cost_usd,speedup,perf_per_cost_gain,nic_GBps,bw1_GBps,bw2_GBps,util1,util2,"
            "exposed1_s,exposed2_s\n"
            "1,2,a-network-of-a-long-name,node|a-dimension-of-a-long-name,a-model-of-a-long-name,time,solved,"
            "100,0.5,0.3,2e6,1,4e6,2,4,20,80,20,0.4,0.25,0.15,0.05\n");
    for (size_t i = 0; i < COUNT_OF(figures); i++) {
        const struct plot_options opt = { .format = PLOT_SVG, .width_px = 400 };
        KEEP(struct text, image, text_free) = { 0 };
        OK(plot_draw(figures[i], &t, &opt, &image, e));
        for (const char *s = text_str(&image); (s = strstr(s, "font-size=\"")); s++)
            if (strtod(s + 11, NULL) < 9)
                fail_msg("%s: %.20s", figures[i], s);
    }
}

/* As many as a reader can look at; the rest is one path. */
TEST(a_figure_of_very_many_rows_stays_small)
{
    enum { N = 20000 };
    struct plot_options opt = svg;
    KEEP(struct text, csv, text_free) = { 0 }, image = { 0 };
    KEEP(struct table, t, table_free) = { 0 };
    text_puts(&csv,
              "workload,network,status,objective,total_GBps,time_s,cost_usd,equal_time_s,equal_cost_usd\n");
    for (int i = 0; i < N; i++)
        text_printf(&csv, "A,flat,solved,time,100,%d,%d,,\n", 1 + i * 7919 % N, 1000 + i * 104729 % N);
    csv_table(&t, text_str(&csv));
    OK(plot_draw("pareto", &t, &opt, &image, e));
    assert_xml(text_str(&image));
    assert_int_equal(times(text_str(&image), "<title>row "), 2000);
    assert_true(image.n < 50 * N);
}

/* Dots behind a front have no names, which would take them from what is before it. */
TEST(points_before_a_cloud_have_names)
{
    KEEP(struct text, csv, text_free) = { 0 }, image = { 0 };
    KEEP(struct table, t, table_free) = { 0 };
    text_puts(&csv, "workload,time_s,cost_usd,front,knee\n");
    for (int i = 0; i < 3000; i++)
        text_printf(&csv, "A,%d,%d,behind,no\n", 2 + i * 7919 % 3000, 1000 + i);
    text_puts(&csv, "A,1,2000,all,yes\n");
    csv_table(&t, text_str(&csv));
    OK(plot_draw("front", &t, &svg, &image, e));
    assert_int_equal(times(text_str(&image), "<title>row "), 1);
    assert_has(text_str(&image), "<title>row 3001");
}
