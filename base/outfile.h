/** @file A file that is written piece by piece, and appears whole or not at all. */
#ifndef BASE_OUTFILE_H
#define BASE_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/** Zero-initialise; outfile_begin(), any outfile_put(), outfile_end(). Release with outfile_drop(). */
struct outfile {
    char *path;    /**< owned; what appears at the end; NULL = standard output */
    char *side;    /**< owned; the file beside it that is written meanwhile; NULL = it has no name yet */
    char *old;     /**< owned; while files are named together: where the file that was replaced is */
    int fd;        /**< valid with `path` */
    unsigned mode; /**< of the file that is replaced; 0: a new file, permissions as the umask says */
    bool force, in_place, begun; /**< an existing file may go; written directly; not zero any more */
    bool named;                  /**< it has its name, which nothing had before */
};

/**
 * Begin to write @p path; NULL or "-" is standard output. A regular file appears complete at outfile_end() or
 * not at all (a full disk or a signal leaves nothing behind); an existing one is refused unless @p force,
 * and keeps its permissions. A symbolic link stays, also one that leads to no file yet. Devices and pipes are
 * written directly, and descriptors (/dev/stderr, /dev/fd/N) go on where they are; /dev/stdout is standard
 * output. A terminal gets text as text_add_shown() has it. What infile_open() opened is not replaced.
 * @return 0, ERR_USAGE (exists and not @p force), ERR_IO or ERR_NOMEM. After a failure there is nothing to
 * end.
 */
int outfile_begin(struct outfile *f, const char *path, bool force, struct err *e);
/** "-", or a name that the system has for standard output; NULL is none. */
bool outfile_is_stdout(const char *path);
/** Is there a file that would be replaced, not a device or an open descriptor? */
bool outfile_replaces(const char *path);
/** Do two names lead to one thing, which may not be there yet: by links, other spellings of a folder, or as
 * standard output goes to a file? */
bool outfile_is_same(const char *a, const char *b);
/** Can a file appear at @p path: is its folder there, and writable? ERR_IO or ERR_NOMEM. */
int outfile_check_folder(const char *path, struct err *e);
/** The error of an output that the command reads: ERR_USAGE. */
int outfile_refuse_input(struct err *e, const char *path);

/** Append; pieces of 64 KiB or more are quick. ERR_IO: then outfile_drop(). */
int outfile_put(struct outfile *f, const char *s, size_t n, struct err *e);
/** All was put: the file gets its name. ERR_IO, or ERR_USAGE where a file of that name came up meanwhile. */
int outfile_end(struct outfile *f, struct err *e);
/** As outfile_end() of each, shape [n], together: all are on the disk before the first gets its name, and
 * where one cannot have it the others give theirs back. A process that is killed between two names leaves
 * some. */
int outfile_end_all(struct outfile *f, int n, struct err *e);
/** Whatever was not ended is as if it had never begun. */
void outfile_drop(struct outfile *f);

/**
 * Write @p t to @p path, NULL or "-" for standard output, as outfile_begin() says: whole or not at all.
 * @return 0, ERR_USAGE (exists and not @p force), ERR_IO, or ERR_NOMEM when @p t is incomplete.
 */
int outfile_write_text(const struct text *t, const char *path, bool force, struct err *e);

#endif
