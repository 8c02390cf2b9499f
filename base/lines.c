#include "base/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 1 << 16 };

static int cannot_read(struct err *e, const char *path, int why)
{
    return err_set(e, ERR_PARSE, "%s:1: file cannot be read (%s), need a readable file", path, strerror(why));
}

int lines_open(struct lines *l, const char *path, size_t max, struct err *e)
{
    struct stat st;
    *l = (struct lines){ .path = path, .max = max, .fd = -1 };
    int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0 && errno == ENOENT)
        return err_set(e, ERR_PARSE, "%s:1: file is missing, need a readable file", path);
    if (fd < 0)
        return cannot_read(e, path, errno);
    /* A folder opens but cannot be read: said here, before anything else is. */
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        close(fd);
        return cannot_read(e, path, EISDIR);
    }
    l->cap = 256;
    l->block = malloc(BLOCK);
    l->s = malloc(l->cap);
    l->fd = fd;
    if (l->block && l->s) {
        l->s[0] = '\0';
        return 0;
    }
    if (!l->block && !l->s)
        close(fd);
    lines_close(l);
    return err_nomem(e, path);
}

static int fill_block(struct lines *l, struct err *e)
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
        return err_set(e, ERR_PARSE, "%s:%lld: has a NUL byte, need text", l->path, (long long)l->line);
    return err_set(e, ERR_PARSE, "%s:%lld: line is longer than %zu bytes, need at most that", l->path,
                   (long long)l->line, l->max);
}

int lines_next(struct lines *l, bool *more, struct err *e)
{
    bool fits = true, ended = false, any = false;
    int rc;
    l->n = 0;
    *more = false;
    while (!ended) {
        if (l->at == l->end && (rc = fill_block(l, e)))
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
