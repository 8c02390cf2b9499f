/*
 * The string that everything is written into, whole files in and out, and spelling hints. Appending cannot
 * fail visibly: the first lack of memory is kept in `failed`, everything later is dropped, and text_check()
 * at the end tells a complete text from a cut one. Capacity doubles, so appending n bytes costs O(n) in all.
 */

#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/infile.h"
#include "base/num.h"
#include "base/utf8.h"

enum {
    READ_STEP = 1 << 16,
    NEAREST_MAX = 63, /* longer words are not keys or names of anything */
};

/* The one state of the process here: it only goes from false to true, and only keeps outputs from appearing.
 */
static atomic_bool any_cut;

static bool text_cut(struct text *t)
{
    t->failed = true;
    atomic_store(&any_cut, true);
    return false;
}

bool text_any_cut(void)
{
    return atomic_load(&any_cut);
}

/* Room for n more bytes and the terminator. */
static bool reserve(struct text *t, size_t n)
{
    if (t->failed || n >= SIZE_MAX / 4 - t->n)
        return text_cut(t);
    size_t need = t->n + n + 1;
    if (need <= t->cap)
        return true;
    size_t cap = t->cap ? t->cap : 64;
    while (cap < need)
        cap *= 2;
    char *s = realloc(t->s, cap);
    if (!s)
        return text_cut(t);
    t->s = s;
    t->cap = cap;
    return true;
}

void text_add(struct text *t, const char *s, size_t n)
{
    if (!reserve(t, n))
        return;
    if (n)
        memcpy(t->s + t->n, s, n);
    t->n += n;
    t->s[t->n] = '\0';
}

void text_puts(struct text *t, const char *s)
{
    text_add(t, s, strlen(s));
}

void text_put_words(struct text *t, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        text_printf(t, "%s%s", i ? ", " : "", words[i]);
}

void text_vprintf(struct text *t, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    if (n < 0)
        t->failed = true;
    else if (reserve(t, (size_t)n)) {
        vsnprintf(t->s + t->n, (size_t)n + 1, fmt, again);
        t->n += (size_t)n;
    }
    va_end(again);
}

void text_printf(struct text *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    text_vprintf(t, fmt, ap);
    va_end(ap);
}

const char *text_next(const char **rest, char stop, size_t *n)
{
    const char stops[] = { stop, '\0' }, *piece = *rest;
    if (!piece || !*piece)
        return NULL;
    *n = strcspn(piece, stops);
    *rest = piece + *n + (piece[*n] == stop);
    return piece;
}

char *text_split(char **rest, char stop)
{
    char *piece = *rest, *end = piece ? strchr(piece, stop) : NULL;
    *rest = end ? end + 1 : NULL;
    if (end)
        *end = '\0';
    return piece;
}

/* n counts the newline, so that one line is no beginning of another. */
static bool has_line(const char *text, const char *line, size_t n)
{
    for (const char *at = text; *at; at = strchr(at, '\n') + 1)
        if (strncmp(at, line, n) == 0)
            return true;
    return false;
}

void text_add_new_lines(struct text *t, const char *lines)
{
    for (const char *line = lines; *line; line = strchr(line, '\n') + 1) {
        size_t n = (size_t)(strchr(line, '\n') - line) + 1;
        if (!has_line(text_str(t), line, n))
            text_add(t, line, n);
    }
}

void text_clear(struct text *t)
{
    t->n = 0;
    t->failed = false;
    if (t->s)
        t->s[0] = '\0';
}

void text_free(struct text *t)
{
    free(t->s);
    *t = (struct text){ 0 };
}

int text_check(const struct text *t, struct err *e)
{
    return t->failed ? err_nomem(e, "text") : 0;
}

const char *text_str(const struct text *t)
{
    return t->s ? t->s : "";
}

/* The size that stat() tells is no guide: it is 0 for pipes and for /proc. */
static int text_read_all(struct text *t, int fd, const char *path, size_t max, struct err *e)
{
    for (;;) {
        /* One byte more than allowed is asked for: getting it is how a file that is too large is told from
         * one that fits. */
        size_t left = max - t->n, ask = left < READ_STEP ? left + 1 : READ_STEP;
        if (!reserve(t, ask))
            return err_nomem(e, path);
        ssize_t got = read(fd, t->s + t->n, ask);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return infile_cannot_read(e, path, errno);
        if ((size_t)got > left)
            return err_set(e, ERR_PARSE, "%s: is larger than %zu bytes, the most allowed", path, max);
        t->n += (size_t)got;
        t->s[t->n] = '\0';
        if (got == 0)
            return 0;
    }
}

int text_read_file(struct text *t, const char *path, size_t max, struct err *e)
{
    int fd;
    text_clear(t);
    int rc = infile_open(&fd, path, e);
    if (rc)
        return rc;
    rc = text_read_all(t, fd, path, max, e);
    close(fd);
    if (rc)
        text_clear(t);
    return rc;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Letters of a word as they are compared: case is free. */
static void fold_case(char *out, const char *word, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (char)tolower((unsigned char)word[i]);
}

/* Edits between two short words: insert, delete, replace, swap neighbours. (Damerau's with strings aligned
 * optimally: no letter is edited twice.) Three rows suffice: a swap looks two back. What two rows have no
 * cell for within @p most takes more: @p most + 1 stands for that. */
static size_t edit_distance(const char *a, size_t na, const char *b, size_t nb, size_t most)
{
    size_t rows[3][NEAREST_MAX + 1], least_before = 0;
    for (size_t j = 0; j <= nb; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t *row = rows[i % 3], least_here = i;
        const size_t *up = rows[(i - 1) % 3], *up2 = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            row[j] = least(least(up[j], row[j - 1]) + 1, up[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], up2[j - 2] + 1);
            least_here = least(least_here, row[j]);
        }
        if (least(least_here, least_before) > most)
            return most + 1;
        least_before = least_here;
    }
    return rows[na % 3][nb];
}

const char *text_nearest(const char *name, const char *const *words, size_t n)
{
    size_t len = strlen(name), best = SIZE_MAX;
    /* Up to a third of the letters, one at least: "latency" forgives two slips. */
    size_t most = len / 3 > 1 ? len / 3 : 1;
    char folded[NEAREST_MAX], word[NEAREST_MAX];
    const char *found = NULL;
    if (len > NEAREST_MAX)
        return NULL;
    fold_case(folded, name, len);
    for (size_t i = 0; i < n; i++) {
        size_t word_len = strlen(words[i]);
        /* What one word has more of takes an edit each. */
        if (word_len > NEAREST_MAX || word_len > len + most || len > word_len + most)
            continue;
        fold_case(word, words[i], word_len);
        size_t edits = edit_distance(folded, len, word, word_len, most);
        /* One letter for another one is not a misspelling of anything. */
        if (edits > most || (edits > 0 && edits >= len && edits >= word_len))
            continue;
        /* Wrong case alone is nearer than any edit, farther than the same word. */
        size_t score = 2 * edits + (strcmp(name, words[i]) != 0);
        if (score < best) {
            best = score;
            found = words[i];
        }
    }
    return found;
}

const char *text_suggest(const char *name, const char *const *words, size_t n)
{
    enum { PART = 3 }; /* "h100" is a part of dgx-h100, one letter of nothing */
    const char *found = NULL, *start = NULL;
    size_t len = strlen(name);
    for (size_t i = 0; i < n && len >= PART; i++) {
        size_t word = strlen(words[i]);
        if (strstr(words[i], name) && (!found || word < strlen(found)))
            found = words[i];
        if (word >= PART && strncmp(name, words[i], word) == 0)
            start = words[i];
    }
    found = found ? found : text_nearest(name, words, n);
    return found ? found : start;
}

unsigned long long text_hash(unsigned long long seed, const void *data, size_t n)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < n; i++)
        seed = (seed ^ bytes[i]) * 1099511628211ULL;
    return seed;
}

void text_add_shown(struct text *out, const char *s, size_t n, const char *kept)
{
    for (size_t i = 0; i < n;) {
        bool keep = s[i] && strchr(kept, s[i]);
        size_t shown = keep ? 1 : utf8_shown(s + i), bytes = utf8_bytes(s + i);
        if (shown)
            text_add(out, s + i, shown);
        else
            text_puts(out, "?");
        i += bytes ? bytes : 1;
    }
}

int text_show(struct text *t, struct err *e)
{
    struct text shown = { 0 };
    size_t i = 0;
    int rc = text_check(t, e);
    while (!rc && i < t->n && (utf8_shown(t->s + i) || t->s[i] == '\n'))
        i += utf8_bytes(t->s + i);
    if (rc || i == t->n)
        return rc;
    text_add(&shown, t->s, i);
    text_add_shown(&shown, t->s + i, t->n - i, "\n\t");
    text_free(t);
    *t = shown;
    return text_check(t, e);
}

bool text_is_formula(const char *s)
{
    double number;
    const char *first = s + strspn(s, "'");
    return *first && strchr("=+-@\t\r", *first) && !num_parse_real(s, &number);
}

char *text_unguard(char *s)
{
    return *s == '\'' && text_is_formula(s + 1) ? s + 1 : s;
}

char *text_unquote(char *s)
{
    char *to = s;
    for (char *from = s + 1; *from; from++) {
        if (*from == '"' && from[1] != '"') {
            *to = '\0';
            return from + 1;
        }
        from += *from == '"';
        *to++ = *from;
    }
    return NULL;
}
