/* Lines of a file, however they end and wherever blocks of the reader do. */
#include "tests/unit/folder.h"
#include "base/json_read.h"

FOLDER_FOR("text")

static void open_bytes(struct lines *l, struct folder *f, const char *bytes, size_t n, size_t max)
{
    scratch_file(f->path, f->dir, "text", bytes, n);
    MUST(lines_open(l, f->path, max, e));
}

static void assert_line(struct lines *l, const char *want)
{
    bool more;
    MUST(lines_next(l, &more, e));
    assert_true(more);
    assert_string_equal(l->s, want);
    assert_int_equal(l->n, strlen(want));
}

static void assert_end(struct lines *l)
{
    bool more = true;
    MUST(lines_next(l, &more, e));
    assert_false(more);
    assert_string_equal(l->s, "");
}

TEST(lines_end_with_lf_or_cr_lf_and_the_last_need_not)
{
    static const char text[] = "one\ntwo\r\n\n\r\nfi\rve\nsix";
    struct lines l;
    open_bytes(&l, *state, text, sizeof text - 1, 100);
    assert_line(&l, "one");
    assert_line(&l, "two");
    assert_line(&l, "");
    assert_line(&l, "");
    assert_line(&l, "fi\rve");
    assert_line(&l, "six");
    assert_int_equal(l.line, 6);
    assert_end(&l);
    assert_end(&l);
    lines_close(&l);
    lines_close(&l);
}

TEST(an_empty_file_has_no_line)
{
    KEEP(struct lines, l, lines_close);
    open_bytes(&l, *state, "", 0, 100);
    assert_end(&l);
    assert_int_equal(l.line, 0);
}

/* Blocks are 64 KiB: lines of 0 to 1000 letters lie across their ends in every way. */
TEST(lines_across_blocks_come_back_whole)
{
    enum { N = 1001 };
    struct folder *f = *state;
    KEEP(struct lines, l, lines_close);
    static char text[N * (N + 1)], want[N + 1];
    size_t n = 0;
    for (size_t k = 0; k < N; k++) {
        memset(text + n, 'a' + (int)(k % 26), k);
        n += k;
        text[n++] = '\n';
    }
    open_bytes(&l, f, text, n, N);
    for (size_t k = 0; k < N; k++) {
        memset(want, 'a' + (int)(k % 26), k);
        want[k] = '\0';
        assert_line(&l, want);
    }
    assert_end(&l);
}

TEST(a_line_that_is_too_long_or_has_a_nul_is_passed_over)
{
    static const char text[] = "1234567890\n12345678901\nab\0cd\nlast";
    KEEP(struct lines, l, lines_close);
    bool more;
    open_bytes(&l, *state, text, sizeof text - 1, 10);
    assert_line(&l, "1234567890");
    FAILS(lines_next(&l, &more, e), ERR_PARSE, "text:2: line is longer than 10 bytes");
    assert_string_equal(l.s, "");
    FAILS(lines_next(&l, &more, e), ERR_PARSE, "text:3: has a NUL byte: not a text file");
    assert_line(&l, "last");
    assert_end(&l);
}

TEST(what_cannot_be_opened_is_told)
{
    struct folder *f = *state;
    struct lines l;
    char path[SUPPORT_PATH];
    FAILS(lines_open(&l, scratch_path(path, f->dir, "none"), 10, e), ERR_PARSE, "none: no such file");
    lines_close(&l);
    FAILS(lines_open(&l, f->dir, 10, e), ERR_PARSE, "cannot be read (");
    lines_close(&l);
    l = (struct lines){ 0 };
    lines_close(&l);
}

SUITE(make_folder, remove_folder)
