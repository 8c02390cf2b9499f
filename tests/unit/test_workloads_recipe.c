/* Recipes of other programs as settings: what the readers of TOML and shell text make of them. */
#include "tests/support.h"
#include "workloads/readers/recipe.h"

static const char *value_of(const struct recipe_settings *s, const char *name)
{
    for (int32_t i = 0; i < s->n; i++)
        if (strcmp(s->items[i].name, name) == 0)
            return s->items[i].value;
    return NULL;
}

TEST(toml_has_tables_lists_and_texts)
{
    static const char text[] = "# head\n"
                               "a = 1\n"
                               "[x.y] # table\n"
                               "b.c = \"two # \\\"words\\\"\"\n"
                               "'d e' = 'C:\\n'\n"
                               "list = [ 1,\n  2.5, # comment\n \"three\", ]\n"
                               "[z]\nf = -1e3\n";
    struct recipe_settings s = { .path = "t" };
    OK(recipe_read_toml(&s, text, sizeof text - 1, e));
    assert_int_equal(s.n, 7);
    assert_string_equal(value_of(&s, "a"), "1");
    assert_string_equal(value_of(&s, "x.y.b.c"), "two # \"words\"");
    assert_string_equal(value_of(&s, "x.y.d e"), "C:\\n");
    assert_string_equal(value_of(&s, "x.y.list[0]"), "1");
    assert_string_equal(value_of(&s, "x.y.list[1]"), "2.5");
    assert_string_equal(value_of(&s, "x.y.list[2]"), "three");
    assert_string_equal(value_of(&s, "z.f"), "-1e3");
    assert_int_equal(s.items[1].line, 4);
    assert_int_equal(s.items[1].col, 1);
    recipe_settings_free(&s);
}

TEST(shell_has_variables_arrays_and_comments)
{
    static const char text[] = "N=4 # four\n"
                               "A=( --num-layers $N --x ${M:-7}\n   --y \"a b\" ) # --z 1\n"
                               "run --w=${N} \\\n  --v 1 2 'three $N'\n"
                               "echo --u $UNKNOWN ${ALSO}\n"
                               "not an option\n";
    static const char *const wanted[][2] = { { "num_layers", "4" },   { "x", "7" },
                                             { "y", "a b" },          { "w", "4" },
                                             { "v", "1 2 three $N" }, { "u", "$UNKNOWN ${ALSO}" } };
    struct recipe_settings s = { .path = "t" };
    OK(recipe_read_shell(&s, text, sizeof text - 1, e));
    assert_int_equal(s.n, 6);
    for (size_t i = 0; i < COUNT_OF(wanted); i++) {
        assert_string_equal(s.items[i].name, wanted[i][0]);
        assert_string_equal(s.items[i].value, wanted[i][1]);
    }
    assert_int_equal(s.items[2].line, 3);
    recipe_settings_free(&s);
}

/* Whatever the bytes, reading ends, with settings or with a place. */
TEST(any_bytes_end_well)
{
    static const char alphabet[] = "ab=[]{}()\"'\\\n #$-.:,1\0*";
    KEEP(struct rng *, r, rng_free_at) = NULL;
    OK(rng_build(&r, 5, 1, e));
    for (int k = 0; k < repeats(4000); k++) {
        char text[40];
        size_t n = (size_t)rng_below(r, sizeof text);
        for (size_t i = 0; i < n; i++)
            text[i] = alphabet[rng_below(r, sizeof alphabet - 1)];
        for (int shell = 0; shell < 2; shell++) {
            struct recipe_settings s = { .path = "t" };
            int rc = shell ? recipe_read_shell(&s, text, n, e) : recipe_read_toml(&s, text, n, e);
            assert_true(rc == 0 || rc == ERR_PARSE || rc == ERR_UNSUP);
            if (rc)
                assert_int_equal(strncmp(e->msg, "t:", 2), 0);
            recipe_settings_free(&s);
        }
    }
}
