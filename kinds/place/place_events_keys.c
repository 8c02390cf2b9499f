/* The keys of model events: where jobs come from, and how they run. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "kinds/place/place_events.h"

struct trace_conf {
    const char *trace, *profile;
    int32_t format, length;
    bool skip_bad;
    int64_t count, start, max_gpus;
    double horizon_s, rate, per_s, overlap_frac;
};

struct events_conf {
    double horizon_s, overhead_s, round_s, inner_Bps, reduce_Bps;
    bool backfill;
    int64_t queues;
    int32_t contention, duty;
    yaml_id las_at;
};

static const char *const length_words[] = { "runtime", "iterations", NULL };

#define ROW(conf, key, field, what, used, text)                                                              \
    .name = key, .help = text, .kind = what, .offset = offsetof(struct conf, field), .uses = used
#define TEXT(conf, key, field, used, text)                                                                   \
    {                                                                                                        \
        ROW(conf, key, field, KEY_TEXT, used, text), .unit = ""                                              \
    }
#define WORD(conf, key, field, list, absent, used, text)                                                     \
    {                                                                                                        \
        ROW(conf, key, field, KEY_WORD, used, text), .unit = "", .words = list, .dflt = absent               \
    }
#define FLAG(conf, key, field, used, text)                                                                   \
    {                                                                                                        \
        ROW(conf, key, field, KEY_BOOL, used, text), .unit = "", .dflt = 0                                   \
    }
#define COUNT(conf, key, field, least, most, absent, used, text)                                             \
    {                                                                                                        \
        ROW(conf, key, field, KEY_COUNT, used, text), .unit = "", .scale = 1, .min = least, .max = most,     \
                                                      .dflt = absent                                         \
    }
#define REAL(conf, key, field, in, to_SI, least, most, absent, used, text)                                   \
    {                                                                                                        \
        ROW(conf, key, field, KEY_REAL, used, text), .unit = in, .scale = to_SI, .min = least, .max = most,  \
                                                     .dflt = absent                                          \
    }

static const struct key trace_keys[] = {
    TEXT(trace_conf, "trace", trace, 0, "a file of jobs; absent: arrivals are drawn, see jobs_per_h"),
    WORD(trace_conf, "format", format, trace_format_words, SCHEMA_NONE, USE_FILE,
         "of the trace; absent: csv, what weft import --trace writes"),
    FLAG(trace_conf, "skip_bad", skip_bad, USE_FILE,
         "true: pass over bad records; absent: the first one is an error"),
    TEXT(trace_conf, "profile", profile, 0,
         "a file of distributions: what the trace does not tell is drawn from it"),
    COUNT(trace_conf, "count", count, 1, 10000000, SCHEMA_NONE, 0, "how many jobs; absent: all of the trace"),
    COUNT(trace_conf, "start", start, 0, 1e15, SCHEMA_NONE, USE_FILE,
          "the first job of the trace, from 0; absent: 0, or with count drawn by the seed"),
    COUNT(trace_conf, "max_gpus", max_gpus, 1, TRACE_MAX_GPUS, SCHEMA_NONE, USE_FILE,
          "jobs that ask for more are left out"),
    REAL(trace_conf, "horizon_s", horizon_s, "s", 1, 0, 1e12, SCHEMA_NONE, USE_FILE,
         "the last job comes then, all in proportion; absent: as in the trace"),
    REAL(trace_conf, "rate", rate, "", 1, 1e-6, 1e6, 1, USE_FILE,
         "jobs come so many times as fast as in the trace"),
    REAL(trace_conf, "jobs_per_h", per_s, "1/h", 1.0 / 3600, 1e-6, 1e9, SCHEMA_NONE, 0,
         "without trace: mean arrivals of a Poisson process"),
    WORD(trace_conf, "length", length, length_words, 0, USE_EVENTS,
         "a job runs as long as the trace says where it is best off alone, or does as many iterations"),
    REAL(trace_conf, "overlap_frac", overlap_frac, "", 1, 0, 1, 0, USE_EVENTS,
         "share of an iteration's compute that hides communication"),
};
const struct section place_trace_section = { .name = "jobs of model events",
                                             .help = "jobs of a trace, or drawn",
                                             .keys = trace_keys,
                                             .n_keys = sizeof trace_keys / sizeof trace_keys[0] };

static const struct key events_keys[] = {
    REAL(events_conf, "horizon_s", horizon_s, "s", 1, 1e-9, 1e12, INFINITY, USE_EVENTS,
         "nothing happens after it; absent: all jobs run to their end"),
    REAL(events_conf, "overhead_s", overhead_s, "s", 1, 0, 1e9, 0, USE_STOPS,
         "that a job holds its GPUs without progress each time it goes on after a stop"),
    FLAG(events_conf, "backfill", backfill, USE_FIFO,
         "true: fifo lets jobs pass that delay nobody (EASY); absent: false"),
    COUNT(events_conf, "las_queues", queues, 0, EVENTS_MAX_QUEUES, SCHEMA_NONE, USE_LAS,
          "of las; 0: continuous; absent: 3, or as many as las_at says"),
    { ROW(events_conf, "las_at", las_at, KEY_NODE, USE_LAS,
          "list of attained service at which a job falls to the next queue; absent: [1, 10]"),
      .unit = "GPU-h" },
    REAL(events_conf, "round_s", round_s, "s", 1, 1e-3, 1e9, 300, USE_ROUNDS,
         "continuous las: after which jobs that wait are compared again"),
    WORD(events_conf, "contention", contention, pace_contention_words, PACE_CONTENTION_SHARED, USE_LINKS,
         "do jobs share links, max-min fairly"),
    WORD(events_conf, "duty", duty, pace_duty_words, PACE_DUTY_ALWAYS, USE_LINKS,
         "a job holds its share of links always, or only as much as it sends on average"),
    REAL(events_conf, "inner_GBps", inner_Bps, "GB/s", 1e9, 1e-6, 1e9, INFINITY, USE_LINKS,
         "of a GPU inside its server where no network tells; absent: without end"),
    REAL(events_conf, "reduce_GBps", reduce_Bps, "GB/s", 1e9, 1e-6, 1e9, INFINITY, USE_LINKS,
         "at which a GPU adds gradients up; absent: without end"),
};
const struct section place_events_section = { .name = "events",
                                              .help = "how jobs run in model events",
                                              .keys = events_keys,
                                              .n_keys = sizeof events_keys / sizeof events_keys[0] };

/* "vision-2019", or a file beside the study, as the study's own path names it. */
static int take_path(char **out, const struct yaml_doc *doc, yaml_id at, struct err *e)
{
    struct text path = { 0 };
    yaml_beside(&path, doc, at);
    int rc = text_check(&path, e);
    *out = path.s;
    return rc;
}

static int check_source(const struct trace_conf *x, const struct yaml_doc *doc, yaml_id at, struct err *e)
{
    if (x->trace && !isnan(x->per_s))
        return yaml_fail(doc, at, e, ERR_PARSE, "has trace and jobs_per_h, need one of them");
    if (!x->trace && isnan(x->per_s))
        return yaml_fail(doc, at, e, ERR_PARSE, "has neither trace nor jobs_per_h, need one of them");
    if (!x->trace && x->count < 0)
        return yaml_fail(doc, at, e, ERR_PARSE, "is without count, need how many jobs are drawn");
    if (!x->trace && !x->profile)
        return yaml_fail(doc, at, e, ERR_PARSE, "is without profile, need what to draw jobs from");
    return 0;
}

int place_read_trace(struct place_trace *out, const struct yaml_doc *doc, yaml_id at, struct err *e)
{
    struct trace_conf x;
    int rc = schema_read(&x, &place_trace_section, doc, at, e);
    if (!rc)
        rc = check_source(&x, doc, at, e);
    if (!rc && x.trace)
        rc = take_path(&out->path, doc, yaml_get(doc, at, "trace"), e);
    if (!rc && x.profile)
        rc = take_path(&out->profile, doc, yaml_get(doc, at, "profile"), e);
    if (rc)
        return rc;
    out->format = x.format >= 0 ? x.format : N_TRACE_FORMATS - 1;
    out->skip_bad = x.skip_bad;
    out->by_iterations = x.length == 1;
    out->overlap_frac = x.overlap_frac;
    out->jobs_per_s = x.per_s;
    out->window = trace_window_default();
    out->window.n = x.count > 0 ? x.count : 0;
    out->window.start = x.start >= 0 ? x.start : x.count > 0 ? -1 : 0;
    out->window.with_work = true; /* traces have jobs that were killed at once: they never held a GPU */
    out->window.max_gpus = x.max_gpus > 0 ? (int32_t)x.max_gpus : 0;
    out->window.horizon_s = x.horizon_s;
    out->window.rate = x.rate;
    return 0;
}

static int read_thresholds(struct events_settings *out, const struct yaml_doc *doc, yaml_id list,
                           struct err *e)
{
    int rc = yaml_need(doc, list, YAML_SEQ, e);
    if (!rc && (doc->nodes[list].n < 1 || doc->nodes[list].n > EVENTS_MAX_QUEUES - 1))
        rc = yaml_fail(doc, list, e, ERR_RANGE, "is a list of %d, need 1 to %d", (int)doc->nodes[list].n,
                       (int)EVENTS_MAX_QUEUES - 1);
    if (rc)
        return rc;
    double before = 0;
    int n = 0;
    yaml_each (id, doc, list) {
        double hours;
        rc = yaml_real(doc, id, &hours, e);
        if (!rc && !(hours > before && hours < 1e12))
            rc = yaml_fail(doc, id, e, ERR_RANGE, "is %g, need more than the one before", hours);
        if (rc)
            return rc;
        before = hours;
        out->las_at[n++] = hours * 3600;
    }
    out->las_queues = n + 1;
    return 0;
}

int place_read_pace(struct place_study *s, struct err *e)
{
    struct events_conf x;
    schema_defaults(&x, &place_events_section);
    int rc = s->conf.events < 0 ? 0 : schema_read(&x, &place_events_section, &s->doc, s->conf.events, e);
    s->events = events_settings_default();
    s->events.horizon_s = x.horizon_s;
    s->events.overhead_s = x.overhead_s;
    s->events.backfill = x.backfill;
    s->events.round_s = x.round_s;
    s->pace = pace_graph_settings_default();
    s->pace.contention = (enum pace_contention)x.contention;
    s->pace.duty = (enum pace_duty)x.duty;
    s->pace.inner_Bps = x.inner_Bps;
    s->pace.reduce_Bps = x.reduce_Bps;
    if (!rc && s->conf.events >= 0 && x.las_at >= 0)
        rc = read_thresholds(&s->events, &s->doc, x.las_at, e);
    if (!rc && s->conf.events >= 0 && x.queues >= 0) {
        /* Fewer queues have the first of the thresholds. */
        bool fewer = x.las_at < 0 && x.queues < s->events.las_queues;
        if (x.queues > 0 && !fewer && x.queues != s->events.las_queues)
            return yaml_fail(&s->doc, yaml_get(&s->doc, s->conf.events, "las_queues"), e, ERR_RANGE,
                             "is %lld with %d values in las_at, need one more than these, or 0",
                             (long long)x.queues, (int)s->events.las_queues - 1);
        s->events.las_queues = (int32_t)x.queues;
    }
    if (!rc && s->events.las_queues == 0)
        place_note_key(s, s->conf.events, "las_at", "las_queues 0 has no queues");
    if (!rc && s->servers.has_network && s->servers.level > 0)
        place_note_key(s, s->conf.events, "inner_GBps", "the network tells what is inside a server");
    return rc;
}

/* Keys that no order of the study, or no source of its jobs, looks at. */
static void note_events(struct place_study *s)
{
    uint64_t active = place_uses(s) | USE_LINKS | (s->trace.path ? USE_FILE : 0);
    for (int32_t i = 0; i < s->n_schedulers; i++) {
        enum events_order order = place_pair_order(s->schedulers[i]);
        active |= order == EVENTS_FIFO ? USE_FIFO : 0;
        active |= order == EVENTS_SRTF || order == EVENTS_LAS ? USE_STOPS : 0;
        active |= order != EVENTS_LAS ? 0 : s->events.las_queues > 0 ? USE_LAS : USE_LAS | USE_ROUNDS;
    }
    place_note_unused(s, &place_trace_section, s->conf.jobs, active);
    place_note_unused(s, &place_events_section, s->conf.events, active);
}

int place_read_events(struct place_study *s, struct err *e)
{
    if (s->conf.jobs < 0)
        return yaml_fail(&s->doc, s->doc.root, e, ERR_PARSE, "is without jobs, need jobs");
    int rc = place_read_trace(&s->trace, &s->doc, s->conf.jobs, e);
    if (!rc)
        rc = place_read_pace(s, e);
    if (!rc)
        note_events(s);
    return rc;
}
