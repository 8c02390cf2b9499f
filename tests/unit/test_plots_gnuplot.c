#include "tests/support.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/text.h"
#include "plots/gnuplot.h"

/* Runs a test with a program of ours as the only "gnuplot" there is. */
static void run_with(const char *program, const char *script, struct text *image, int want, const char *words)
{
    char dir[SUPPORT_PATH], path[SUPPORT_PATH];
    KEEP(struct text, search, text_free) = { 0 }, before = { 0 };
    struct err e = { 0 };

    scratch_make(dir);
    if (program) {
        scratch_file(path, dir, "gnuplot", program, strlen(program));
        assert_int_equal(chmod(path, 0700), 0);
    }
    text_puts(&before, getenv("PATH"));
    text_puts(&search, dir);
    assert_int_equal(setenv("PATH", text_str(&search), 1), 0);
    int rc = gnuplot_run(script, image, &e);
    assert_int_equal(setenv("PATH", text_str(&before), 1), 0);
    scratch_remove(dir);
    assert_int_equal(rc, want);
    if (want)
        assert_int_equal(e.code, want);
    assert_has(e.msg, words);
}

TEST(a_quoted_text_is_one_string)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "plain", "'plain'" },
        { "it's", "'it' . \"'\" . 's'" },
        { "'", "'' . \"'\" . ''" },
        { "a\"; system(\"id\"); \"", "'a\"; system(\"id\"); \"'" },
        { "`id` @x $y \\n {a}_b^c&d~e%f", "'`id` @x $y \\n {a}_b^c&d~e%f'" },
        { "two\nlines\tand\rmore\x7f", "'two lines and more '" },
        { "\\", "'\\'" },
        { "é µ × 中 \xF0\x9F\x98\x80", "'é µ × 中 \xF0\x9F\x98\x80'" },
        { "\xE9t\xE9", "'?t?'" },           /* Latin-1 */
        { "\xC0\xAF.", "'??.'" },           /* overlong form of '/' */
        { "\xED\xA0\x80.", "'???.'" },      /* a surrogate */
        { "\xEF\xBF\xBF.", "'???.'" },      /* U+FFFF, which XML forbids */
        { "\xF4\x90\x80\x80.", "'????.'" }, /* above U+10FFFF */
        { "cut \xE4", "'cut ?'" },
        { "", "''" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct text, t, text_free) = { 0 };
        gnuplot_quote(&t, cases[i].text);
        assert_string_equal(text_str(&t), cases[i].want);
    }
}

/* The characters between <text> and </text>, with the entities of XML resolved. */
static void read_label(struct text *out, const char *svg)
{
    static const char *const entities[][2] = {
        { "&amp;", "&" }, { "&lt;", "<" }, { "&gt;", ">" }, { "&quot;", "\"" }, { "&apos;", "'" }
    };
    const char *s = strstr(svg, "<text>");

    assert_non_null(s);
    for (s += strlen("<text>"); strncmp(s, "</text>", 7) != 0;) {
        size_t k = 0;
        while (k < COUNT_OF(entities) && strncmp(s, entities[k][0], strlen(entities[k][0])) != 0)
            k++;
        assert_true(*s != '\0' && (*s != '&' || k < COUNT_OF(entities)));
        text_add(out, k < COUNT_OF(entities) ? entities[k][1] : s, 1);
        s += k < COUNT_OF(entities) ? strlen(entities[k][0]) : 1;
    }
}

/* What a user gets who runs gnuplot on a script. */
static void draw_svg(struct text *image, const char *script)
{
    char dir[SUPPORT_PATH], path[SUPPORT_PATH], command[SUPPORT_PATH + 16], buf[4096];
    size_t n;

    scratch_make(dir);
    scratch_file(path, dir, "x.gp", script, strlen(script));
    snprintf(command, sizeof command, "gnuplot -d %s", path);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    while ((n = fread(buf, 1, sizeof buf, pipe)) > 0)
        text_add(image, buf, n);
    assert_int_equal(pclose(pipe), 0);
    scratch_remove(dir);
}

TEST(hostile_texts_are_shown_and_not_run)
{
    static const char *const texts[] = {
        "a\"; system(\"id\"); \"",
        "'; system('id'); '",
        "`id`",
        "@GPVAL_VERSION $PATH",
        "{/Symbol a}_b^c&d~e",
        "50% %d %s %",
        "back\\slash\\n",
        "\\",
        "<b>&amp;</b>",
        "{",
        "}",
        "# no comment",
        "x'.system('id').'y",
        "'''",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        KEEP(struct text, script, text_free) = { 0 }, image = { 0 }, shown = { 0 };
        text_puts(&script,
                  "set encoding utf8\nset terminal svg noenhanced\nunset border\nunset tics\nset label ");
        gnuplot_quote(&script, texts[i]);
        text_puts(&script, " at screen 0.5,0.5\nplot [0:1][0:1] NaN notitle\n");
        draw_svg(&image, text_str(&script));
        read_label(&shown, text_str(&image));
        assert_string_equal(text_str(&shown), texts[i]);
    }
}

TEST(a_missing_gnuplot_is_named)
{
    KEEP(struct text, image, text_free) = { 0 };
    run_with(NULL, "plot x\n", &image, ERR_LIB,
             "gnuplot: is not installed; version 5.2 or later must be on the PATH");
    run_with("#!/bin/sh\nexit 127\n", "plot x\n", &image, ERR_LIB,
             "gnuplot: is not installed; version 5.2 or later");
    assert_int_equal(image.n, 0);
}

TEST(what_gnuplot_says_is_in_the_message)
{
    KEEP(struct text, image, text_free) = { 0 };
    FAILS(gnuplot_run("plto x\n", &image, e), ERR_LIB, "gnuplot: exit status is 1, expected 0: ");
    assert_has(e->msg, "invalid command");
    assert_null(strchr(e->msg, '\n'));
    run_with("#!/bin/sh\necho first >&2\necho '  second  one' >&2\nexit 3\n", "", &image, ERR_LIB,
             "gnuplot: exit status is 3, expected 0: first second one");
    run_with("#!/bin/sh\nkill -9 $$\n", "", &image, ERR_LIB, "gnuplot: was ended by signal 9: no message");
    run_with("#!/bin/sh\nexit 0\n", "", &image, ERR_LIB,
             "gnuplot: output is empty, expected an image: no message");
    assert_int_equal(image.n, 0);
}

/* A whole PDF of one object, 9 bytes from the start, the table of it and the free one 64 from the start;
 * between both commands what a program prints to its standard output. */
#define PDF_BEGIN                                                                                            \
    "printf '%%PDF-1.5\\n1 0 obj << /CreationDate (D:20261120235846Z) >> endobj\\nxref\\n0 2\\n"             \
    "0000000000 65535 f \\n0000000009 00000 n \\ntrailer << /Root 1 0 R /Info 1 0 R >>\\n'\n"
#define PDF_END "printf 'startxref\\n64\\n%%%%EOF\\n'\n"

/* What gnuplot leaves with exit status 0 where writes failed. */
TEST(an_image_that_is_not_whole_is_refused)
{
    KEEP(struct text, image, text_free) = { 0 };
    run_with("#!/bin/sh\n" PDF_BEGIN, "x", &image, ERR_IO, "is not whole: it has no end");
    run_with("#!/bin/sh\n" PDF_END, "x", &image, ERR_IO, "does not begin as PDF or PNG");
    assert_int_equal(image.n, 0);
    run_with("#!/bin/sh\n" PDF_BEGIN PDF_END, "x", &image, 0, "");
    assert_true(image.n > 0);
}

TEST(gnuplot_gets_the_script_and_no_settings_of_the_user)
{
    static const char *const set[] = { "\nLC_ALL=C.UTF-8\n", "\nTZ=UTC0\n", "\nSOURCE_DATE_EPOCH=0\n",
                                       "\nargs -d\n" };
    static const char *const gone[] = { "GNUPLOT_LIB", "GNUTERM", "LC_NUMERIC", "de_DE" };
    KEEP(struct text, image, text_free) = { 0 };
    assert_int_equal(setenv("GNUPLOT_LIB", "/nowhere", 1), 0);
    assert_int_equal(setenv("GNUTERM", "x11", 1), 0);
    assert_int_equal(setenv("LC_NUMERIC", "de_DE.UTF-8", 1), 0);
    run_with("#!/bin/sh\n" PDF_BEGIN "/usr/bin/env\necho args \"$@\"\n/bin/cat\n" PDF_END, "the script\n",
             &image, 0, "");
    for (size_t i = 0; i < COUNT_OF(set); i++)
        assert_has(text_str(&image), set[i]);
    for (size_t i = 0; i < COUNT_OF(gone); i++)
        assert_null(strstr(text_str(&image), gone[i]));
    assert_has(text_str(&image), "\nthe script\n");
    unsetenv("GNUPLOT_LIB");
    unsetenv("GNUTERM");
    unsetenv("LC_NUMERIC");
}

TEST(the_date_inside_a_pdf_is_fixed_and_its_length_kept)
{
    KEEP(struct text, image, text_free) = { 0 };
    run_with("#!/bin/sh\n" PDF_BEGIN PDF_END, "", &image, 0, "");
    assert_has(text_str(&image), "1 0 obj << /CreationDate (D:19700101000000Z) >> endobj\nxref\n");
}

TEST(an_image_is_appended)
{
    KEEP(struct text, image, text_free) = { 0 };
    text_puts(&image, "before ");
    run_with("#!/bin/sh\n" PDF_BEGIN PDF_END, "", &image, 0, "");
    assert_int_equal(strncmp(text_str(&image), "before %PDF-", 12), 0);
}
