/*
 * The one place that writes what others named into a page. Pages are XML too, so that xmllint can check them:
 * what XML forbids must not come through either, be it written as a reference.
 */
#include "cli/html.h"

#include <string.h>

#include "base/utf8.h"

/* Bytes of the next character, and what stands for it; NULL: itself. */
static size_t next_char(const char *s, const char **as)
{
    size_t n = utf8_shown(s);
    bool forbidden = n == 0 || (n == 3 && memcmp(s, "\xef\xbf", 2) == 0 && (unsigned char)s[2] >= 0xbe);

    *as = *s == '\n' || *s == '\t' ? " " : forbidden ? "?" : NULL;
    return n ? n : utf8_bytes(s) ? utf8_bytes(s) : 1;
}

void html_put(struct text *out, const char *s)
{
    while (s && *s) {
        const char *as;
        size_t n = next_char(s, &as);
        as = *s == '&' ? "&amp;" : *s == '<' ? "&lt;" : *s == '>' ? "&gt;" : *s == '"' ? "&quot;" : as;
        if (as)
            text_puts(out, as);
        else
            text_add(out, s, n);
        s += n;
    }
}

void html_put_lines(struct text *out, const char *s)
{
    size_t n;
    for (const char *at; (at = text_next(&s, '\n', &n));) {
        struct text line = { 0 };
        text_add(&line, at, n);
        html_put(out, text_str(&line));
        text_puts(out, "\n");
        out->failed = out->failed || line.failed;
        text_free(&line);
    }
}

void html_put_json(struct text *out, const char *s)
{
    text_puts(out, "\"");
    while (s && *s) {
        const char *as;
        size_t n = next_char(s, &as);
        if (as)
            text_puts(out, as);
        else if (strchr("\\\"<>&", *s)) /* the last three for HTML and XML around it */
            text_printf(out, "\\u%04x", (unsigned char)*s);
        else
            text_add(out, s, n);
        s += n;
    }
    text_puts(out, "\"");
}

void html_figure(struct text *out, const char *svg, const char *why)
{
    text_puts(out, "<figure>");
    if (svg)
        text_puts(out, svg);
    else {
        text_puts(out, "<figcaption>This figure could not be drawn: ");
        html_put(out, why);
        text_puts(out, "</figcaption>");
    }
    text_puts(out, "</figure>\n");
}
