/* Images as gnuplot draws them, and with a piece missing. */

#include "base/rng.h"
#include "plots/gnuplot.h"
#include "tests/support.h"

#define DRAW                                                                                                 \
    "set title 'two < three & ''quoted'''\nplot [0:1] '-' using 1:2 with points pt 7 title 'data'\n0 "       \
    "1\n0.5 2\n1 0\ne\n"

enum { PDF, PNG, FORMATS };

static void draw(struct text *image, int format)
{
    static const char *const scripts[] = {
        [PDF] = "set terminal pdfcairo\n" DRAW, [PNG] = "set terminal pngcairo\n" DRAW
    };
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

/* As a write that failed leaves them. */
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
}

TEST(what_is_no_image_has_a_fault)
{
    static const struct {
        const char *text, *fault;
    } cases[] = {
        { "", "does not begin" },
        { "<svg xmlns='a'></svg>", "does not begin" },
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
}
