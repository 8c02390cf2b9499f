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
void phrases_put_value(struct text *out, const char *value)
{
    const char *slash = strrchr(value, '/'), *name = slash ? slash + 1 : value;
    size_t n = strlen(name);

    if (n > 5 && strcmp(name + n - 5, ".yaml") == 0)
        n -= 5;
    else
        name = value, n = strlen(value);
    text_add(out, name, n);
}

/* A network without a name is its word, "ring:4@50 switch:8@25": sizes follow a colon, bandwidths an @. */
static bool network_shows(const struct text *network, const char *path, const char *value)
{
    bool size = strcmp(last_word(path), "size") == 0, bw = strcmp(last_word(path), "bw_GBps") == 0;
    size_t n = strlen(value);

    if (strncmp(path, "network.", 8) != 0 || n == 0 || !(size || bw))
        return false;
    for (const char *s = text_str(network); (s = strpbrk(s, size ? ":" : "@"));)
        if (strncmp(++s, value, n) == 0 && (s[n] == '\0' || strchr(" @", s[n])))
            return true;
    return false;
}

int phrases_put_axes(struct text *out, const struct rows *r, struct err *e)
{
    struct text cell = { 0 }, network = { 0 };
    int32_t network_col = table_find(r->t, "network");
    int rc = network_col < 0 ? 0 : rows_text(&network, r, network_col, e);

    for (int32_t col = 0; col < r->t->n_cols && !rc; col++) {
        if (!phrases_is_axis(r->t, col))
            continue;
        rc = rows_text(&cell, r, col, e);
        if (network_shows(&network, r->t->names[col], text_str(&cell)))
            continue;
        text_printf(out, "%s ", last_word(r->t->names[col]));
        phrases_put_value(out, text_str(&cell));
        text_puts(out, "\n");
    }
    text_free(&cell);
    text_free(&network);
    return rc ? rc : text_check(out, e);
}

/* "tp 8", but not "cp by ring". */
static bool is_degree(const char *phrase, size_t n)
{
    return n > 3 && strchr("tcdpe", phrase[0]) && phrase[1] == 'p' && phrase[2] == ' ' && phrase[3] >= '0' &&
           phrase[3] <= '9';
}

static void put_plan_phrase(struct text *out, const char *phrase, size_t n)
{
    static const struct {
        const char *of, *shown;
    } words[] = { { "microbatch ", "mb " }, { " of ", "×" }, { "sequence parallel", "sp" } };

    text_puts(out, is_degree(phrase, n) ? "" : "\t");
    while (n > 0) {
        size_t i = 0, n_words = sizeof words / sizeof *words;
        while (i < n_words && strncmp(phrase, words[i].of, strlen(words[i].of)) != 0)
            i++;
        size_t used = i < n_words ? strlen(words[i].of) : 1;
        if (i < n_words)
            text_puts(out, words[i].shown);
        else
            text_add(out, phrase, 1);
        phrase += used;
        n -= used < n ? used : n;
    }
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
