#include "sim/slots/ring_time.h"

#include <math.h>
#include <stddef.h>

int ring_time_check(const struct ring_time *t, struct err *e)
{
    const struct {
        const char *name;
        double x;
    } parts[] = { { "gradient_B", t->gradient_B },
                  { "sample_s", t->sample_s },
                  { "backward_s", t->backward_s },
                  { "overhead_s", t->overhead_s } };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (!(parts[i].x >= 0 && isfinite(parts[i].x)))
            return err_set(e, ERR_RANGE, "ring: %s is %g, need a number >= 0", parts[i].name, parts[i].x);
    if (!(t->samples > 0 && isfinite(t->samples)))
        return err_set(e, ERR_RANGE, "ring: samples is %g, need a number > 0", t->samples);
    if (!(t->hop_Bps > 0))
        return err_set(e, ERR_RANGE, "ring: hop_Bps is %g, need more than 0", t->hop_Bps);
    if (!(t->reduce_Bps > 0))
        return err_set(e, ERR_RANGE, "ring: reduce_Bps is %g, need more than 0", t->reduce_Bps);
    return 0;
}

double ring_time_iteration_s(const struct ring_time *t, enum ring_batch batch, int32_t workers)
{
    double w = workers, samples = batch == RING_BATCH_JOB ? t->samples / w : t->samples;
    return t->gradient_B * ((w - 1) / w) * (2 / t->hop_Bps + 1 / t->reduce_Bps) + t->sample_s * samples +
           t->backward_s + t->overhead_s;
}

int ring_time_gains(double *gain, const struct ring_time *t, enum ring_batch batch, double slot_s,
                    int32_t most, struct err *e)
{
    int rc = ring_time_check(t, e);
    if (rc)
        return rc;
    if (!(slot_s > 0 && isfinite(slot_s)))
        return err_set(e, ERR_RANGE, "ring: slot_s is %g, need a number > 0", slot_s);
    gain[0] = 0;
    for (int32_t w = 1; w <= most; w++) {
        double tau_s = ring_time_iteration_s(t, batch, w);
        if (!(tau_s > 0))
            return err_set(e, ERR_RANGE, "ring: an iteration of %d workers takes %g s, need more than 0",
                           (int)w, tau_s);
        /* A quotient that rounding left just below a whole number is that number. */
        double n = floor(slot_s / tau_s * (1 + 1e-12));
        gain[w] = batch == RING_BATCH_WORKER ? w * n : n;
    }
    return 0;
}
