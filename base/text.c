/* O_TMPFILE and renameat2() let an output file appear whole or not at all. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    READ_STEP = 1 << 16,
    NEAREST_MAX = 63, /* longer words are not keys or names of anything */
    TRIES = 100,      /* temporary names before giving up */
};

/* Room for n more bytes and the terminator. */
static bool reserve(struct text *t, size_t n)
{
    if (t->failed || n >= SIZE_MAX / 4 - t->n) {
        t->failed = true;
        return false;
    }
    size_t need = t->n + n + 1;
    if (need <= t->cap)
        return true;
    size_t cap = t->cap ? t->cap : 64;
    while (cap < need)
        cap *= 2;
    char *s = realloc(t->s, cap);
    if (!s) {
        t->failed = true;
        return false;
    }
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

void text_printf(struct text *t, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0)
        t->failed = true;
    else if (reserve(t, (size_t)n)) {
        vsnprintf(t->s + t->n, (size_t)n + 1, fmt, again);
        t->n += (size_t)n;
    }
    va_end(again);
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
static int read_all(struct text *t, int fd, const char *path, size_t max, struct err *e)
{
    for (;;) {
        size_t left = max - t->n, ask = left < READ_STEP ? left + 1 : READ_STEP;
        if (!reserve(t, ask))
            return err_nomem(e, path);
        ssize_t got = read(fd, t->s + t->n, ask);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_set(e, ERR_PARSE, "%s:1:1: file cannot be read (%s), need a readable file", path,
                           strerror(errno));
        if ((size_t)got > left)
            return err_set(e, ERR_PARSE, "%s:1:1: file is larger than %zu bytes, need at most that", path,
                           max);
        t->n += (size_t)got;
        t->s[t->n] = '\0';
        if (got == 0)
            return 0;
    }
}

int text_read_file(struct text *t, const char *path, size_t max, struct err *e)
{
    text_clear(t);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0 && errno == ENOENT)
        return err_set(e, ERR_PARSE, "%s:1:1: file is missing, need a readable file", path);
    if (fd < 0)
        return err_set(e, ERR_PARSE, "%s:1:1: file cannot be read (%s), need a readable file", path,
                       strerror(errno));
    int rc = read_all(t, fd, path, max, e);
    close(fd);
    if (rc)
        text_clear(t);
    return rc;
}

static int cannot_write(struct err *e, const char *path)
{
    return err_set(e, ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
}

static int already_there(struct err *e, const char *path)
{
    return err_set(e, ERR_USAGE, "%s: exists, need -f to overwrite", path);
}

static bool write_bytes(int fd, const struct text *t)
{
    for (size_t done = 0; done < t->n;) {
        ssize_t got = write(fd, t->s + done, t->n - done);
        if (got < 0 && errno != EINTR)
            return false;
        if (got > 0)
            done += (size_t)got;
    }
    return true;
}

/* On the disk, not only in the page cache: network file systems tell a full disk here. */
static bool write_and_sync(int fd, const struct text *t, mode_t mode)
{
    if (!write_bytes(fd, t))
        return false;
    if (mode && fchmod(fd, mode) != 0 && errno != EPERM)
        return false;
    return fsync(fd) == 0 || errno == EINVAL || errno == ENOSYS;
}

static int write_stdout(const struct text *t, struct err *e)
{
    errno = 0;
    if (fwrite(text_str(t), 1, t->n, stdout) != t->n || fflush(stdout) != 0 || ferror(stdout))
        return cannot_write(e, "standard output");
    return 0;
}

/* Devices and pipes: nothing to replace, nothing to leave behind. */
static int write_in_place(const struct text *t, const char *path, struct err *e)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return cannot_write(e, path);
    int rc = write_bytes(fd, t) ? 0 : cannot_write(e, path);
    if (close(fd) != 0 && !rc)
        rc = cannot_write(e, path);
    return rc;
}

/* Length of the directory part of a path, with its slash. */
static size_t dir_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Name of try k in the target's directory, so that rename() stays within one file system. */
static bool side_name(char *buf, size_t n, const char *path, int k)
{
    int len = snprintf(buf, n, "%.*s.weft-%ld-%d.tmp", (int)dir_length(path), path, (long)getpid(), k);
    if (len > 0 && (size_t)len < n)
        return true;
    errno = ENAMETOOLONG;
    return false;
}

/* Give the nameless file behind fd its name. False with errno; EEXIST when refused. */
static bool name_tmpfile(int fd, const char *path, bool force)
{
    char link[64], side[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0)
        return true;
    if (errno != EEXIST || !force)
        return false;
    for (int k = 0; k < TRIES; k++) {
        if (!side_name(side, sizeof side, path, k))
            return false;
        if (linkat(AT_FDCWD, link, AT_FDCWD, side, AT_SYMLINK_FOLLOW) == 0) {
            if (rename(side, path) == 0)
                return true;
            int why = errno;
            unlink(side);
            errno = why;
            return false;
        }
        if (errno != EEXIST)
            return false;
    }
    return false;
}

static int open_tmpfile(const char *path)
{
    char dir[PATH_MAX];
    size_t n = dir_length(path);
    if (n >= sizeof dir)
        return -1;
    memcpy(dir, path, n);
    dir[n] = '\0';
    return open(n ? dir : ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
}

/* Where file systems lack RENAME_NOREPLACE, the check made before must do. */
static bool move_into_place(const char *side, const char *path, bool force)
{
    if (!force) {
        if (renameat2(AT_FDCWD, side, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
            return true;
        if (errno != EINVAL && errno != ENOSYS)
            return false;
    }
    return rename(side, path) == 0;
}

/* For file systems without O_TMPFILE, or without /proc: a named file beside the target. */
static int write_beside(const struct text *t, const char *path, bool force, mode_t mode, struct err *e)
{
    char side[PATH_MAX];
    int fd = -1;
    for (int k = 0; fd < 0 && k < TRIES; k++) {
        if (!side_name(side, sizeof side, path, k))
            return cannot_write(e, path);
        fd = open(side, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd < 0)
        return cannot_write(e, path);

    int rc = write_and_sync(fd, t, mode) ? 0 : cannot_write(e, path);
    if (close(fd) != 0 && !rc)
        rc = cannot_write(e, path);
    if (!rc && !move_into_place(side, path, force))
        rc = errno == EEXIST ? already_there(e, path) : cannot_write(e, path);
    if (rc)
        unlink(side);
    return rc;
}

static int write_new(const struct text *t, const char *path, bool force, mode_t mode, struct err *e)
{
    int fd = open_tmpfile(path);
    if (fd < 0)
        return write_beside(t, path, force, mode, e);
    if (!write_and_sync(fd, t, mode)) {
        int rc = cannot_write(e, path);
        close(fd);
        return rc;
    }
    bool named = name_tmpfile(fd, path, force);
    int why = errno;
    close(fd);
    if (named)
        return 0;
    if (why == EEXIST && !force)
        return already_there(e, path);
    return write_beside(t, path, force, mode, e);
}

int text_write_file(const struct text *t, const char *path, bool force, struct err *e)
{
    int rc = text_check(t, e);
    if (rc)
        return rc;
    if (!path || strcmp(path, "-") == 0)
        return write_stdout(t, e);

    struct stat st;
    if (stat(path, &st) != 0)
        return write_new(t, path, force, 0, e);
    if (!S_ISREG(st.st_mode))
        return write_in_place(t, path, e);
    if (!force)
        return already_there(e, path);
    /* A symbolic link stays one: what it points to is replaced. */
    char *target = realpath(path, NULL);
    if (!target)
        return cannot_write(e, path);
    rc = write_new(t, target, true, st.st_mode & 0777, e);
    free(target);
    return rc;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Edits between two short words: insert, delete, replace, swap neighbours; case is free. */
static size_t edit_distance(const char *a, size_t na, const char *b, size_t nb)
{
    size_t rows[3][NEAREST_MAX + 1];
    for (size_t j = 0; j <= nb; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t *row = rows[i % 3];
        const size_t *up = rows[(i - 1) % 3], *up2 = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            bool same = same_letter(a[i - 1], b[j - 1]);
            row[j] = least(least(up[j], row[j - 1]) + 1, up[j - 1] + !same);
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]))
                row[j] = least(row[j], up2[j - 2] + 1);
        }
    }
    return rows[na % 3][nb];
}

const char *text_nearest(const char *name, const char *const *words, size_t n)
{
    size_t len = strlen(name), best = SIZE_MAX;
    const char *found = NULL;
    if (len > NEAREST_MAX)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        size_t word_len = strlen(words[i]);
        if (word_len > NEAREST_MAX)
            continue;
        size_t edits = edit_distance(name, len, words[i], word_len);
        bool similar = edits <= (len / 3 > 1 ? len / 3 : 1);
        /* One letter for another one is not a misspelling of anything. */
        if (!similar || (edits > 0 && edits >= len && edits >= word_len))
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

unsigned long long text_hash(unsigned long long seed, const void *data, size_t n)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < n; i++)
        seed = (seed ^ bytes[i]) * 1099511628211ULL;
    return seed;
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
