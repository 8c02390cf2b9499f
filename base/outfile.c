/*
 * How an output file appears whole or not at all. The file is written without a name (O_TMPFILE in the
 * target's directory), synced, and linked to its name at the end; a process that is killed leaves nothing,
 * since the kernel frees a nameless file with its last descriptor. To replace a file, the nameless one is
 * linked to a side name first and renamed over the target, because link() never replaces and rename() is
 * atomic within one file system.
 *
 * File systems without O_TMPFILE (some network file systems), or a system without /proc, get a side file
 * ".weft-PID-K.tmp" from the start; there a SIGKILL leaves that file behind, and nothing else. "Exists" is
 * asked before the work and settled at the end: linkat() and, where the file system has it, RENAME_NOREPLACE
 * refuse a file that came up meanwhile, so two processes that write one path without -f do not overwrite each
 * other. Of files that belong together each change of names can be taken back until the last of them is made.
 *
 * What was opened to be read (base/infile.h) is never replaced.
 */

/* O_TMPFILE and renameat2() let an output file appear whole or not at all. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/infile.h"
#include "base/text.h"

enum { TRIES = 100 /* temporary names before giving up */ };

static int cannot_write(struct err *e, const char *path)
{
    return err_set(e, ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
}

static int already_there(struct err *e, const char *path)
{
    return err_set(e, ERR_USAGE, "%s: exists; use -f to overwrite it", path);
}

int outfile_refuse_input(struct err *e, const char *path)
{
    return err_set(e, ERR_USAGE, "output %s: is a file that the command reads; choose another", path);
}

/* ---- names ---- */

/* The descriptor that a name of the system's means, -1: it is another name. Opened anew such a file would be
 * replaced, or written from its start, by whoever was given it to go on writing. */
static int descriptor_of(const char *path)
{
    static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
    enum { MOST_DIGITS = 6 };
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t n = strlen(folders[i]);
        const char *digits = path + n;
        if (strncmp(path, folders[i], n) == 0 && *digits && strlen(digits) <= MOST_DIGITS &&
            strspn(digits, "0123456789") == strlen(digits))
            return (int)strtol(digits, NULL, 10);
    }
    return -1;
}

bool outfile_is_stdout(const char *path)
{
    return path && descriptor_of(path) == STDOUT_FILENO;
}

/* Length of the directory part of a path, with its slash. */
static size_t dir_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* False: too long. */
static bool folder_of(char out[PATH_MAX], const char *path)
{
    size_t n = dir_length(path);
    if (n >= PATH_MAX)
        return false;
    memcpy(out, path, n);
    strcpy(out + n, n ? "" : ".");
    return true;
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

/* From @p side to the name. @p together: the file that was there takes the side's, so that it can come back;
 * where the file system cannot do that it is gone. */
static bool replace_by(struct outfile *f, const char *side, bool together)
{
    if (together && renameat2(AT_FDCWD, side, AT_FDCWD, f->path, RENAME_EXCHANGE) == 0) {
        f->old = strdup(side);
        if (!f->old)
            unlink(side);
        return true;
    }
    return rename(side, f->path) == 0;
}

/* Give the nameless file its name. False with errno; EEXIST when refused. */
static bool name_tmpfile(struct outfile *f, bool together)
{
    char link[64], side[PATH_MAX];
    /* AT_EMPTY_PATH would need a privilege (CAP_DAC_READ_SEARCH); the link of /proc is what open(2)
     * recommends. */
    snprintf(link, sizeof link, "/proc/self/fd/%d", f->fd);
    if (linkat(AT_FDCWD, link, AT_FDCWD, f->path, AT_SYMLINK_FOLLOW) == 0) {
        f->named = true;
        return true;
    }
    if (errno != EEXIST || !f->force)
        return false;
    for (int k = 0; k < TRIES; k++) {
        if (!side_name(side, sizeof side, f->path, k))
            return false;
        if (linkat(AT_FDCWD, link, AT_FDCWD, side, AT_SYMLINK_FOLLOW) == 0) {
            if (replace_by(f, side, together))
                return true;
            /* unlink() may set another errno. */
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

/* Where file systems lack RENAME_NOREPLACE, the check made before must do. */
static bool move_into_place(struct outfile *f, bool together)
{
    if (renameat2(AT_FDCWD, f->side, AT_FDCWD, f->path, RENAME_NOREPLACE) == 0) {
        f->named = true;
        return true;
    }
    if (!f->force && errno != EINVAL && errno != ENOSYS)
        return false;
    return replace_by(f, f->side, together);
}

/* ---- beginning ---- */

static int open_tmpfile(const char *path)
{
    char dir[PATH_MAX];
    return folder_of(dir, path) ? open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666) : -1;
}

/* For file systems without O_TMPFILE, or without /proc: a named file beside the target. */
static int open_beside(struct outfile *f, struct err *e)
{
    char side[PATH_MAX];
    f->fd = -1;
    for (int k = 0; f->fd < 0 && k < TRIES; k++) {
        if (!side_name(side, sizeof side, f->path, k))
            return cannot_write(e, f->path);
        f->fd = open(side, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (f->fd < 0 && errno != EEXIST)
            break;
    }
    if (f->fd < 0)
        return cannot_write(e, f->path);
    f->side = strdup(side);
    if (f->side)
        return 0;
    unlink(side);
    return err_nomem(e, f->path);
}

/* Takes `path`, owned; `name` is what was asked for. */
static int open_new(struct outfile *f, char *path, const char *name, struct err *e)
{
    f->path = path;
    if (!path)
        return cannot_write(e, name);
    f->fd = open_tmpfile(path);
    return f->fd < 0 ? open_beside(f, e) : 0;
}

/* Devices and pipes: nothing to replace, nothing to leave behind. */
static int open_in_place(struct outfile *f, const char *path, struct err *e)
{
    f->in_place = true;
    f->path = strdup(path);
    if (!f->path)
        return err_nomem(e, path);
    f->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return f->fd < 0 ? cannot_write(e, path) : 0;
}

/* Where links lead that lead to no file yet: the file is made there, and the links stay. NULL with errno. */
static char *follow_links(const char *path)
{
    enum { MOST_LINKS = 40 }; /* as Linux follows */
    char *at = strdup(path);
    for (int k = 0; at && k < MOST_LINKS; k++) {
        char to[PATH_MAX], *next;
        ssize_t n = readlink(at, to, sizeof to - 1);
        if (n < 0)
            return at;
        to[n] = '\0';
        /* A target counts from the folder of its link. */
        size_t n_dir = to[0] == '/' ? 0 : dir_length(at);
        next = malloc(n_dir + (size_t)n + 1);
        if (next) {
            memcpy(next, at, n_dir);
            memcpy(next + n_dir, to, (size_t)n + 1);
        }
        free(at);
        at = next;
    }
    free(at);
    errno = at ? ELOOP : ENOMEM;
    return NULL;
}

/* Did whoever started the program leave it open for it? The program's own are closed on exec. With errno. */
static bool is_inherited(int fd)
{
    int flags = fcntl(fd, F_GETFD);
    if (flags < 0 || !(flags & FD_CLOEXEC))
        return flags >= 0;
    errno = EBADF;
    return false;
}

static int open_inherited(struct outfile *f, int fd, const char *path, struct err *e)
{
    f->in_place = true;
    f->path = strdup(path);
    if (!f->path)
        return err_nomem(e, path);
    f->fd = is_inherited(fd) ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
    return f->fd < 0 ? cannot_write(e, path) : 0;
}

bool outfile_replaces(const char *path)
{
    struct stat st;
    return descriptor_of(path) < 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Two names in one folder that are not there yet and differ in case only are two, also where the file system
 * takes them for one. */
static bool will_be_same(const char *a, const char *b)
{
    char folder_a[PATH_MAX], folder_b[PATH_MAX];
    struct stat x, y;
    return strcmp(a + dir_length(a), b + dir_length(b)) == 0 && folder_of(folder_a, a) &&
           folder_of(folder_b, b) && stat(folder_a, &x) == 0 && stat(folder_b, &y) == 0 &&
           x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

bool outfile_is_same(const char *a, const char *b)
{
    struct stat x, y;
    bool out_a = outfile_is_stdout(a), out_b = outfile_is_stdout(b);
    if (strcmp(a, b) == 0 || (out_a && out_b))
        return true;
    bool has_a = out_a ? fstat(STDOUT_FILENO, &x) == 0 && S_ISREG(x.st_mode) : stat(a, &x) == 0;
    bool has_b = out_b ? fstat(STDOUT_FILENO, &y) == 0 && S_ISREG(y.st_mode) : stat(b, &y) == 0;
    if (has_a && has_b)
        return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
    if (has_a || has_b || out_a || out_b)
        return false;
    char *to_a = follow_links(a), *to_b = follow_links(b);
    bool is = to_a && to_b && will_be_same(to_a, to_b);
    free(to_a);
    free(to_b);
    return is;
}

int outfile_check_folder(const char *path, struct err *e)
{
    struct stat st;
    char folder[PATH_MAX];
    int fd = descriptor_of(path);
    if (fd > STDERR_FILENO && !is_inherited(fd))
        return cannot_write(e, path);
    if (fd >= 0 || (stat(path, &st) == 0 && !S_ISREG(st.st_mode)))
        return 0;
    char *real = follow_links(path);
    int rc = 0;
    if (!real)
        rc = cannot_write(e, path);
    else if (!folder_of(folder, real) || stat(folder, &st) != 0 || !S_ISDIR(st.st_mode))
        rc = err_set(e, ERR_IO, "output %s: no such folder", path);
    else if (access(folder, W_OK | X_OK) != 0)
        rc = err_set(e, ERR_IO, "output %s: its folder is not writable", path);
    free(real);
    return rc;
}

static int outfile_start(struct outfile *f, const char *path, bool force, struct err *e)
{
    struct stat st;
    int fd = path ? descriptor_of(path) : STDOUT_FILENO;
    if (fd >= 0)
        return fd == STDOUT_FILENO ? 0 : open_inherited(f, fd, path, e);
    if (stat(path, &st) != 0)
        return open_new(f, follow_links(path), path, e);
    if (!S_ISREG(st.st_mode))
        return open_in_place(f, path, e);
    if (!force)
        return already_there(e, path);
    /* A symbolic link stays one: what it points to is replaced. */
    f->mode = st.st_mode & (S_IFREG | 0777);
    return open_new(f, realpath(path, NULL), path, e);
}

int outfile_begin(struct outfile *f, const char *path, bool force, struct err *e)
{
    *f = (struct outfile){ .fd = -1, .force = force, .begun = true };
    int rc = outfile_start(f, path, force, e);
    if (rc)
        outfile_drop(f);
    return rc;
}

/* ---- writing ---- */

static bool write_bytes(int fd, const char *s, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t got = write(fd, s + done, n - done);
        if (got < 0 && errno != EINTR)
            return false;
        if (got > 0)
            done += (size_t)got;
    }
    return true;
}

static int put_as_it_is(struct outfile *f, const char *s, size_t n, struct err *e)
{
    errno = 0;
    if (f->path ? write_bytes(f->fd, s, n) : fwrite(s, 1, n, stdout) == n)
        return 0;
    return cannot_write(e, f->path ? f->path : "standard output");
}

/* Data has names as they are; a terminal gets them as text has them. */
static int put_on_terminal(struct outfile *f, const char *s, size_t n, struct err *e)
{
    struct text piece = { 0 }, copy = { 0 };
    text_add(&copy, s, n);
    text_add_shown(&piece, text_str(&copy), copy.n, "\n\t");
    int rc = copy.failed ? err_nomem(e, "output") : text_check(&piece, e);
    if (!rc)
        rc = put_as_it_is(f, text_str(&piece), piece.n, e);
    text_free(&copy);
    text_free(&piece);
    return rc;
}

int outfile_put(struct outfile *f, const char *s, size_t n, struct err *e)
{
    bool shown = (!f->path || f->in_place) && isatty(f->path ? f->fd : STDOUT_FILENO);
    return shown ? put_on_terminal(f, s, n, e) : put_as_it_is(f, s, n, e);
}

/* On the disk, not only in the page cache: network file systems tell a full disk here. */
static int sync_file(const struct outfile *f, struct err *e)
{
    bool done = !f->mode || fchmod(f->fd, f->mode & 0777) == 0 || errno == EPERM;
    done = done && (fsync(f->fd) == 0 || errno == EINVAL || errno == ENOSYS);
    return done ? 0 : cannot_write(e, f->path);
}

static int close_file(struct outfile *f, struct err *e)
{
    int fd = f->fd;
    f->fd = -1;
    return close(fd) == 0 ? 0 : cannot_write(e, f->path);
}

/* ---- ending ---- */

/* The content of the nameless file into a named one, where it cannot be given a name itself. */
static int copy_beside(struct outfile *f, struct err *e)
{
    enum { PIECE = 1 << 16 };
    int from = f->fd, rc = open_beside(f, e);
    char *piece = malloc(PIECE);
    off_t at = 0;
    if (!rc && !piece)
        rc = err_nomem(e, f->path);
    while (!rc) {
        ssize_t n = pread(from, piece, PIECE, at);
        if (n == 0)
            break;
        if (n < 0 || !write_bytes(f->fd, piece, (size_t)n))
            rc = cannot_write(e, f->path);
        at += n;
    }
    free(piece);
    close(from);
    return rc;
}

/* Asked when all is read. */
static int check_not_read(const struct outfile *f, struct err *e)
{
    struct stat st;
    if (stat(f->path, &st) == 0 && infile_was_read(&st))
        return outfile_refuse_input(e, f->path);
    return 0;
}

/* All that can fail for lack of room, or must not be. */
static int make_sure(struct outfile *f, struct err *e)
{
    if (!f->path) {
        errno = 0;
        return fflush(stdout) == 0 && !ferror(stdout) ? 0 : cannot_write(e, "standard output");
    }
    if (f->in_place)
        return close_file(f, e);
    int rc = check_not_read(f, e);
    if (!rc)
        rc = sync_file(f, e);
    return rc || !f->side ? rc : close_file(f, e);
}

static int name_beside(struct outfile *f, bool together, struct err *e)
{
    if (!move_into_place(f, together))
        return errno == EEXIST ? already_there(e, f->path) : cannot_write(e, f->path);
    free(f->side);
    f->side = NULL;
    return 0;
}

static int name_file(struct outfile *f, bool together, struct err *e)
{
    if (!f->path || f->in_place)
        return 0;
    if (f->side)
        return name_beside(f, together, e);
    if (name_tmpfile(f, together))
        return 0;
    if (errno == EEXIST && !f->force)
        return already_there(e, f->path);
    int rc = copy_beside(f, e);
    if (!rc)
        rc = make_sure(f, e);
    return rc ? rc : name_beside(f, together, e);
}

/* What was there, or nothing, has its name again. */
static void give_back(struct outfile *f)
{
    if (f->old)
        rename(f->old, f->path);
    else if (f->named)
        unlink(f->path);
    free(f->old);
    f->old = NULL;
}

int outfile_end_all(struct outfile *f, int n, struct err *e)
{
    int rc = 0, named = 0;
    for (int i = 0; i < n && !rc; i++)
        rc = make_sure(&f[i], e);
    for (; named < n && !rc; named += !rc)
        rc = name_file(&f[named], n > 1, e);
    for (int i = 0; i < named && rc; i++)
        give_back(&f[i]);
    for (int i = 0; i < n; i++)
        outfile_drop(&f[i]);
    return rc;
}

int outfile_end(struct outfile *f, struct err *e)
{
    return outfile_end_all(f, 1, e);
}

void outfile_drop(struct outfile *f)
{
    if (f->begun && f->fd >= 0)
        close(f->fd);
    if (f->side)
        unlink(f->side);
    if (f->old)
        unlink(f->old);
    free(f->side);
    free(f->old);
    free(f->path);
    *f = (struct outfile){ 0 };
}

int outfile_write_text(const struct text *t, const char *path, bool force, struct err *e)
{
    struct outfile f = { 0 };
    int rc = text_check(t, e);
    if (!rc)
        rc = outfile_begin(&f, path, force, e);
    if (!rc)
        rc = outfile_put(&f, text_str(t), t->n, e);
    if (!rc)
        rc = outfile_end(&f, e);
    outfile_drop(&f);
    return rc;
}
