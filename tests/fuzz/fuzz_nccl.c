/* A file of measurements, whatever it holds, is read or refused; what was read can be fitted. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "sim/fit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_curve(const struct curve *c)
{
    assert(c->n >= 1 && c->ranks >= 2 && (int)c->collective >= 0 && c->collective < N_COLLECTIVES);
    for (int32_t i = 0; i < c->n; i++) {
        assert(c->bytes[i] > (i > 0 ? c->bytes[i - 1] : 0));
        assert(isfinite(c->time_s[i]) && c->time_s[i] > 0 && c->blur[i] >= 0);
    }
}

static void try_fit(const struct curve *c)
{
    struct topo_dim dim;
    struct fit f;
    struct err e = { 0 };
    struct fit_settings s = { .bw_Bps = NAN, .max_regimes = 2 };
    topo_dim_defaults(&dim, 0);
    dim.shape = TOPO_SWITCH;
    dim.size = c->ranks;
    int rc = fit_curve(&f, &dim, c, &s, &e);
    assert(rc == 0 ? f.n == c->n : (e.code == (enum err_code)rc && e.msg[0] && !f.model_s));
    for (int32_t i = 0; i < f.n && rc == 0; i++)
        assert(isfinite(f.model_s[i]) && f.model_s[i] >= 0);
    fit_free(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct curve_list list;
    struct err e = { 0 };
    int bits = size > 0 ? data[0] : 0;
    struct curve_defaults dflt = { bits % 7 - 1, bits / 7 % 3 * 4 };
    int rc = curve_read_text(&list, "fuzz", (const char *)data, size, dflt, &e);
    assert(rc == 0 ? e.code == 0 && list.n >= 1 : (e.code == (enum err_code)rc && e.msg[0] && !list.curves));
    for (int32_t i = 0; i < list.n; i++)
        check_curve(&list.curves[i]);
    if (rc == 0 && list.curves[0].n <= 32)
        try_fit(&list.curves[0]);
    curve_list_free(&list);
    return 0;
}
