#include "base/gmp_memory.h"

#include <gmp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

_Thread_local jmp_buf *gmp_back;

/* GMP's own, which never return NULL. */
static void *(*own_malloc)(size_t n);
static void *(*own_realloc)(void *p, size_t old, size_t n);

static void *gmp_malloc(size_t n)
{
    void *p = gmp_back ? malloc(n) : own_malloc(n);
    if (!p)
        longjmp(*gmp_back, GMP_LACKS);
    return p;
}

static void *gmp_realloc(void *p, size_t old, size_t n)
{
    void *moved = gmp_back ? realloc(p, n) : own_realloc(p, old, n);
    if (!moved)
        longjmp(*gmp_back, GMP_LACKS);
    return moved;
}

static void gmp_free(void *p, size_t n)
{
    (void)n;
    free(p);
}

static void set_functions(void)
{
    mp_get_memory_functions(&own_malloc, &own_realloc, NULL);
    mp_set_memory_functions(gmp_malloc, gmp_realloc, gmp_free);
}

void gmp_memory_init(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, set_functions);
}
