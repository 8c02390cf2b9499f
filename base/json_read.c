/*
 * Two readers of large inputs with memory of one entry: text files line by line, and JSON files that are one
 * array of objects (the Philly trace is a single array of more than 100,000 jobs).
 *
 * Jansson parses a complete value; it has no events. So the brackets and commas of the outer array are read
 * here, and each object is handed to Jansson through a callback of one byte at a time: a callback of blocks
 * would swallow what follows the object, and its line numbers start anew with each object, while messages
 * need those of the file.
 *
 * Nothing is sought backwards: a pipe works as a file does.
 */

#include "base/json_read.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/infile.h"

enum { BLOCK = 1 << 16 };

int lines_open(struct lines *l, const char *path, size_t max, struct err *e)
{
    int fd;
    *l = (struct lines){ .path = path, .max = max, .fd = -1 };
    int rc = infile_open(&fd, strcmp(path, "-") == 0 ? "/dev/stdin" : path, e);
    if (rc)
        return rc;
    l->cap = 256;
    l->block = malloc(BLOCK);
    l->s = malloc(l->cap);
    l->fd = fd;
    if (l->block && l->s) {
        l->s[0] = '\0';
        return 0;
    }
    /* lines_close() tells an open file from a zeroed struct by its memory; here there is none. */
    if (!l->block && !l->s)
        close(fd);
    lines_close(l);
    return err_nomem(e, path);
}

static int refill_lines(struct lines *l, struct err *e)
{
    ssize_t got;
    do
        got = read(l->fd, l->block, BLOCK);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return err_set(e, ERR_IO, "%s:%lld: cannot be read: %s", l->path, (long long)l->line + 1,
                       strerror(errno));
    l->at = 0;
    l->end = (size_t)got;
    return 0;
}

/* Append @p n bytes to the line; the caller has checked the limit. */
static int keep(struct lines *l, const char *from, size_t n, struct err *e)
{
    if (l->n + n + 1 > l->cap) {
        size_t cap = 2 * (l->n + n + 1);
        char *s = realloc(l->s, cap);
        if (!s)
            return err_nomem(e, l->path);
        l->s = s;
        l->cap = cap;
    }
    memcpy(l->s + l->n, from, n);
    l->n += n;
    return 0;
}

/* A NUL byte would end the text for all that read it, and shows that the file is compressed or binary. */
static int check_line(struct lines *l, bool fits, struct err *e)
{
    bool nul = fits && l->n > 0 && memchr(l->s, '\0', l->n);
    if (fits && !nul) {
        l->n -= l->n > 0 && l->s[l->n - 1] == '\r';
        l->s[l->n] = '\0';
        return 0;
    }
    l->n = 0;
    l->s[0] = '\0';
    if (nul)
        return err_set(e, ERR_PARSE, "%s:%lld: has a NUL byte: not a text file", l->path, (long long)l->line);
    return err_set(e, ERR_PARSE, "%s:%lld: line is longer than %zu bytes, the most allowed", l->path,
                   (long long)l->line, l->max);
}

int lines_next(struct lines *l, bool *more, struct err *e)
{
    bool fits = true, ended = false, any = false;
    int rc;
    l->n = 0;
    *more = false;
    while (!ended) {
        if (l->at == l->end && (rc = refill_lines(l, e)))
            return rc;
        if (l->at == l->end)
            break;
        const char *from = l->block + l->at, *end = memchr(from, '\n', l->end - l->at);
        size_t n = end ? (size_t)(end - from) : l->end - l->at;
        /* What is beyond the limit is passed over without being kept. */
        fits = fits && n <= l->max - l->n;
        if (fits && (rc = keep(l, from, n, e)))
            return rc;
        l->at += n + (end != NULL);
        ended = end != NULL;
        any = true;
    }
    if (!any) {
        l->s[0] = '\0';
        return 0;
    }
    *more = true;
    l->line++;
    return check_line(l, fits, e);
}

void lines_close(struct lines *l)
{
    /* One that was never opened has no memory either, and 0 for a file. */
    if (l->block || l->s)
        close(l->fd);
    free(l->block);
    free(l->s);
    *l = (struct lines){ .path = l->path, .line = l->line, .fd = -1 };
}

struct json_reader {
    FILE *file;
    const char *path;
    json_t *object;      /* read last, owned */
    int64_t line, start; /* of the next byte; of the object */
    size_t n_bytes;      /* of the object so far */
    bool any, ended;     /* an entry was read; the array was closed */
};

/* A file that ends because it could not be read on is ERR_IO, never a fault of its text. */
static int fail(const struct json_reader *r, int64_t line, struct err *e, const char *what)
{
    if (ferror(r->file))
        return err_set(e, ERR_IO, "%s:%lld: cannot be read: %s", r->path, (long long)line, strerror(errno));
    return err_set(e, ERR_PARSE, "%s:%lld: %s", r->path, (long long)line, what);
}

static int take_byte(struct json_reader *r)
{
    int c = getc_unlocked(r->file);
    r->line += c == '\n';
    return c;
}

/* The next byte that is no blank, or EOF. */
static int take_sign(struct json_reader *r)
{
    int c;
    do
        c = take_byte(r);
    while (c == ' ' || c == '\t' || c == '\r' || c == '\n');
    return c;
}

/* One byte a call: so the library never takes what follows the object, and the line is known. */
static size_t give_byte(void *buffer, size_t size, void *data)
{
    struct json_reader *r = data;
    int c = size > 0 && r->n_bytes < JSON_READER_MAX_BYTES ? take_byte(r) : EOF;
    if (c == EOF)
        return 0;
    r->n_bytes++;
    *(char *)buffer = (char)c;
    return 1;
}

static int open_array(struct json_reader *r, struct err *e)
{
    int c = take_sign(r);
    if (c == 0xef && take_byte(r) == 0xbb && take_byte(r) == 0xbf) /* byte order mark */
        c = take_sign(r);
    if (c == '[')
        return 0;
    return fail(r, r->line, e,
                c == EOF ? "file is empty, expected an array of objects" : "expected an array of objects");
}

/* Jansson 2.14 does not always notice that memory is short: a text loses a letter, or a value is called no
 * JSON. */
static _Thread_local bool json_lacks;

static void *json_noted_malloc(size_t n)
{
    void *p = malloc(n);
    json_lacks = json_lacks || !p;
    return p;
}

int json_reader_open(struct json_reader **out, const char *path, struct err *e)
{
    *out = NULL;
    struct json_reader *r = calloc(1, sizeof *r);
    if (!r)
        return err_nomem(e, path);
    r->path = path;
    r->line = 1;
    json_set_alloc_funcs(json_noted_malloc, free);
    int fd, rc = infile_open(&fd, strcmp(path, "-") == 0 ? "/dev/stdin" : path, e);
    r->file = rc ? NULL : fdopen(fd, "rb");
    if (!rc && !r->file) {
        close(fd);
        rc = err_nomem(e, path);
    }
    if (!rc)
        rc = open_array(r, e);
    if (rc) {
        json_reader_close(r);
        return rc;
    }
    *out = r;
    return 0;
}

static int read_object(struct json_reader *r, struct err *e)
{
    json_error_t why;
    json_lacks = false;
    r->start = r->line;
    r->n_bytes = 0;
    r->object = json_load_callback(give_byte, r, JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES, &why);
    /* Memory first: in the other cases below Jansson only noticed that bytes stopped coming and calls it a
     * premature end. */
    if (json_lacks)
        return err_nomem(e, r->path);
    if (r->object)
        return 0;
    if (r->n_bytes >= JSON_READER_MAX_BYTES)
        return fail(r, r->start, e, "object is larger than 64 MiB, the most allowed");
    if (ferror(r->file))
        return fail(r, r->line, e, "");
    int64_t line = r->start + (why.line > 0 ? why.line - 1 : 0);
    return err_set(e, ERR_PARSE, "%s:%lld: is not JSON: %s", r->path, (long long)line, why.text);
}

int json_reader_next(struct json_reader *r, const struct json_value **out, struct err *e)
{
    json_decref(r->object);
    r->object = NULL;
    *out = NULL;
    if (r->ended)
        return 0;
    int c = take_sign(r);
    if (r->any && c == ',')
        c = take_sign(r);
    else if (r->any && c != ']')
        return fail(r, r->line, e,
                    c == EOF ? "array is not closed: ] is missing" : "expected a comma or ] after an object");
    else if (c == ']')
        r->ended = true;
    if (r->ended)
        return take_sign(r) == EOF ? 0 : fail(r, r->line, e, "text after the end of the array");
    if (c != '{')
        return fail(r, r->line, e,
                    c == EOF ? "array is not closed: ] is missing" : "entry is not an object: { expected");
    /* One pushed-back byte is what ISO C guarantees. It is no newline, so `line` need not go back. */
    ungetc(c, r->file);
    r->any = true;
    int rc = read_object(r, e);
    if (!rc)
        *out = (const struct json_value *)r->object;
    return rc;
}

int64_t json_reader_line(const struct json_reader *r)
{
    return r->start;
}

void json_reader_close(struct json_reader *r)
{
    if (!r)
        return;
    json_decref(r->object);
    if (r->file)
        fclose(r->file);
    free(r);
}

/* struct json_value is what the library calls json_t. */
static const json_t *native(const struct json_value *v)
{
    return (const json_t *)v;
}

const struct json_value *json_value_get(const struct json_value *v, const char *key)
{
    return (const struct json_value *)json_object_get(native(v), key);
}

size_t json_value_count(const struct json_value *v)
{
    return json_array_size(native(v));
}

const struct json_value *json_value_at(const struct json_value *v, size_t i)
{
    return (const struct json_value *)json_array_get(native(v), i);
}

const char *json_value_text(const struct json_value *v)
{
    return json_string_value(native(v));
}

bool json_value_is_array(const struct json_value *v)
{
    return json_is_array(native(v));
}

bool json_value_is_null(const struct json_value *v)
{
    return !v || json_is_null(native(v));
}
