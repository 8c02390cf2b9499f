/* The picture of a network's dimensions: links, switches and members, counted and held to each other. */
#include "tests/unit/test_plots_csv.h"

enum { MOST_PLACES = 128, PICTURE_WIDE = 150, PICTURE_HIGH = 78 };

/* Where lines of a block of the script begin; a blank one ends a link. */
struct places_read {
    int n;
    double x[MOST_PLACES][2];
};

static const char *next_block(struct places_read *out, const char *script)
{
    const char *at = strstr(script, " << EOD\n");
    out->n = 0;
    if (!at)
        return NULL;
    for (at = strchr(at, '\n') + 1; strncmp(at, "EOD\n", 4) != 0; at = strchr(at, '\n') + 1) {
        double *x = out->x[out->n];
        out->n += *at != '\n' && sscanf(at, "%lf %lf", &x[0], &x[1]) == 2;
        assert_in_range(out->n, 0, MOST_PLACES - 1);
    }
    return at;
}

static bool is_member(const struct places_read *members, const double *x)
{
    for (int i = 0; i < members->n; i++)
        if (members->x[i][0] == x[0] && members->x[i][1] == x[1])
            return true;
    return false;
}

/* By hand: of at most eight members, of a grid four to a row; a tree above its lowest level has two spines.
 */
TEST(pictures_join_members_as_their_shape_does)
{
    CASES(const char *dim, *shape; int size, links, boxes, members; bool direct) = {
        { "d", "ring", 2, 1, 0, 2, true },       { "d", "ring", 5, 5, 0, 5, true },
        { "d", "ring", 64, 8, 0, 8, true },      { "d", "full", 5, 10, 0, 5, true },
        { "d", "line", 6, 5, 0, 6, true },       { "d", "torus", 6, 6, 0, 6, true },
        { "d", "torus", 64, 10, 0, 8, true },    { "d", "switch", 3, 3, 1, 3, false },
        { "d", "fat-tree", 9, 8, 1, 8, false },  { "d.up1", "fat-tree", 4, 8, 2, 4, false },
        { "d", "dragonfly", 3, 6, 3, 3, false }, { "d", "slim-fly", 4, 10, 4, 4, false },
        { "d", "hyperx", 3, 6, 3, 3, false },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct places_read links, boxes, members;
        struct plot_options opt = { .format = PLOT_SCRIPT };
        KEEP(struct text, s, text_free) = { 0 };
        KEEP(struct table, t, table_free) = { 0 };
        KEEP(struct text, csv, text_free) = { 0 }, words = { 0 };
        text_printf(&csv, "dim,shape,size,bw_GBps\n%s,%s,%d,100\n", cases[i].dim, cases[i].shape,
                    cases[i].size);
        text_printf(&words, "'%s: %s of %d' at", cases[i].dim, cases[i].shape, cases[i].size);
        csv_table(&t, text_str(&csv));
        OK(plot_network_draw(&t, &opt, &s, e));
        assert_has(text_str(&s), text_str(&words));
        assert_int_equal(strstr(text_str(&s), "'switch' at") != NULL, !cases[i].direct);
        const char *at = next_block(&links, text_str(&s));
        boxes.n = 0;
        if (!cases[i].direct)
            at = next_block(&boxes, at);
        next_block(&members, at);
        if (links.n != 2 * cases[i].links || boxes.n != cases[i].boxes || members.n != cases[i].members)
            fail_msg("%s of %d: %d ends of links, %d switches, %d members\n%s", cases[i].shape, cases[i].size,
                     links.n, boxes.n, members.n, text_str(&s));
        for (int k = 0; k < links.n; k++) {
            assert_true(!cases[i].direct || is_member(&members, links.x[k]));
            assert_true(links.x[k][0] > 0 && links.x[k][0] < PICTURE_WIDE);
            assert_true(links.x[k][1] > 0 && links.x[k][1] < PICTURE_HIGH);
        }
    }
}
