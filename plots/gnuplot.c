/*
 * Runs gnuplot as a child with nothing but files between: the script in one, image and messages in two
 * others, so that no pipe can fill up. Its environment is fixed, for the same script must give the same bytes
 * everywhere.
 *
 * Files also need no thread and no poll() to feed one end while the other is read. They are files of memory,
 * so that no full disk can cut an image, and go with the program. Whether the run went well is told by the
 * exit status and by an image that is whole: gnuplot exits 0 after writes that failed. It writes warnings to
 * the same place as errors, and they are dropped when it succeeds.
 */
/* memfd_create */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "plots/gnuplot.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char not_installed[] = "gnuplot: is not installed; version 5.2 or later must be on the PATH";

/* Length of the UTF-8 character at s, 0 when it is none that XML 1.0 allows: a strict reader would refuse the
 * whole SVG for one of the noncharacters U+xxFFFE and U+xxFFFF. */
static size_t xml_length(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t n = utf8_bytes(text);
    bool is_last = n >= 3 && (s[n - 1] & 0xBE) == 0xBE && s[n - 2] == 0xBF && (s[n - 3] & 0x0F) == 0x0F;
    return is_last ? 0 : n;
}

void gnuplot_quote(struct text *out, const char *s)
{
    text_puts(out, "'");
    while (*s) {
        unsigned char c = (unsigned char)*s;
        size_t n = xml_length(s);
        if (c < 0x20 || c == 0x7F)
            text_puts(out, " ");
        else if (c == '\'')
            text_puts(out, "' . \"'\" . '");
        else if (n == 0)
            text_puts(out, "?");
        else
            text_add(out, s, n);
        s += n ? n : 1;
    }
    text_puts(out, "'");
}

static bool has_prefix(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

/*
 * The caller's environment without what would change a figure; entries are borrowed. LC_ALL is set, not only
 * dropped: gnuplot takes decimal commas and the encoding of labels from the locale, and without any it would
 * read UTF-8 as bytes. GNUPLOT stands for all of GNUPLOT_LIB, _FONTPATH, _DRIVER_DIR..; SOURCE_DATE_EPOCH is
 * for Cairo from 1.18 on.
 */
static char **fixed_environment(void)
{
    static char *const set[] = { "LC_ALL=C.UTF-8", "TZ=UTC0", "SOURCE_DATE_EPOCH=0" };
    static const char *const dropped[] = {
        "GNUPLOT", "GNUTERM=", "LC_", "LANG", "TZ=", "SOURCE_DATE_EPOCH="
    };
    size_t n = 0, kept = 0;

    while (environ[n])
        n++;
    char **env = calloc(n + sizeof set / sizeof set[0] + 1, sizeof *env);
    if (!env)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        /* HOME stays: fontconfig finds fonts by it. gnuplot itself does not read ~/.gnuplot: -d below. */
        bool drop = false;
        for (size_t k = 0; k < sizeof dropped / sizeof dropped[0]; k++)
            drop = drop || has_prefix(environ[i], dropped[k]);
        if (!drop)
            env[kept++] = environ[i];
    }
    memcpy(env + kept, set, sizeof set);
    return env;
}

/*
 * A file of memory, or where the system has none an unlinked one. The descriptor is above 2, so that giving
 * it to the child as 0, 1 or 2 cannot overwrite another one of the three. Closed on exec, so that the child
 * has the copies alone that are its standard files.
 */
static int open_scratch(int *fd, struct err *e)
{
    int memory = memfd_create("weft-gnuplot", MFD_CLOEXEC);
    FILE *f = memory < 0 ? tmpfile() : NULL;
    *fd = memory >= 0 || f ? fcntl(f ? fileno(f) : memory, F_DUPFD_CLOEXEC, 3) : -1;
    int reason = errno;
    if (memory >= 0)
        close(memory);
    if (f)
        fclose(f);
    return *fd < 0 ? err_set(e, ERR_IO, "temporary file: %s", strerror(reason)) : 0;
}

static int write_all(int fd, const char *s, size_t n, struct err *e)
{
    while (n > 0) {
        ssize_t done = write(fd, s, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return err_set(e, ERR_IO, "temporary file: %s", strerror(errno));
        s += done;
        n -= (size_t)done;
    }
    if (lseek(fd, 0, SEEK_SET) < 0)
        return err_set(e, ERR_IO, "temporary file: %s", strerror(errno));
    return 0;
}

static int gnuplot_read_all(int fd, struct text *out, struct err *e)
{
    char buf[16384];

    if (lseek(fd, 0, SEEK_SET) < 0)
        return err_set(e, ERR_IO, "temporary file: %s", strerror(errno));
    for (;;) {
        ssize_t got = read(fd, buf, sizeof buf);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_set(e, ERR_IO, "temporary file: %s", strerror(errno));
        if (got == 0)
            return text_check(out, e);
        text_add(out, buf, (size_t)got);
    }
}

/*
 * The first folder of PATH that has it, as execvp() would search, but of folders with an absolute name alone:
 * an empty entry or "." would run what lies beside a study.
 */
int gnuplot_find(struct text *path, struct err *e)
{
    const char *at = getenv("PATH");
    size_t n;
    text_clear(path);
    for (const char *rest = at; (at = text_next(&rest, ':', &n));) {
        struct stat st;
        text_clear(path);
        text_add(path, at, n);
        text_puts(path, "/gnuplot");
        if (*at == '/' && !path->failed && stat(path->s, &st) == 0 && S_ISREG(st.st_mode) &&
            access(path->s, X_OK) == 0)
            return 0;
    }
    text_clear(path);
    return path->failed ? err_nomem(e, "gnuplot") : err_set(e, ERR_LIB, "%s", not_installed);
}

/*
 * Start gnuplot with fds as its standard files and wait for it; status is as from waitpid(). Some C libraries
 * report a program that cannot be started as exit status 127: judge() knows both.
 */
static int spawn_and_wait(int *status, const int fds[3], char **env, struct err *e)
{
    posix_spawn_file_actions_t actions;
    pid_t pid = 0;
    struct text path = { 0 };

    int rc = gnuplot_find(&path, e);
    int reason = rc ? 0 : posix_spawn_file_actions_init(&actions);
    if (reason)
        rc = err_set(e, ERR_IO, "gnuplot: %s", strerror(reason));
    if (rc) {
        text_free(&path);
        return rc;
    }
    for (int i = 0; i < 3 && !reason; i++)
        reason = posix_spawn_file_actions_adddup2(&actions, fds[i], i);
    if (!reason) {
        char no_settings[] = "-d";
        char *argv[] = { path.s, no_settings, NULL };
        reason = posix_spawn(&pid, path.s, &actions, NULL, argv, env);
    }
    posix_spawn_file_actions_destroy(&actions);
    text_free(&path);
    if (reason == ENOENT)
        return err_set(e, ERR_LIB, "%s", not_installed);
    if (reason)
        return err_set(e, ERR_IO, "gnuplot: %s", strerror(reason));
    while (waitpid(pid, status, 0) < 0)
        if (errno != EINTR)
            return err_set(e, ERR_IO, "gnuplot: %s", strerror(errno));
    return 0;
}

/* What gnuplot said, on one line. */
static void one_line(struct text *out, const char *s)
{
    for (const char *at = s; *at; at++)
        if ((unsigned char)*at > ' ') {
            if (out->n > 0 && (unsigned char)at[-1] <= ' ')
                text_puts(out, " ");
            text_add(out, at, 1);
        }
}

static int judge(int status, const char *said, const struct text *image, struct err *e)
{
    struct text line = { 0 };
    int rc = 0;

    one_line(&line, said);
    const char *words = line.n ? text_str(&line) : "no message", *fault = image_fault(image);
    if (WIFSIGNALED(status))
        rc = err_set(e, ERR_LIB, "gnuplot: was ended by signal %d: %s", WTERMSIG(status), words);
    else if (WEXITSTATUS(status) == 127)
        rc = err_set(e, ERR_LIB, "%s", not_installed);
    else if (WEXITSTATUS(status) != 0)
        rc = err_set(e, ERR_LIB, "gnuplot: exit status is %d, expected 0: %s", WEXITSTATUS(status), words);
    else if (image->n == 0)
        rc = err_set(e, ERR_LIB, "gnuplot: output is empty, expected an image: %s", words);
    else if (fault)
        rc = err_set(e, ERR_IO,
                     "gnuplot: image of %zu bytes is not whole: it %s; is memory or a limit on the size of "
                     "files exhausted?",
                     image->n, fault);
    text_free(&line);
    return rc;
}

/*
 * Cairo before 1.18 writes the present time and knows no SOURCE_DATE_EPOCH. The length stays, so the offsets
 * in the file hold. The key stands in a dictionary that is not compressed; the bytes could occur in a stream
 * by chance only, which at seventeen bytes is no concern. What follows the fourteen digits, a zone, is that
 * of TZ: the same everywhere.
 */
static void fix_pdf_date(char *pdf, size_t n)
{
    static const char key[] = "/CreationDate (D:", epoch[] = "19700101000000";
    size_t n_key = sizeof key - 1, n_epoch = sizeof epoch - 1;

    if (n < 5 || memcmp(pdf, "%PDF-", 5) != 0)
        return;
    for (size_t i = 0; i + n_key + n_epoch <= n; i++)
        if (memcmp(pdf + i, key, n_key) == 0)
            memcpy(pdf + i + n_key, epoch, n_epoch);
}

int gnuplot_run(const char *script, struct text *image, struct err *e)
{
    struct text said = { 0 }, drawn = { 0 };
    int fds[3] = { -1, -1, -1 }, status = 0, rc = 0;
    char **env = fixed_environment();

    if (!env) {
        rc = err_nomem(e, "environment of gnuplot");
        goto out;
    }
    for (int i = 0; i < 3 && !rc; i++)
        rc = open_scratch(&fds[i], e);
    if (!rc)
        rc = write_all(fds[0], script, strlen(script), e);
    if (!rc)
        rc = spawn_and_wait(&status, fds, env, e);
    if (!rc)
        rc = gnuplot_read_all(fds[1], &drawn, e);
    if (!rc)
        rc = gnuplot_read_all(fds[2], &said, e);
    if (!rc)
        rc = judge(status, text_str(&said), &drawn, e);
    if (rc)
        goto out;
    fix_pdf_date(drawn.s, drawn.n);
    text_add(image, drawn.s, drawn.n);
    rc = text_check(image, e);
out:
    for (int i = 0; i < 3; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    free(env);
    text_free(&said);
    text_free(&drawn);
    return rc;
}
