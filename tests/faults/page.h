/**
 * @file What tests/faults/faults (the driver) and tests/faults/shim.so (inside the program under test) share:
 * a page of memory with one order and its answer.
 *
 * The shim is preloaded into the program, which stops before main() and waits: for each byte on
 * FAULTS_CONTROL it forks, the child runs main() with the fault that the page orders, and the server writes
 * the child's status and a byte back. A run costs a fork instead of a start with some forty libraries.
 */
#ifndef TESTS_FAULTS_PAGE_H
#define TESTS_FAULTS_PAGE_H

#include <stdatomic.h>
#include <stdint.h>

/* Open files of the server: the page, and the socket on which it is told to run. */
enum { FAULTS_PAGE = 198, FAULTS_CONTROL = 199 };

/** What is counted, and fails. */
enum fault_kind {
    FAULT_MEMORY, /**< malloc, calloc, realloc, memalign and all that calls them: NULL, ENOMEM */
    FAULT_CALL,   /**< open, read, write, sync, truncate, link, rename, close: -1 and `error` */
};

/** One address of a trace. */
struct fault_frame {
    char module[24]; /**< file name of the program or library */
    char symbol[32]; /**< "" if the library does not export one */
    uint64_t offset; /**< from where the module was loaded */
};

enum { FAULT_FRAMES = 16 };

struct fault_page {
    /* The order. */
    int32_t kind, error, limit_s;         /**< errno of FAULT_CALL; seconds until SIGALRM ends the run */
    int64_t first, last;                  /**< calls of that kind, from 1, that fail; none: first > last */
    char folder[128], out[128], err[128]; /**< where it runs; files for standard output and standard error */
    /* The answer. */
    _Atomic int64_t calls; /**< made, of that kind and possible with that error */
    int32_t status;        /**< as from waitpid() */
    int32_t n_where, n_crash;
    char call[16];                                               /**< the first that failed */
    struct fault_frame where[FAULT_FRAMES], crash[FAULT_FRAMES]; /**< from the inmost out */
};

#endif
