/*
 * Whether an image is whole. gnuplot goes on after a write that failed and exits with 0, so that its image
 * may lack its end, or a piece in the middle.
 *
 * SVG (W3C, XML 1.0): a prolog, one element svg with the name spaces that are used, tags that close in order,
 * and an element for every reference to one. PDF (ISO 32000-1, 7.5): the table of objects stands where the
 * end of the file says, and each object where the table says; Cairo writes plain tables. PNG (RFC 2083):
 * chunks with checksums from IHDR to IEND.
 */
#include "plots/image.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- XML ---- */

enum { MAX_DEPTH = 64, MAX_NAME = 64 };

/* A document on its way; `at` is what comes next, and text ends with a zero byte. */
struct xml {
    const char *text, *at;
    struct {
        const char *name;
        size_t n;
    } open[MAX_DEPTH];
    int depth;
    int n_roots;
};

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || strchr("_:-.", c) != NULL;
}

static size_t name_length(const char *s)
{
    size_t n = 0;
    while (s[n] && is_name(s[n]))
        n++;
    return n;
}

static bool skip_to(struct xml *x, const char *end)
{
    const char *found = strstr(x->at, end);
    x->at = found ? found + strlen(end) : x->at;
    return found != NULL;
}

/* "#id" of a reference: somewhere an element has that id. */
static bool is_defined(const struct xml *x, const char *ref, size_t n)
{
    char want[2][MAX_NAME + 8];
    if (n > MAX_NAME)
        return false;
    snprintf(want[0], sizeof want[0], "id='%.*s'", (int)n, ref);
    snprintf(want[1], sizeof want[1], "id=\"%.*s\"", (int)n, ref);
    return strstr(x->text, want[0]) || strstr(x->text, want[1]);
}

static const char *skip_space(const char *s)
{
    return s + strspn(s, " \t\r\n");
}

/* name = "value" */
static bool read_attribute(struct xml *x)
{
    const char *name = x->at;
    size_t n = name_length(name);
    const char *value = skip_space(name + n);
    if (!n || *value != '=')
        return false;
    value = skip_space(value + 1);
    const char *end = *value == '"' || *value == '\'' ? strchr(value + 1, *value) : NULL;
    if (!end || memchr(value, '<', (size_t)(end - value)))
        return false;
    value++;
    x->at = end + 1;
    bool refers = n == strlen("xlink:href") && memcmp(name, "xlink:href", n) == 0 && *value == '#';
    return !refers || is_defined(x, value + 1, (size_t)(end - value) - 1);
}

/* The root names what SVG needs and its own size. */
static bool check_root(const char *tag, size_t n)
{
    static const char *const needs[] = { "xmlns=", "xmlns:xlink=", "width=", "height=", "viewBox=" };
    bool whole = strncmp(tag, "svg", 3) == 0;
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
        const char *found = strstr(tag, needs[i]);
        whole = whole && found && found < tag + n;
    }
    return whole;
}

/* Behind "<": of a tag that opens, up to its ">". */
static bool read_tag(struct xml *x)
{
    const char *name = x->at;
    size_t n = name_length(name);
    x->at += n;
    while (n) {
        bool space = isspace((unsigned char)*x->at);
        x->at = skip_space(x->at);
        if (*x->at == '>' || strncmp(x->at, "/>", 2) == 0)
            break;
        if (!space || !read_attribute(x))
            return false;
    }
    bool empty = *x->at == '/';
    if (!n || x->depth == MAX_DEPTH || (x->depth == 0 && x->n_roots++ > 0))
        return false;
    if (x->depth == 0 && !check_root(name, (size_t)(x->at - name)))
        return false;
    x->at += empty ? 2 : 1;
    if (!empty) {
        x->open[x->depth].name = name;
        x->open[x->depth++].n = n;
    }
    return true;
}

/* Behind "</" */
static bool read_end_tag(struct xml *x)
{
    size_t n = name_length(x->at);
    bool same = x->depth > 0 && x->open[x->depth - 1].n == n &&
                memcmp(x->open[x->depth - 1].name, x->at, n) == 0 && x->at[n] == '>';
    x->depth -= same;
    x->at += same ? n + 1 : 0;
    return same;
}

static bool read_markup(struct xml *x)
{
    if (*x->at++ != '<')
        return false;
    switch (*x->at) {
    case '?':
        return skip_to(x, "?>");
    case '!':
        return skip_to(x, strncmp(x->at, "!--", 3) == 0 ? "-->" : ">");
    case '/':
        x->at++;
        return read_end_tag(x);
    default:
        return read_tag(x);
    }
}

static const char *svg_fault(const struct text *image)
{
    struct xml x = { .text = image->s, .at = image->s };
    for (;;) {
        size_t n = strcspn(x.at, "<");
        if (x.depth == 0 && skip_space(x.at) < x.at + n)
            return "has text outside its root";
        x.at += n;
        if (!*x.at)
            break;
        if (!read_markup(&x))
            return "has a tag that is cut or does not fit";
    }
    if (x.at != image->s + image->n)
        return "has a zero byte";
    return x.depth > 0 || x.n_roots != 1 ? "has no end" : NULL;
}

/* ---- PDF ---- */

/* A number at `at`, behind which `*at` stands then; -1: none. */
static int64_t read_number(const struct text *t, size_t *at)
{
    int64_t x = 0;
    size_t from = *at;
    while (*at < t->n && t->s[*at] == ' ')
        from = ++*at;
    while (*at < t->n && isdigit((unsigned char)t->s[*at]) && *at - from < 15)
        x = x * 10 + (t->s[(*at)++] - '0');
    return *at > from ? x : -1;
}

static bool has_at(const struct text *t, size_t at, const char *word)
{
    size_t n = strlen(word);
    return at <= t->n && n <= t->n - at && memcmp(t->s + at, word, n) == 0;
}

/* "N G obj" */
static bool has_object(const struct text *t, size_t at, int64_t number)
{
    int64_t found = read_number(t, &at);
    return read_number(t, &at) >= 0 && has_at(t, at, " obj") && (number < 0 || found == number);
}

/* trailer << .. /Root .. >> startxref */
static bool check_trailer(const struct text *t, size_t at)
{
    static const char *const parts[] = { "trailer", "<<", "/Root ", "/Info ", ">>", "startxref" };
    const char *s = t->s + at;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && s; i++) {
        s = strstr(s, parts[i]);
        s = s ? s + strlen(parts[i]) : NULL;
    }
    return s && has_at(t, at, "trailer");
}

/* "0000000015 00000 n", a line of 20 bytes for each object; those of kind f are free. */
static bool check_objects(const struct text *t, size_t at)
{
    enum { LINE = 20 };
    int64_t first = read_number(t, &at), n = read_number(t, &at);
    at += has_at(t, at, "\r\n") ? 2 : 1;
    if (first != 0 || n < 1 || (uint64_t)n > t->n / LINE)
        return false;
    for (int64_t i = 0; i < n; i++, at += LINE) {
        size_t field = at;
        int64_t offset = read_number(t, &field);
        if (field != at + 10 || read_number(t, &field) < 0 || field != at + 16)
            return false;
        if (!has_at(t, field, " n") ? !has_at(t, field, " f") : !has_object(t, (size_t)offset, i))
            return false;
    }
    return check_trailer(t, at);
}

static const char *pdf_fault(const struct text *t)
{
    static const char word[] = "startxref", end[] = "%%EOF";
    size_t n = t->n, at;
    while (n > 0 && isspace((unsigned char)t->s[n - 1]))
        n--;
    if (n < strlen(end) || !has_at(t, n - strlen(end), end))
        return "has no end";
    for (at = n - strlen(end); at > 0 && !has_at(t, at, word); at--)
        if (n - at > 64)
            break;
    if (!has_at(t, at, word))
        return "has no startxref at its end";
    at += strlen(word);
    at += strspn(t->s + at, "\r\n");
    int64_t table = read_number(t, &at);
    if (table < 0 || (uint64_t)table >= n)
        return "has no table of objects";
    /* Since version 1.5 a table may be an object that is compressed. */
    at = (size_t)table;
    if (!has_at(t, at, "xref"))
        return has_object(t, at, -1) ? NULL : "has no table of objects where its end says";
    at += strlen("xref");
    at += strspn(t->s + at, "\r\n");
    return check_objects(t, at) ? NULL : "has objects that are not where its table says";
}

/* ---- PNG ---- */

/* RFC 2083, section 15, without its table. */
static uint32_t checksum(const unsigned char *s, size_t n)
{
    uint32_t c = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        c ^= s[i];
        for (int bit = 0; bit < 8; bit++)
            c = c & 1 ? UINT32_C(0xEDB88320) ^ c >> 1 : c >> 1;
    }
    return ~c;
}

static uint32_t big_endian(const unsigned char *s)
{
    return (uint32_t)s[0] << 24 | (uint32_t)s[1] << 16 | (uint32_t)s[2] << 8 | s[3];
}

static const char *png_fault(const struct text *t)
{
    enum { SIGNATURE = 8, FRAME = 12 };
    const unsigned char *s = (const unsigned char *)t->s;
    if (t->n < SIGNATURE || memcmp(s, "\x89PNG\r\n\x1a\n", SIGNATURE) != 0)
        return "has no whole signature";
    for (size_t at = SIGNATURE; t->n - at >= FRAME;) {
        uint32_t n = big_endian(s + at);
        if (n > t->n - at - FRAME || checksum(s + at + 4, n + 4) != big_endian(s + at + 8 + n))
            return "has a chunk that is not as its checksum says";
        bool last = memcmp(s + at + 4, "IEND", 4) == 0;
        at += FRAME + n;
        if (last)
            return at == t->n ? NULL : "goes on behind its end";
    }
    return "has no end";
}

const char *image_fault(const struct text *image)
{
    if (has_at(image, 0, "<?xml"))
        return svg_fault(image);
    if (has_at(image, 0, "%PDF-"))
        return pdf_fault(image);
    if (has_at(image, 0, "\x89"))
        return png_fault(image);
    return "does not begin as SVG, PDF or PNG";
}
