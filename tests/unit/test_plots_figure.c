/* Figures where one case does not do: all of them, many bytes, random rows; and texts beside markers. What
 * each must show stands in tests/figures. */
#include "tests/unit/test_plots_csv.h"

#include "plots/page.h"

#define DESIGNS                                                                                              \
    "point,n_dims,network,dims,workload,objective,status,total_GBps,time_s,compute_s,cost_usd,equal_time_s," \
    "equal_cost_usd,speedup,perf_per_cost_gain,nic_GBps,bw1_GBps,bw2_GBps,util1,util2,exposed1_s,exposed2_"  \
    "s\n"

TEST(the_same_table_gives_the_same_bytes)
{
    KEEP(struct table, t, table_free) = { 0 };
    csv_table(&t, DESIGNS
              "1,2,flat,node|pod,GPT-3,time,solved,100,0.5,0.3,2e6,1,4e6,2,4,20,80,20,0.4,0.25,0.15,0.05\n");
    for (int f = PLOT_SVG; f <= PLOT_PNG; f++) {
        struct plot_options opt = { .format = (enum plot_format)f };
        struct text image[2] = { { 0 }, { 0 } };
        for (int k = 0; k < 2; k++)
            OK(plot_draw("split", &t, &opt, &image[k], e));
        assert_int_equal(image[0].n, image[1].n);
        assert_memory_equal(image[0].s, image[1].s, image[0].n);
        if (f == PLOT_PDF) {
            /* Found at all: cairo still writes its date in the open. */
            bool fixed = false;
            for (size_t i = 0; i + 31 <= image[0].n && !fixed; i++)
                fixed = memcmp(image[0].s + i, "/CreationDate (D:19700101000000", 31) == 0;
            assert_true(fixed);
        }
        text_free(&image[0]);
        text_free(&image[1]);
    }
}

#define EVIL     "a\"; system(\"id\"); \"_^{b}@&~'`%d\\"
#define EVIL_CSV "\"a\"\"; system(\"\"id\"\"); \"\"_^{b}@&~'`%d\\\""
#define EVIL_SVG "a\"; system(\"id\"); \"_^{b}@&amp;~'`%d\\"

/* Figures of any sweep come first in the list; after them one of several panels. */
TEST(names_from_the_csv_are_shown_literally_in_every_place)
{
    static const char designs[] = DESIGNS "1,2," EVIL_CSV ",in_{'n%er|o\\ut&," EVIL_CSV "," EVIL_CSV
                                          ",solved,100,0.5,0.3,2e6,1,4e6,2,4,20,80,20,0.4,"
                                          "0.25,0.15,0.05\n",
                      steps[] = "workload,model,order,chosen,time_s,lane,stage,row,dim,npu_class,slot,name,"
                                "pass,events,busy_s,start_s,"
                                "end_s\n" EVIL_CSV ",chunk," EVIL_CSV ",no,0.04,0," EVIL_CSV "," EVIL_CSV
                                ",1,0,0," EVIL_CSV ",send,1,0.02,0,0.02\n";
    int32_t n = 0;
    while (n < plot_n_figures && !plot_figures[n].source)
        n++;
    assert_int_equal(n, 8);
    for (int32_t i = 0; i <= n; i++) {
        const char *figure = i < n ? plot_figures[i].name : "timeline";
        struct plot_options opt = { .width_px = 1600 };
        KEEP(struct text, image, text_free) = { 0 };
        KEEP(struct table, t, table_free) = { 0 };
        csv_table(&t, i < n ? designs : steps);
        OK(plot_draw(figure, &t, &opt, &image, e));
        assert_has(text_str(&image), i < n ? EVIL_SVG : EVIL_SVG " order: 40.0 ms");
        assert_null(strstr(text_str(&image), "uid="));
        for (const char *const *column = plot_figures[i].columns; i < n && *column; column++)
            if (strchr(*column, '#'))
                assert_has(text_str(&image), "in_{'n%er");
    }
}

TEST(a_figure_from_a_csv_without_its_columns_names_column_and_figure)
{
    struct plot_options opt = { 0 };
    KEEP(struct table, t, table_free) = { 0 };
    csv_table(&t, "other\nx\n");
    for (int32_t i = 0; i < plot_n_figures; i++) {
        KEEP(struct text, out, text_free) = { 0 }, want = { 0 };
        text_printf(&want, "figure %s: column %s: is missing; give it in the CSV", plot_figures[i].name,
                    plot_figures[i].columns[0]);
        FAILS(plot_draw(plot_figures[i].name, &t, &opt, &out, e), ERR_PARSE, text_str(&want));
    }
}

/* 60000 bars of four slots, of alternating passes. */
TEST(tens_of_thousands_of_bars_make_a_small_file)
{
    enum { N = 60000 };
    struct plot_options opt = { .format = PLOT_SVG };
    KEEP(struct text, csv, text_free) = { 0 }, image = { 0 };
    KEEP(struct table, t, table_free) = { 0 };
    text_puts(&csv, "workload,model,order,chosen,time_s,lane,stage,row,dim,npu_class,slot,name,pass,events,"
                    "busy_s,start_s,end_s\n");
    for (int i = 0; i < N; i++)
        text_printf(&csv, "toy,chunk,%s,no,0.04,0,,pod,2,0,%d,all-reduce,%s,1,1e-9,%.10g,%.10g\n",
                    i % 4 / 2 ? "fixed" : "themis", i % 8 / 4 + 1, i % 2 ? "all-gather" : "reduce-scatter",
                    0.04 * i / N, (0.04 * i + 0.02) / N);
    csv_table(&t, text_str(&csv));
    OK(plot_draw("timeline", &t, &opt, &image, e));
    assert_true(image.n > 10000 && image.n < 300000);
}

/* A million pixels are all there is to fill; ten thousand designs in one place are one mark. */
TEST(designs_on_each_other_are_drawn_once)
{
    int64_t n_lines[2] = { 0 };
    for (int many = 0; many < 2; many++) {
        KEEP(struct text, csv, text_free) = { 0 }, s = { 0 };
        text_puts(&csv, "workload,time_s,cost_usd,front,knee\nA,5,1e6,all,no\nA,1,9e6,all,no\n");
        for (int i = 0; i < (many ? 10000 : 1); i++)
            text_printf(&csv, "A,%.12g,5e6,behind,no\n", 3.01 + 1e-9 * i);
        csv_script(&s, "front", text_str(&csv));
        for (size_t i = 0; i < s.n; i++)
            n_lines[many] += s.s[i] == '\n';
    }
    assert_int_equal(n_lines[0], n_lines[1]);
}

/* At no time two boxes share a GPU, and a server never has more than it needs: brute force over random stays.
 * Boxes are read from the script, whose lane is as high as its GPUs. */
TEST(boxes_never_overlap_and_no_gpu_is_wasted)
{
    KEEP(struct text, csv, text_free) = { 0 }, s = { 0 };
    int32_t used[48] = { 0 }, most = 0;
    bool taken[48][1024] = { { false } };
    unsigned seed = 12345;
    double height = 0;
    text_puts(&csv, "point,jobs.count,seed,scheduler,job,server_name,unit,server,gpus,from,to\n");
    for (int i = 0; i < 300; i++) {
        seed = seed * 1103515245u + 12345u;
        unsigned from = seed >> 16 & 31, n = 1 + (seed >> 8 & 3), long_for = 1 + (seed >> 21 & 7);
        text_printf(&csv, "0,2,1,las,j%d,h,s,0,%u,%u,%u\n", i, n, from, from + long_for);
        for (unsigned at = from; at < from + long_for; at++)
            used[at] += (int32_t)n;
    }
    for (int at = 0; at < 48; at++)
        most = used[at] > most ? used[at] : most;
    csv_script(&s, "gantt", text_str(&csv));
    for (const char *line = text_str(&s); line; line = strchr(line, '\n')) {
        double x[4];
        line += *line == '\n';
        if (height == 0 && strncmp(line, "set yrange [", 12) == 0)
            height = strtod(line + 12, NULL);
        int n = 0;
        const char *number = line;
        for (char *end; n < 4; n++, number = end) {
            x[n] = strtod(number, &end);
            if (end == number)
                break;
        }
        if (n < 4 || *line < '0' || *line > '9')
            continue;
        double each = (height - 3) / most;
        int first = (int)((x[3] - 1.5) / each + 0.5), end = (int)((x[1] - 1.5) / each + 0.5);
        for (int at = (int)x[0]; at < (int)x[2]; at++)
            for (int k = first; k < end; k++) {
                assert_in_range(k, 0, most - 1);
                assert_false(taken[at][k]);
                taken[at][k] = true;
                used[at]--;
            }
    }
    for (int at = 0; at < 48; at++)
        assert_int_equal(used[at], 0);
}

/* The colour, and what follows it, of the line of the k-th method. */
static void put_look(struct text *out, const char *script, int k)
{
    char block[64];
    snprintf(block, sizeof block, "\n1 %d.5\nEOD\n", 1 + k);
    const char *at = strstr(script, block);
    assert_non_null(at);
    while (*at != '$' || at[-1] != '\n')
        at--;
    text_clear(out);
    char use[64];
    snprintf(use, sizeof use, "%.*s using 1:2 with lines ", (int)strcspn(at, " "), at);
    at = strstr(script, use);
    assert_non_null(at);
    at += strlen(use);
    const char *next = strstr(at, ", $"), *end = strchr(at, '\n');
    text_add(out, at, (size_t)((next && next < end ? next : end) - at));
}

/* The dark grey that comes after seven of a round would be the black of another with its dash. */
TEST(lines_of_all_methods_look_different)
{
    enum { N = 24 };
    struct text csv = { 0 }, s = { 0 }, look[N] = { { 0 } };
    text_puts(&csv, "point,method,seed,time_s,steps,loss,exchanges\n");
    for (int k = 0; k < N; k++)
        text_printf(&csv, "0,m%d,1,0,0,30,0\n0,m%d,1,1,10,%d.5,40\n", k, k, 1 + k);
    csv_script(&s, "gossip_loss", text_str(&csv));
    for (int k = 0; k < N; k++) {
        put_look(&look[k], text_str(&s), k);
        assert_null(strstr(text_str(&look[k]), "#555555"));
        for (int i = 0; i < k; i++)
            assert_string_not_equal(text_str(&look[i]), text_str(&look[k]));
    }
    for (int k = 0; k < N; k++)
        text_free(&look[k]);
    text_free(&csv);
    text_free(&s);
}

static bool box_overlaps(const struct canvas_box *a, const struct canvas_box *b)
{
    return a->left < b->right && b->left < a->right && a->top < b->bottom && b->top < a->bottom;
}

/* Between rows of markers there is room for texts, but each is as wide as two markers: not for all. */
TEST(texts_lie_over_nothing)
{
    struct places p;
    struct plot_options opt = { 0 };
    struct canvas_xy at[36];
    struct canvas c;
    int written = 0;
    canvas_init(&c, &opt, "");
    c.height_px = 400;
    OK(places_begin(&p, &c, 4096, e));
    p.inside = (struct canvas_box){ 0, 0, 100, 160 };
    for (int i = 0; i < 36; i++) {
        int row = i / 6;
        at[i] = (struct canvas_xy){ 10 + 16 * (i % 6), 10 + 26 * row };
        places_take_marker(&p, at[i]);
    }
    for (int i = 0; i < 36; i++)
        written += places_put(&p, &c, at[i], "12345", "#000000");
    assert_in_range(written, 6, 35);
    assert_int_equal(p.n, 36 + written);
    for (int i = 36; i < p.n; i++) {
        const struct canvas_box *box = &p.taken[i].box;
        assert_true(box->left >= 0 && box->right <= 100 && box->top >= 0 && box->bottom <= 160);
        for (int k = 0; k < i; k++)
            assert_false(box_overlaps(box, &p.taken[k].box));
    }
    canvas_free(&c);
}

/* A text may touch the sides of the panel and what is there, and lies over neither. */
TEST(a_text_may_touch_what_it_must_not_lie_over)
{
    struct places p;
    struct plot_options opt = { 0 };
    struct canvas c;
    static const struct {
        struct canvas_box box;
        bool free;
    } cases[] = {
        { { 0, 0, 100, 40 }, true },   { { 0, 60, 100, 80 }, true },  { { 0, 40, 30, 60 }, true },
        { { 70, 40, 100, 60 }, true }, { { -1, 0, 100, 40 }, false }, { { 0, -1, 100, 40 }, false },
        { { 0, 0, 101, 40 }, false },  { { 0, 60, 100, 81 }, false }, { { 0, 0, 100, 41 }, false },
        { { 0, 59, 100, 80 }, false }, { { 0, 40, 31, 60 }, false },  { { 69, 40, 100, 60 }, false },
    };
    canvas_init(&c, &opt, "");
    OK(places_begin(&p, &c, 1, e));
    p.inside = (struct canvas_box){ 0, 0, 100, 80 };
    places_take(&p, (struct place_taken){ .box = { 30, 40, 70, 60 } });
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(places_free(&p, &cases[i].box, false), cases[i].free);
    canvas_free(&c);
}

/* Above the marker runs a line: the text goes below. With lines on all sides it lies over one. */
TEST(a_text_lies_over_a_line_only_where_there_is_no_other_room)
{
    struct places p;
    const struct canvas_xy at = { 50, 50 };
    struct plot_options opt = { 0 };
    struct canvas c;
    canvas_init(&c, &opt, "");
    c.height_px = 400;
    OK(places_begin(&p, &c, 4096, e));
    p.inside = (struct canvas_box){ 0, 0, 100, 100 };
    places_take_marker(&p, at);
    places_take_line(&p, (struct canvas_xy){ 20, 40 }, (struct canvas_xy){ 80, 40 });
    assert_true(places_put(&p, &c, at, "8", "#000000"));
    assert_true(p.taken[p.n - 1].box.top >= 55);
    p.n = 0;
    places_take_marker(&p, at);
    for (int y = 20; y <= 80; y += 4)
        places_take_line(&p, (struct canvas_xy){ 0, y }, (struct canvas_xy){ 100, y });
    assert_true(places_put(&p, &c, at, "8", "#000000"));
    assert_true(p.taken[p.n - 1].box.bottom <= 45);
    canvas_free(&c);
}

TEST(letters_go_on_with_two)
{
    CASES(int32_t k; const char *want) = {
        { 0, "a" }, { 25, "z" }, { 26, "aa" }, { 51, "az" }, { 52, "ba" }, { 701, "zz" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct text, s, text_free) = { 0 };
        places_put_letter(&s, cases[i].k);
        assert_string_equal(text_str(&s), cases[i].want);
    }
}
