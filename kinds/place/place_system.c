/*
 * The whole machine of a cluster study: `system`, as in a study of designs. Failures and checkpoints leave
 * each job a share of its time, by the parts that it holds; a step takes so much longer in the mean. What the
 * machine costs and draws is shared out over the jobs of a run.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kinds/design/ask/load.h"
#include "kinds/design/ask/system.h"
#include "kinds/place/place.h"
#include "sim/cluster/footprint.h"

/* Keys of a cluster study that mean in it what they mean in a study of designs. */
static const char *const shared_keys[] = { "name",        "network",    "parts",  "pricing", "total_GBps",
                                           "constraints", "count_npus", "system", NULL };

int place_ask_network(struct design_point *out, const struct place_study *s, unsigned needs, struct err *e)
{
    return design_point_take_keys(out, &s->doc, s->own_source, shared_keys, needs, e);
}

/* A step of an entry alone, in its first place, at the network's own figures: some checkpoints are so many
 * steps apart. */
static int find_step(double *out, const struct place_mix *x, const struct place_study *s,
                     const struct topo_network *net, struct err *e)
{
    const struct job_step *step;
    struct job_steps *steps;
    int32_t size[TOPO_MAX_DIMS];
    double bw_Bps[TOPO_MAX_DIMS];
    footprint_ideal(size, net, s->servers.level, (int64_t)s->servers.each[0], x->gpus);
    int rc = job_steps_build(&steps, net, s->servers.level, e);
    if (rc)
        return rc;
    rc = job_steps_find(&step, steps, &x->job, size, e);
    if (!rc)
        *out = step_time(&step->fn, topo_get_bandwidths(bw_Bps, net));
    job_steps_free(steps);
    return rc;
}

/* What one entry keeps; the sums are the same for all of them. */
static int settle_entry(double *kept, struct place_money *money, const struct place_mix *x,
                        const struct place_study *s, const struct design_point *machine, const double *bw_Bps,
                        struct err *e)
{
    struct topo_network net = s->servers.net;
    struct system_of of = { .bw_Bps = bw_Bps };
    struct system sum;
    topo_set_bandwidths(&net, bw_Bps);
    int rc = find_step(&of.time_s, x, s, &net, e);
    if (!rc)
        rc = system_build_job(&sum, machine, x->job.training, x->gpus, of, e);
    if (rc)
        return rc;
    *kept = sum.kept;
    *money = (struct place_money){ sum.cost.total, sum.cost.watt_mean * machine->system.terms.pue, "" };
    if (sum.lacks_watts)
        snprintf(money->dark, sizeof money->dark, "%s",
                 sum.dark ? sum.dark : "the network, which has no parts");
    yaml_id at = yaml_get(&s->doc, s->doc.root, "system");
    const char *name = x->name ? x->name : "of the mix";
    if (isnan(sum.kept))
        rc = yaml_fail_key(&s->doc, at, e, ERR_RANGE, "says nothing of job %s: it omits %s", name, sum.omits);
    else if (!(sum.kept > 0))
        rc =
            yaml_fail_key(&s->doc, at, e, ERR_RANGE,
                          "leaves job %s nothing of its time: %.4g s for a checkpoint, a failure each %.4g s",
                          name, sum.checkpoint.stall_s + sum.checkpoint.drain_s, sum.mtbi_s);
    system_free(&sum);
    return rc;
}

int place_settle_system(double *kept, struct place_money *money, const struct place_study *s,
                        const struct design_point *machine, const double *bw_Bps, struct err *e)
{
    int rc = 0;
    *money = (struct place_money){ NAN, NAN, "" };
    for (int32_t i = 0; i < s->trace.n_mix && !rc; i++) {
        kept[i] = 1;
        if (machine->has_system)
            rc = settle_entry(&kept[i], money, &s->trace.mix[i], s, machine, bw_Bps, e);
    }
    return rc;
}

int place_read_system(struct place_study *s, struct err *e)
{
    yaml_id at = yaml_get(&s->doc, s->doc.root, "system");
    double bw_Bps[TOPO_MAX_DIMS], kept[PLACE_MAX_MIX];
    struct design_point machine;
    if (at >= 0 && s->trace.n_mix == 0)
        return yaml_fail_key(&s->doc, at, e, ERR_PARSE, "is for jobs that are models; give jobs.mix");
    if (at >= 0 && s->servers.types)
        return yaml_fail_key(&s->doc, at, e, ERR_UNSUP, "is of machines of one type of NPU, not with npus");
    if (at < 0 || !topo_has_bandwidths(&s->servers.net))
        return 0;
    int rc = place_ask_network(&machine, s, DESIGN_NEEDS_BANDWIDTH, e);
    if (rc)
        return rc;
    topo_get_bandwidths(bw_Bps, &s->servers.net);
    rc = place_settle_system(kept, &s->money, s, &machine, bw_Bps, e);
    for (int32_t i = 0; i < s->trace.n_mix && !rc; i++)
        s->trace.mix[i].job.kept = kept[i];
    if (s->money.watt > 0) {
        place_note_key(s, s->doc.root, "npu_watt", "system says what NPUs draw");
        place_note_key(s, s->doc.root, "idle_watt", "system says what NPUs draw");
    }
    design_point_free(&machine);
    return rc;
}

/* ---- energy ---- */

int place_read_watts(struct place_study *s, struct err *e)
{
    bool idle = !isnan(s->file.idle_watt), given = !isnan(s->file.npu_watt), lacks = false;
    if (!given && s->servers.has_network && !s->servers.types)
        s->file.npu_watt = s->servers.net.npu.power_W;
    for (int32_t t = 0; t < s->servers.n_npus && s->servers.types && !given; t++)
        lacks = lacks || isnan(s->servers.types[t].npu.power_W);
    if (idle && (s->servers.types ? lacks : isnan(s->file.npu_watt)))
        return yaml_fail_key(&s->doc, yaml_get(&s->doc, s->doc.root, "idle_watt"), e, ERR_RANGE,
                             "is given for NPUs without watts; give npu_watt");
    if (!idle)
        s->file.idle_watt = s->file.npu_watt;
    return 0;
}

/* Of NPUs of type @p t, held and idle, where the machine as a whole is not known. */
static double npu_joules(const struct place_study *s, const struct place_use *use, int32_t t)
{
    double held_W = s->file.npu_watt, idle_W = s->file.idle_watt;
    if (isnan(held_W) && s->servers.types)
        held_W = s->servers.types[t].npu.power_W;
    if (isnan(idle_W))
        idle_W = held_W;
    return held_W * use->gpu_s[t] + idle_W * fmax(use->n_gpus[t] * use->time_s - use->gpu_s[t], 0);
}

void place_write_energy(struct place_result *out, const struct place_study *s, const struct place_use *use)
{
    double joules = s->money.watt * use->time_s;
    if (isnan(joules)) {
        joules = npu_joules(s, use, 0);
        for (int32_t t = 1; t < s->servers.n_npus && s->servers.types; t++)
            joules += npu_joules(s, use, t);
    }
    out->x[PLACE_KWH_PER_JOB] = joules / KWH_J / (double)use->n_jobs;
    out->x[PLACE_JOULE] = joules / use->iterations;
}
