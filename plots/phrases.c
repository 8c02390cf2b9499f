#include "plots/phrases.h"

#include <string.h>

static const char *last_word(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot ? dot + 1 : path;
}

bool phrases_is_axis(const struct table *t, int32_t col)
{
    int32_t point = table_find(t, "point"), network = table_find(t, "network");

    return col > point && col < network && table_find(t, last_word(t->names[col])) < 0;
}

/* "configs/models/llama3-8b.yaml" says no more than llama3-8b does. */
static void put_value(struct text *out, const char *value)
{
    const char *slash = strrchr(value, '/'), *name = slash ? slash + 1 : value;
    size_t n = strlen(name);

    if (n > 5 && strcmp(name + n - 5, ".yaml") == 0)
        n -= 5;
    else
        name = value, n = strlen(value);
    text_add(out, name, n);
}

int phrases_put_axes(struct text *out, const struct rows *r, struct err *e)
{
    struct text cell = { 0 };
    int rc = 0;

    for (int32_t col = 0; col < r->t->n_cols && !rc; col++) {
        if (!phrases_is_axis(r->t, col))
            continue;
        rc = rows_text(&cell, r, col, e);
        text_printf(out, "%s ", last_word(r->t->names[col]));
        put_value(out, text_str(&cell));
        text_puts(out, "\n");
    }
    text_free(&cell);
    return rc ? rc : text_check(out, e);
}

static void put_plan_phrase(struct text *out, const char *phrase, size_t n)
{
    static const struct {
        const char *of, *shown;
    } words[] = { { "microbatch ", "mb " }, { "sequence parallel", "sp" } };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t k = strlen(words[i].of);
        if (n < k || memcmp(phrase, words[i].of, k) != 0)
            continue;
        text_puts(out, words[i].shown);
        phrase += k;
        n -= k;
    }
    text_add(out, phrase, n);
    text_puts(out, "\n");
}

int phrases_put_plan(struct text *out, const struct rows *r, int32_t col, struct err *e)
{
    struct text cell = { 0 };
    int rc = rows_text(&cell, r, col, e);

    for (const char *s = text_str(&cell); *s && !rc;) {
        size_t n = strcspn(s, ",");
        put_plan_phrase(out, s, n);
        for (s += n; *s == ',' || *s == ' ';)
            s++;
    }
    text_free(&cell);
    return rc ? rc : text_check(out, e);
}

const char *phrases_next(const char **at, size_t *n)
{
    const char *phrase = *at;

    if (!*phrase)
        return NULL;
    *n = strcspn(phrase, "\n");
    *at = phrase + *n + (phrase[*n] == '\n');
    return phrase;
}

bool phrases_have(const char *phrases, const char *phrase, size_t n)
{
    size_t k;

    for (const char *p; (p = phrases_next(&phrases, &k));)
        if (k == n && memcmp(p, phrase, n) == 0)
            return true;
    return false;
}
