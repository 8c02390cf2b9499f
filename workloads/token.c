#include "workloads/token.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"

const char *token_show(char out[TOKEN_SHOWN], const struct token *t)
{
    if (t->n == 0)
        return strcpy(out, "end of file");
    size_t used = 0;
    out[used++] = '"';
    for (size_t i = 0; i < t->n && used < TOKEN_SHOWN - 2; i++)
        out[used++] = isprint((unsigned char)t->s[i]) ? t->s[i] : '?';
    out[used++] = '"';
    out[used] = '\0';
    return out;
}

const char *token_copy(char *out, size_t size, const struct token *t)
{
    size_t n = t->n < size ? t->n : size - 1;
    for (size_t k = 0; k < n; k++)
        out[k] = iscntrl((unsigned char)t->s[k]) ? '?' : t->s[k];
    out[n] = '\0';
    return out;
}

int token_fail(const struct token_reader *r, const struct token *t, struct err *e, enum err_code code,
               const char *fmt, ...)
{
    char message[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    return err_set(e, code, "%s:%d:%d: %s", r->name, t->line, t->col, message);
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Read the word at pos into r->next. */
static void scan(struct token_reader *r)
{
    int32_t line = r->line, col = r->col;
    while (r->pos < r->n && is_blank(r->text[r->pos])) {
        bool ends_line = r->text[r->pos++] == '\n';
        r->line += ends_line;
        r->col = ends_line ? 1 : r->col + 1;
    }
    bool at_end = r->pos == r->n;
    r->next = (struct token){ r->text + r->pos, 0, at_end ? line : r->line, at_end ? col : r->col };
    while (r->pos < r->n && !is_blank(r->text[r->pos])) {
        r->pos++;
        r->col++;
        r->next.n++;
    }
}

void token_begin(struct token_reader *r, const char *name, const char *text, size_t n)
{
    *r = (struct token_reader){ .name = name, .text = text, .n = n, .line = 1, .col = 1 };
    scan(r);
}

void token_advance(struct token_reader *r)
{
    r->token = r->next;
    scan(r);
}

bool token_is(const struct token *t, const char *word)
{
    return t->n == strlen(word) && memcmp(t->s, word, t->n) == 0;
}

int token_count_line(const struct token_reader *r)
{
    struct token_reader ahead = *r;
    int n = 0;
    while (ahead.next.n > 0 && ahead.next.line == r->next.line) {
        token_advance(&ahead);
        n++;
    }
    return n;
}

int token_take_count(struct token_reader *r, const char *what, int64_t *out, struct err *e)
{
    char digits[24], shown[TOKEN_SHOWN];
    token_advance(r);
    size_t n = r->token.n;
    if (n > 0 && n < sizeof digits && !memchr(r->token.s, '\0', n)) {
        memcpy(digits, r->token.s, n);
        digits[n] = '\0';
        if (num_parse_count(digits, out))
            return 0;
    }
    return token_fail(r, &r->token, e, ERR_PARSE, "%s: is %s, need a whole number", what,
                      token_show(shown, &r->token));
}

int token_take_label(struct token_reader *r, const char *label, struct err *e)
{
    char shown[TOKEN_SHOWN];
    token_advance(r);
    struct token word = r->token;
    if (word.n == strlen(label) + 1 && word.s[word.n - 1] == ':')
        word.n--;
    if (!token_is(&word, label))
        return token_fail(r, &r->token, e, ERR_PARSE, "is %s, need %s:", token_show(shown, &r->token), label);
    return 0;
}
