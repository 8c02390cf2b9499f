/*
 * Makes the k-th allocation or system call of a program fail, once or from then on: LD_PRELOAD=shim.so,
 * started and ordered about by tests/faults/faults.c as page.h says. Counted is what the program and its
 * libraries ask for from the first line of main() to the end of exit(); programs that it starts (gnuplot) are
 * left alone.
 *
 * Under ASan the allocator below is ASan's, so that what a failure leads to is watched. Standard output is a
 * stream of our own, for glibc's streams do not call write() where a library could stand between; igraph's
 * and jansson's files are read through streams and are not failed here.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "page.h"

#define SHOWN __attribute__((visibility("default")))

static struct fault_page *page; /* NULL: nothing is counted */
static _Thread_local bool inside;
static int (*real_main)(int, char **, char **);

/* ---- counting ---- */

static int32_t take_trace(struct fault_frame *frames, int skip)
{
    void *at[FAULT_FRAMES + 4];
    int n = backtrace(at, FAULT_FRAMES + skip), kept = 0;
    for (int i = skip; i < n; i++) {
        Dl_info info;
        struct fault_frame *f = &frames[kept++];
        *f = (struct fault_frame){ .offset = (uint64_t)(uintptr_t)at[i] };
        if (!dladdr(at[i], &info) || !info.dli_fname)
            continue;
        const char *slash = strrchr(info.dli_fname, '/');
        snprintf(f->module, sizeof f->module, "%s", slash ? slash + 1 : info.dli_fname);
        snprintf(f->symbol, sizeof f->symbol, "%s", info.dli_sname ? info.dli_sname : "");
        f->offset -= (uint64_t)(uintptr_t)info.dli_fbase;
    }
    return kept;
}

/* Count one call; true where it is to fail. */
static bool is_failing(enum fault_kind kind, const char *call)
{
    if (!page || page->kind != (int32_t)kind || inside)
        return false;
    int64_t k = atomic_fetch_add(&page->calls, 1) + 1;
    if (k < page->first || k > page->last)
        return false;
    if (!page->n_where) {
        inside = true;
        snprintf(page->call, sizeof page->call, "%s", call);
        page->n_where = take_trace(page->where, 2);
        inside = false;
    }
    return true;
}

/* ---- memory ---- */

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);
extern void *__libc_memalign(size_t unit, size_t n);
/* There under ASan only. */
extern void *__interceptor_malloc(size_t n) __attribute__((weak));
extern void *__interceptor_calloc(size_t n, size_t size) __attribute__((weak));
extern void *__interceptor_realloc(void *p, size_t n) __attribute__((weak));
extern void *__interceptor_memalign(size_t unit, size_t n) __attribute__((weak));

static bool is_lacking(const char *call)
{
    bool fails = is_failing(FAULT_MEMORY, call);
    if (fails)
        errno = ENOMEM;
    return fails;
}

SHOWN void *malloc(size_t n)
{
    if (is_lacking("malloc"))
        return NULL;
    return __interceptor_malloc ? __interceptor_malloc(n) : __libc_malloc(n);
}

SHOWN void *calloc(size_t n, size_t size)
{
    if (is_lacking("calloc"))
        return NULL;
    return __interceptor_calloc ? __interceptor_calloc(n, size) : __libc_calloc(n, size);
}

SHOWN void *realloc(void *p, size_t n)
{
    if (is_lacking("realloc"))
        return NULL;
    return __interceptor_realloc ? __interceptor_realloc(p, n) : __libc_realloc(p, n);
}

SHOWN void *reallocarray(void *p, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(p, bytes);
}

SHOWN void *memalign(size_t unit, size_t n)
{
    if (is_lacking("memalign"))
        return NULL;
    return __interceptor_memalign ? __interceptor_memalign(unit, n) : __libc_memalign(unit, n);
}

SHOWN void *aligned_alloc(size_t unit, size_t n)
{
    return memalign(unit, n);
}

SHOWN int posix_memalign(void **p, size_t unit, size_t n)
{
    void *got = memalign(unit, n);
    if (!got)
        return ENOMEM;
    *p = got;
    return 0;
}

/* ---- system calls ---- */

/* What a call can fail with: a disk is full where something is written, anything may break or be interrupted.
 */
static bool is_refused(const char *call, bool writes)
{
    if (!page || page->kind != FAULT_CALL || (page->error == ENOSPC && !writes))
        return false;
    bool fails = is_failing(FAULT_CALL, call);
    if (fails)
        errno = page->error;
    return fails;
}

static int open_at(int dir, const char *path, int flags, va_list ap)
{
    bool makes = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
    unsigned mode = makes ? va_arg(ap, unsigned) : 0;
    return is_refused("open", makes) ? -1 : (int)syscall(SYS_openat, dir, path, flags, mode);
}

SHOWN int open(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    int fd = open_at(AT_FDCWD, path, flags, ap);
    va_end(ap);
    return fd;
}

SHOWN int open64(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    int fd = open_at(AT_FDCWD, path, flags, ap);
    va_end(ap);
    return fd;
}

SHOWN ssize_t read(int fd, void *to, size_t n)
{
    return is_refused("read", false) ? -1 : syscall(SYS_read, fd, to, n);
}

SHOWN ssize_t pread(int fd, void *to, size_t n, off_t at)
{
    return is_refused("pread", false) ? -1 : syscall(SYS_pread64, fd, to, n, at);
}

SHOWN ssize_t pread64(int fd, void *to, size_t n, off64_t at)
{
    return pread(fd, to, n, at);
}

SHOWN ssize_t write(int fd, const void *from, size_t n)
{
    /* Nobody can be told that telling failed. */
    return fd != STDERR_FILENO && is_refused("write", true) ? -1 : syscall(SYS_write, fd, from, n);
}

SHOWN ssize_t pwrite(int fd, const void *from, size_t n, off_t at)
{
    return is_refused("pwrite", true) ? -1 : syscall(SYS_pwrite64, fd, from, n, at);
}

SHOWN ssize_t pwrite64(int fd, const void *from, size_t n, off64_t at)
{
    return pwrite(fd, from, n, at);
}

SHOWN int fsync(int fd)
{
    return is_refused("fsync", true) ? -1 : (int)syscall(SYS_fsync, fd);
}

SHOWN int fdatasync(int fd)
{
    return is_refused("fdatasync", true) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

SHOWN int ftruncate(int fd, off_t n)
{
    return is_refused("ftruncate", true) ? -1 : (int)syscall(SYS_ftruncate, fd, n);
}

SHOWN int ftruncate64(int fd, off64_t n)
{
    return ftruncate(fd, n);
}

SHOWN int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
    return is_refused("linkat", true) ? -1 : (int)syscall(SYS_linkat, from_dir, from, to_dir, to, flags);
}

SHOWN int rename(const char *from, const char *to)
{
    return is_refused("rename", true) ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

SHOWN int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
    return is_refused("renameat2", true) ? -1
                                         : (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, flags);
}

SHOWN int close(int fd)
{
    /* The descriptor is gone whatever close() returns. */
    bool fails = is_refused("close", true);
    int code = (int)syscall(SYS_close, fd);
    if (!fails)
        return code;
    errno = page->error;
    return -1;
}

/* ---- runs ---- */

static void note_crash(int signal_number)
{
    if (page && !page->n_crash) {
        inside = true;
        page->n_crash = take_trace(page->crash, 2);
    }
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static ssize_t write_out(void *cookie, const char *from, size_t n)
{
    (void)cookie;
    ssize_t got = write(STDOUT_FILENO, from, n);
    return got < 0 ? 0 : got;
}

static void open_as(const char *path, int as)
{
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd < 0 || dup2(fd, as) < 0)
        _exit(127);
    syscall(SYS_close, fd);
}

static int run_child(struct fault_page *order, int argc, char **argv, char **envp)
{
    syscall(SYS_close, FAULTS_CONTROL);
    open_as(order->out, STDOUT_FILENO);
    open_as(order->err, STDERR_FILENO);
    if (chdir(order->folder) != 0)
        _exit(127);
    stdout = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = write_out });
    if (!stdout)
        _exit(127);
    /* ASan has better traces of its own. */
    static const int crashes[] = { SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL };
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes && !__interceptor_malloc; i++)
        signal(crashes[i], note_crash);
    alarm((unsigned)order->limit_s);
    page = order;
    return real_main(argc, argv, envp);
}

/* In place of main(). */
static int serve(int argc, char **argv, char **envp)
{
    struct fault_page *order = mmap(NULL, sizeof *order, PROT_READ | PROT_WRITE, MAP_SHARED, FAULTS_PAGE, 0);
    if (order == MAP_FAILED)
        _exit(127);
    syscall(SYS_close, FAULTS_PAGE);
    void *warm[2];
    backtrace(warm, 2); /* loads what it needs now, not amid a failing allocation */
    for (;;) {
        char go;
        if (syscall(SYS_read, FAULTS_CONTROL, &go, 1) != 1)
            _exit(0);
        pid_t child = fork();
        if (child == 0)
            return run_child(order, argc, argv, envp);
        int status = 127 << 8;
        while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
            continue;
        order->status = status;
        syscall(SYS_write, FAULTS_CONTROL, &go, 1);
    }
}

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end);

SHOWN int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
                            void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
    int (*start)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void),
                 void *);
    *(void **)&start = dlsym(RTLD_NEXT, "__libc_start_main");
    real_main = main;
    /* What the program starts is not preloaded, nor is a server of its own. */
    unsetenv("LD_PRELOAD");
    return start(serve, argc, argv, init, fini, rtld_fini, stack_end);
}
