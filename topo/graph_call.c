/*
 * What every call of igraph goes through: handlers, codes and reasons, and what is to be done where it and
 * its libraries do not return that memory is short. The other calls of igraph are in graph.c.
 */
#include "topo/graph_call.h"

#include <libxml/xmlerror.h>
#include <libxml/xmlmemory.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/gmp_memory.h"

/* igraph hands its reasons to a handler only; they wait here for the code to be returned. Per thread, as
 * callers take turns with igraph but may look at their error later. */
static _Thread_local char igraph_reason[512], igraph_warned[512];

/*
 * Lack of memory, where igraph 0.10.2 and its libraries do not return it: igraph's assertions fail on what an
 * allocation left half made, GMP aborts, and libxml2's parser calls the text malformed. The first two jump
 * back to who called igraph, if it set `igraph_back` and `gmp_back`, leaving what they hold; the third is
 * noted.
 */
static _Thread_local jmp_buf *igraph_back;
static _Thread_local bool igraph_lacks;

/* One failure passes every level of igraph's calls, mostly with an empty text: the first one says why.
 * IGRAPH_FINALLY_FREE() releases what igraph had begun, as its own handlers do before they return. */
static void keep_reason(const char *reason, const char *file, int line, igraph_error_t code)
{
    (void)file, (void)line;
    igraph_lacks = igraph_lacks || code == IGRAPH_ENOMEM;
    if (!igraph_reason[0])
        snprintf(igraph_reason, sizeof igraph_reason, "%s", reason);
    IGRAPH_FINALLY_FREE();
}

static void igraph_leave(const char *reason, const char *file, int line)
{
    if (igraph_back && igraph_lacks)
        longjmp(*igraph_back, 1);
    igraph_fatal_handler_abort(reason, file, line);
}

static void *igraph_noted(void *p)
{
    igraph_lacks = igraph_lacks || !p;
    return p;
}

static void *xml_malloc(size_t n)
{
    return igraph_noted(malloc(n));
}

static void *xml_realloc(void *p, size_t n)
{
    return igraph_noted(realloc(p, n));
}

static char *xml_strdup(const char *s)
{
    return igraph_noted(strdup(s));
}

/* igraph has the parser's errors; of those before it listens, the parser prints. */
static void xml_say_nothing(void *context, const char *fmt, ...)
{
    (void)context, (void)fmt;
}

static void keep_warning(const char *reason, const char *file, int line)
{
    (void)file, (void)line;
    if (!igraph_warned[0])
        snprintf(igraph_warned, sizeof igraph_warned, "%s", reason);
}

void topo_igraph_init(void)
{
    igraph_set_error_handler(keep_reason);
    igraph_set_warning_handler(keep_warning);
    igraph_set_fatal_handler(igraph_leave);
    gmp_memory_init();
    xmlSetGenericErrorFunc(NULL, xml_say_nothing);
    xmlMemSetup(free, xml_malloc, xml_realloc, xml_strdup);
    igraph_set_attribute_table(&igraph_cattribute_table);
}

igraph_error_t topo_igraph_safely(igraph_error_t (*call)(void *data), void *data)
{
    jmp_buf back;
    igraph_back = gmp_back = &back;
    igraph_error_t code = setjmp(back) == 0 ? call(data) : IGRAPH_ENOMEM;
    igraph_back = gmp_back = NULL;
    return code;
}

int topo_from_igraph(igraph_error_t code, const char *doing, struct err *e)
{
    bool lacks = igraph_lacks || code == IGRAPH_ENOMEM;
    igraph_lacks = false;
    if (code == IGRAPH_SUCCESS)
        return 0;
    char reason[sizeof igraph_reason];
    snprintf(reason, sizeof reason, "%s", igraph_reason[0] ? igraph_reason : igraph_strerror(code));
    igraph_reason[0] = '\0';
    /* Whatever igraph calls it further up. */
    return lacks ? err_nomem(e, doing) : err_set(e, ERR_LIB, "%s: %s", doing, reason);
}

void topo_take_warning(char *buf, size_t n)
{
    snprintf(buf, n, "%.*s", (int)n - 1, igraph_warned);
    igraph_warned[0] = '\0';
}
