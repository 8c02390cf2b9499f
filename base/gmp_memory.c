#include "base/gmp_memory.h"

#include <gmp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

_Thread_local jmp_buf *gmp_back;

/* GMP never gets NULL. */
static void *checked(void *p)
{
    if (p)
        return p;
    if (gmp_back)
        longjmp(*gmp_back, GMP_LACKS);
    fputs("GMP: out of memory\n", stderr);
    abort();
}

static void *gmp_malloc(size_t n)
{
    return checked(malloc(n));
}

static void *gmp_realloc(void *p, size_t old, size_t n)
{
    (void)old;
    return checked(realloc(p, n));
}

static void gmp_free(void *p, size_t n)
{
    (void)n;
    free(p);
}

static void set_functions(void)
{
    mp_set_memory_functions(gmp_malloc, gmp_realloc, gmp_free);
}

void gmp_memory_init(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, set_functions);
}
