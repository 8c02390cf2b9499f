/* Lists have no default in a table of keys: they are written down here once more. */
#include "tests/settings.h"

#include "kinds/gossip/gossip.h"
#include "kinds/hetero/hetero.h"
#include "kinds/place/place.h"

/* A placement study that says nothing in @p section. */
static struct place_study empty_study(const struct section *section)
{
    struct place_study s = { .doc = { .root = -1 } };
    schema_defaults(&s, section);
    return s;
}

struct batch_settings batch_settings_default(void)
{
    struct batch_settings s = empty_study(&place_sjf_bco_section).batch;
    s.seed = 1;
    return s;
}

struct events_settings events_settings_default(void)
{
    struct events_settings s = empty_study(&place_events_section).events;
    s.pack = PACK_PACKED;
    s.seed = 1;
    s.las_queues = 3;
    s.las_at[0] = 3600;
    s.las_at[1] = 36000;
    return s;
}

struct pace_graph_settings pace_graph_settings_default(void)
{
    return empty_study(&place_events_section).pace;
}

struct elastic_settings elastic_settings_default(void)
{
    struct elastic_settings s = { .n_slots = (int32_t)empty_study(&place_section).file.slots, .seed = 1 };
    schema_defaults(&s, &place_gadget_section);
    schema_defaults(&s, &place_las_section);
    return s;
}

struct smd_settings smd_settings_default(void)
{
    struct smd_settings s = empty_study(&place_smd_section).interval;
    s.seed = 1;
    return s;
}

struct sjf_draw_settings sjf_draw_default(void)
{
    static const struct sjf_draw_kind kinds[] = { { 1, 80 }, { 2, 14 }, { 4, 26 },
                                                  { 8, 30 }, { 16, 8 }, { 32, 2 } };
    struct sjf_draw_settings s = empty_study(&place_batch_jobs_section).batch_draw;
    s.n_servers = empty_study(&place_batch_pool_section).batch_draw.n_servers;
    for (s.n_server_sizes = 0; s.n_server_sizes < 4; s.n_server_sizes++)
        s.server_gpus[s.n_server_sizes] = 4 << s.n_server_sizes;
    for (s.n_kinds = 0; s.n_kinds < 6; s.n_kinds++)
        s.kinds[s.n_kinds] = kinds[s.n_kinds];
    s.seed = 1;
    return s;
}

struct smd_draw smd_draw_default(bool sync)
{
    struct smd_draw d = empty_study(&place_interval_jobs_section).interval_draw;
    d.sync = sync;
    d.layers = sync ? SMD_LAYERS_MEAN : SMD_LAYERS_SUM;
    d.whole_factor = true;
    d.seed = 1;
    return d;
}

struct hetero_settings hetero_settings_default(void)
{
    struct hetero_point p;
    schema_defaults(&p, &hetero_section);
    return p.settings;
}

struct hetero_draw hetero_draw_default(void)
{
    struct hetero_draw d = { .model = HETERO_CTRDNN, .batch = 4096 };
    schema_defaults(&d, &hetero_draw_section);
    return d;
}

struct gossip_learning gossip_learning_default(void)
{
    struct gossip_learning l = { .decay_at = { 0.5, 0.75 }, .n_decays = 2 };
    schema_defaults(&l, &gossip_learner_section);
    return l;
}

struct gossip_settings gossip_settings_default(void)
{
    struct gossip_settings s = { .period = 1 };
    schema_defaults(&s, &gossip_method_section);
    return s;
}
