/*
 * A program that replaces files must not replace what it reads, by whatever name: what a study names may name
 * files itself, and a trace is a hundred files with one prefix. So it is remembered where files are opened,
 * and asked where they are replaced (base/outfile.c).
 */
#include "base/infile.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct identity {
    dev_t dev;
    ino_t ino;
};

/* Sorted. Of the process, as the files are; freed with it. */
static struct {
    pthread_mutex_t lock;
    struct identity *items;
    size_t n, cap;
    bool on;
} opened = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool is_before(const struct identity *a, const struct stat *b)
{
    return a->dev != b->st_dev ? a->dev < b->st_dev : a->ino < b->st_ino;
}

/* Index of the first that is not before the file. */
static size_t place_of(const struct stat *file)
{
    size_t lo = 0, hi = opened.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (is_before(&opened.items[mid], file))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static bool is_noted_at(size_t i, const struct stat *file)
{
    return i < opened.n && opened.items[i].dev == file->st_dev && opened.items[i].ino == file->st_ino;
}

static bool note_locked(const struct stat *file)
{
    size_t i = place_of(file);
    if (!opened.on || is_noted_at(i, file))
        return true;
    if (opened.n == opened.cap) {
        size_t cap = opened.cap ? 2 * opened.cap : 64;
        struct identity *items = realloc(opened.items, cap * sizeof *items);
        if (!items)
            return false;
        opened.items = items;
        opened.cap = cap;
    }
    memmove(opened.items + i + 1, opened.items + i, (opened.n - i) * sizeof *opened.items);
    opened.items[i] = (struct identity){ .dev = file->st_dev, .ino = file->st_ino };
    opened.n++;
    return true;
}

/* False without memory. */
static bool note(const struct stat *file)
{
    pthread_mutex_lock(&opened.lock);
    bool noted = note_locked(file);
    pthread_mutex_unlock(&opened.lock);
    return noted;
}

bool infile_was_read(const struct stat *file)
{
    pthread_mutex_lock(&opened.lock);
    bool was = is_noted_at(place_of(file), file);
    pthread_mutex_unlock(&opened.lock);
    return was;
}

void infile_remember(void)
{
    opened.on = true;
}

enum err_code infile_fault(int why)
{
    return why == EIO ? ERR_IO : ERR_PARSE;
}

int infile_cannot_read(struct err *e, const char *path, int why)
{
    return err_set(e, infile_fault(why), "%s: cannot be read (%s)", path, strerror(why));
}

static int open_again(const char *path)
{
    int fd;
    do {
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

int infile_open(int *fd, const char *path, struct err *e)
{
    struct stat st;
    *fd = open_again(path);
    if (*fd < 0 && errno == ENOENT)
        return err_set(e, ERR_PARSE, "%s: no such file", path);
    if (*fd < 0)
        return infile_cannot_read(e, path, errno);
    int rc = fstat(*fd, &st) != 0  ? infile_cannot_read(e, path, errno)
             : S_ISDIR(st.st_mode) ? infile_cannot_read(e, path, EISDIR)
             : note(&st)           ? 0
                                   : err_nomem(e, path);
    if (rc) {
        close(*fd);
        *fd = -1;
    }
    return rc;
}
