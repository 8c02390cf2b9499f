/*
 * No tree is built: what is put goes to the text at once, and the only state is whether a comma is due at
 * each depth. So a report of any length needs no memory besides its text. Strings are checked as UTF-8 on the
 * way out, since names come from files that nobody checked, and one bad byte makes a whole JSON file
 * unreadable to strict parsers (RFC 8259, section 8.1).
 */

#include "base/json.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "base/utf8.h"

static void json_put_quoted(struct text *out, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    text_puts(out, "\"");
    while (*s) {
        size_t n = utf8_bytes((const char *)s);
        if (n == 0)
            text_puts(out, "\xef\xbf\xbd"); /* U+FFFD, replacement character */
        else if (*s == '"' || *s == '\\')
            text_printf(out, "\\%c", *s);
        else if (*s < 0x20)
            text_printf(out, "\\u%04x", (unsigned)*s);
        else
            text_add(out, (const char *)s, n);
        s += n ? n : 1;
    }
    text_puts(out, "\"");
}

/* A word that YAML reads as itself without quotes. */
static bool is_plain_word(const char *s)
{
    return *s && !strspn(s, "-.") &&
           !s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")];
}

static void json_put_word(struct json *j, const char *s)
{
    if (j->plain && is_plain_word(s))
        text_puts(j->out, s);
    else
        json_put_quoted(j->out, s);
}

static void begin_value(struct json *j, const char *key)
{
    if (j->filled[j->depth])
        text_puts(j->out, ", ");
    j->filled[j->depth] = true;
    if (key) {
        json_put_word(j, key);
        text_puts(j->out, ": ");
    }
}

void json_open(struct json *j, const char *key, char bracket)
{
    assert(bracket == '{' || bracket == '[');
    assert(j->depth < JSON_MAX_DEPTH);
    begin_value(j, key);
    text_add(j->out, &bracket, 1);
    j->filled[++j->depth] = false;
}

void json_close(struct json *j, char bracket)
{
    assert(bracket == '}' || bracket == ']');
    assert(j->depth > 0);
    text_add(j->out, &bracket, 1);
    j->depth--;
}

void json_real(struct json *j, const char *key, double x)
{
    char buf[NUM_TEXT];
    begin_value(j, key);
    text_puts(j->out, isfinite(x) ? num_format(buf, x) : "null");
}

void json_count(struct json *j, const char *key, int64_t n)
{
    begin_value(j, key);
    text_printf(j->out, "%lld", (long long)n);
}

void json_bool(struct json *j, const char *key, bool b)
{
    begin_value(j, key);
    text_puts(j->out, b ? "true" : "false");
}

void json_text(struct json *j, const char *key, const char *s)
{
    begin_value(j, key);
    if (s)
        json_put_word(j, s);
    else
        text_puts(j->out, "null");
}
