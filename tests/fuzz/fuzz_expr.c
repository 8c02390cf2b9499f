/* Any line as a constraint, and as a network in one word: refused with the column, or an expression that is
 * linear, and a network whose word reads back the same. For libFuzzer. */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/linexpr.h"
#include "topo/network.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_refusal(int rc, const struct err *e)
{
    assert(e->code == (enum err_code)rc && strncmp(e->msg, "col ", 4) == 0 && !strchr(e->msg, '\n'));
}

static void try_constraint(const char *text)
{
    static const char *const names[] = { "chiplet", "package", "scale-out", "pod", "usd", "a.b" };
    enum { N = sizeof names / sizeof names[0] };
    double coef[N];
    bool any = false;
    struct linexpr x = { .coef = coef };
    struct err e = { 0 };
    int rc = linexpr_parse(&x, text, names, N, &e);
    if (rc) {
        check_refusal(rc, &e);
        return;
    }
    for (int i = 0; i < N; i++) {
        assert(isfinite(coef[i]));
        any = any || coef[i] != 0;
    }
    assert(any && isfinite(x.rhs));
}

static void try_word(const char *text)
{
    struct topo_network net, again;
    char word[TOPO_SPEC], twice[TOPO_SPEC];
    struct err e = { 0 };
    topo_is_spec(text);
    int rc = topo_parse_spec(&net, text, &e);
    if (rc) {
        check_refusal(rc, &e);
        return;
    }
    assert(net.n_dims >= 1 && net.n_dims <= TOPO_MAX_DIMS && net.n_npus >= 1);
    topo_format_spec(word, &net);
    assert(topo_parse_spec(&again, word, &e) == 0);
    assert(again.n_dims == net.n_dims && again.n_npus == net.n_npus);
    assert(strcmp(topo_format_spec(twice, &again), word) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    assert(text);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    try_constraint(text);
    try_word(text);
    free(text);
    return 0;
}
