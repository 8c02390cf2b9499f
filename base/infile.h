/** @file Files that are opened to be read, and which they were. */
#ifndef BASE_INFILE_H
#define BASE_INFILE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/err.h"

/**
 * Open @p path to read. Who takes "-" for standard input gives /dev/stdin. Thread-safe.
 * @param[out] fd  close() it; -1 after failure.
 * @return 0; ERR_PARSE when missing ("PATH: no such file"), a folder or unreadable; ERR_IO when the disk
 * fails; ERR_NOMEM.
 */
int infile_open(int *fd, const char *path, struct err *e);

/** Whose fault it is that an input cannot be opened or read, by errno: ERR_IO (exit 1) where the disk fails,
 * else ERR_PARSE (exit 3: missing, not permitted, a folder). */
enum err_code infile_fault(int why);
/** The error of a read() of @p path that failed with @p why (errno): ERR_IO when the disk fails, else
 * ERR_PARSE. */
int infile_cannot_read(struct err *e, const char *path, int why);

/** From now on what infile_open() opens is remembered, by device and inode. For programs that run one
 * command: in a long process another file may come to have the number of one that is gone. */
void infile_remember(void);

/** Was it opened since infile_remember()? Links lead to the same file. O(log files). */
bool infile_was_read(const struct stat *file);

#endif
