/** @file Memory of GMP, which igraph and GLPK count with: where it lacks GMP would end the process. */
#ifndef BASE_GMP_MEMORY_H
#define BASE_GMP_MEMORY_H

#include <setjmp.h>

/** Where GMP goes when memory lacks on this thread, by longjmp(.., GMP_LACKS), leaving what it holds; NULL:
 * it ends the process. To be set around a call, and to be NULL again after it. */
extern _Thread_local jmp_buf *gmp_back;

enum { GMP_LACKS = 2 };

/** From now on on all threads; may be called again, by any thread. */
void gmp_memory_init(void);

#endif
