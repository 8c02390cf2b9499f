/*
 * Whether an image is whole. gnuplot goes on after a write that failed and exits with 0, so that its image
 * may lack its end, or a piece in the middle.
 *
 * PDF (ISO 32000-1, 7.5): the table of objects stands where the end of the file says, and each object where
 * the table says; Cairo writes plain tables. PNG (RFC 2083): chunks with checksums from IHDR to IEND.
 */
#include "plots/gnuplot.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

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
    if (has_at(image, 0, "%PDF-"))
        return pdf_fault(image);
    if (has_at(image, 0, "\x89"))
        return png_fault(image);
    return "does not begin as PDF or PNG";
}
