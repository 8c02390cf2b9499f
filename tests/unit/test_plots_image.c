/* Images as gnuplot draws them, and with a piece missing. */
#include "plots/image.h"

#include "base/rng.h"
#include "plots/gnuplot.h"
#include "tests/support.h"

#define DRAW                                                                                                 \
    "set title 'two < three & ''quoted'''\nplot [0:1] '-' using 1:2 with points pt 7 title 'data'\n0 "       \
    "1\n0.5 2\n1 0\ne\n"

enum { SVG, PDF, PNG, FORMATS };

static void draw(struct text *image, int format)
{
    static const char *const scripts[] = { [SVG] = "set terminal svg\n" DRAW,
                                           [PDF] = "set terminal pdfcairo\n" DRAW,
                                           [PNG] = "set terminal pngcairo\n" DRAW };
    MUST(gnuplot_run(scripts[format], image, e));
}

/* Without n bytes from `at` on. */
static const char *fault_without(const struct text *image, size_t at, size_t n)
{
    KEEP(struct text, t, text_free) = { 0 };
    text_add(&t, image->s, at);
    text_add(&t, image->s + at + n, image->n - at - n);
    return image_fault(&t);
}

TEST(whole_images_have_no_fault_and_none_does_without_its_end)
{
    for (int format = 0; format < FORMATS; format++) {
        KEEP(struct text, image, text_free) = { 0 };
        draw(&image, format);
        assert_null(image_fault(&image));
        size_t end = image.n;
        while (format != PNG && image.s[end - 1] == '\n')
            end--;
        for (size_t n = 0; n < end; n += n < 300 || end - n < 300 ? 1 : 97)
            assert_non_null(fault_without(&image, n, image.n - n));
    }
}

/* As a write that failed leaves them. Of an SVG each line but those that are whole elements is missed. */
TEST(an_image_without_a_piece_has_a_fault)
{
    struct rng *r;
    OK(rng_build(&r, 7, 0, e));
    for (int format = PDF; format < FORMATS; format++) {
        KEEP(struct text, image, text_free) = { 0 };
        draw(&image, format);
        size_t most = image.n - 6; /* all but %%EOF */
        for (int i = 0; i < 400; i++) {
            size_t n = 1 + (size_t)rng_below(r, i % 2 ? 40 : 4096), at = (size_t)rng_below(r, (int64_t)most);
            n = n < most - at ? n : most - at;
            if (!fault_without(&image, at, n))
                fail_msg("%zu of %zu bytes from %zu are not missed (format %d)", n, image.n, at, format);
        }
    }
    rng_free(r);
    KEEP(struct text, svg, text_free) = { 0 };
    draw(&svg, SVG);
    int n_lines = 0, n_missed = 0;
    for (size_t at = 0, n; at < svg.n; at += n) {
        const char *line = svg.s + at;
        n = strcspn(line, "\n") + 1;
        size_t from = strspn(line, "\t ");
        bool whole = from + 1 >= n || strncmp(line + n - 3, "/>", 2) == 0 ||
                     strncmp(line + from, "<title>", 7) == 0 || strncmp(line + from, "<desc>", 6) == 0 ||
                     strncmp(line + from, "<text>", 6) == 0;
        n_lines++;
        n_missed += fault_without(&svg, at, n) != NULL;
        if (!whole && !fault_without(&svg, at, n))
            fail_msg("line not missed: %.*s", (int)n, line);
    }
    assert_true(n_missed > n_lines / 3);
}

TEST(what_is_no_image_has_a_fault)
{
    static const struct {
        const char *text, *fault;
    } cases[] = {
        { "", "does not begin" },
        { "<svg xmlns='a'></svg>", "does not begin" },
#define ROOT "<?xml version='1.0'?><svg xmlns='a' xmlns:xlink='b' width='1' height='1' viewBox='0'>"
        { ROOT "<g></svg></g>", "a tag that is cut or does not fit" },
        { ROOT "<g id='x'/><use xlink:href='#y'/></svg>", "a tag that is cut" },
        { ROOT "<g id=x/></svg>", "a tag that is cut" },
        { ROOT "<g id='x<'/></svg>", "a tag that is cut" },
        { ROOT "</svg>" ROOT, "a tag that is cut" },
        { ROOT "</svg> text", "outside its root" },
        { ROOT "<!-- <g> ", "a tag that is cut" },
        { "<?xml version='1.0'?>", "has no end" },
        { "<?xml version='1.0'?><svg width='1' height='1' viewBox='0' xmlns='a'></svg>",
          "a tag that is cut" },
        { "%PDF-1.5\n%%EOF\n", "no startxref" },
        { "%PDF-1.5\nstartxref\n9999\n%%EOF\n", "no table" },
        { "\x89PNG\r\n", "signature" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct text, t, text_free) = { 0 };
        text_puts(&t, cases[i].text);
        text_str(&t);
        assert_has(image_fault(&t), cases[i].fault);
    }
    KEEP(struct text, whole, text_free) = { 0 };
    text_puts(&whole, ROOT "<!-- <g> --><g id=\"x\"><use xlink:href='#x'/></g></svg>\n");
    assert_null(image_fault(&whole));
}
