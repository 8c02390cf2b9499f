/* What the points of a study have to tell in common. */
#include "study/notes.h"
#include "tests/support.h"

enum { MOST = 4 };

struct point {
    bool is_read;
    struct text notes;
};

static const struct text *notes_of(const void *points, int64_t i)
{
    const struct point *p = (const struct point *)points + i;
    return p->is_read ? &p->notes : NULL;
}

TEST(lines_of_every_point_that_could_be_read_are_told_once)
{
    static const struct {
        const char *points[MOST]; /* NULL: could not be read */
        int n;
        const char *told;
    } cases[] = {
        { { "" }, 0, "" },
        { { NULL, NULL }, 2, "" },
        { { "b\na\n" }, 1, "b\na\n" },
        { { NULL, "b\na\n", NULL, "a\nc\nb\n" }, 4, "b\na\n" },
        { { "a\nb\n", "b\n", "a\nb\n" }, 3, "b\n" },
        { { "a\n", "a b\n" }, 2, "" }, /* a line's beginning is not the line */
        { { "b\n", "a b\n" }, 2, "" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct point points[MOST] = { { .is_read = false } };
        struct text out = { .n = 0 };
        for (int k = 0; k < cases[i].n; k++) {
            points[k].is_read = cases[i].points[k] != NULL;
            if (points[k].is_read)
                text_puts(&points[k].notes, cases[i].points[k]);
        }
        notes_gather(&out, points, cases[i].n, notes_of);
        assert_string_equal(text_str(&out), cases[i].told);
        text_free(&out);
        for (int k = 0; k < MOST; k++)
            text_free(&points[k].notes);
    }
}
