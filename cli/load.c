/*
 * The study of a command, read with its overrides, and its design solved or taken as given. Where a command
 * takes either, the study is read twice: which keys have an effect, and so which warnings are due, depends on
 * what is done with it.
 */
#include "cli/load.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "cli/output.h"
#include "kinds/design/answer/ages.h"
#include "kinds/design/ask/load.h"
#include "kinds/design/explore/runner.h"
#include "kinds/design/explore/search_sim.h"
#include "kinds/design/explore/solve.h"

enum { MAX_NAMES = 6 };

void bind_name(struct text *out, const struct step_tree *t, const struct sim_collective *c)
{
    const struct step_node *node = &t->nodes[c->node];
    text_printf(out, "%s %s", t->groups[node->group].name, collective_names[node->collective]);
}

void bind_choice(struct text *out, const struct sim_collective *c, int32_t d)
{
    const struct stage_choice *choice = &c->choice[d];
    if (choice->algorithm == TOPO_ALGORITHM_SHAPE)
        return;
    text_puts(out, topo_algorithm_words[choice->algorithm]);
    if (choice->regime > 0)
        text_printf(out, ", regime %d", (int)choice->regime);
    if (choice->segments > 1)
        text_printf(out, ", %d segments", (int)choice->segments);
}

/* The name occurs in the list as a whole. Without memory it is empty. */
static bool is_listed(const struct text *list, const char *name)
{
    const char *begin = text_str(list);
    size_t n = strlen(name);
    for (const char *s = begin; n > 0 && (s = strstr(s, name)); s++)
        if ((s == begin || s[-1] == ' ') && (s[n] == '\0' || s[n] == ','))
            return true;
    return false;
}

/* At most MAX_NAMES, then "...": it is a cell of a table. */
void bind_names(struct text *out, const struct design_point *s, const struct design *x, int32_t d)
{
    struct text list = { 0 }, name = { 0 };
    int32_t n_names = 0;
    for (int32_t w = 0; w < x->n_loads; w++) {
        const struct sim_step *closed = &x->loads[w].step;
        for (int32_t i = 0; i < closed->n_collectives; i++) {
            const struct sim_collective *c = &closed->collectives[i];
            text_clear(&name);
            bind_name(&name, &s->workloads[w].tree, c);
            if (!c->binds[d] || is_listed(&list, text_str(&name)))
                continue;
            if (n_names++ < MAX_NAMES)
                text_printf(&list, "%s%s", n_names > 1 ? ", " : "", text_str(&name));
        }
    }
    text_puts(out, text_str(&list));
    if (n_names > MAX_NAMES)
        text_puts(out, ", ...");
    out->failed = out->failed || list.failed || name.failed;
    text_free(&list);
    text_free(&name);
}

int load_overrides(struct overrides *o, struct run *run, struct err *e)
{
    int rc = overrides_read(o, run, e);
    if (!rc)
        output_notes(run, &o->notes);
    return rc;
}

int load_study(struct design_point *s, struct run *run, const struct overrides *o, unsigned needs,
               struct err *e)
{
    int rc = design_point_load(s, run->opt.operands[0], o->list, o->n, needs, e);
    if (rc)
        return rc;
    output_notes(run, &s->notes);
    load_say_ages(run, s);
    return 0;
}

void load_say_semantics(struct report *r, const struct design_point *s)
{
    if (s->ideal && design_point_semantics(s))
        report_line(r,
                    "%-18s%s: every message over any paths, no latency; what real routes lose is left out\n",
                    "semantics", design_point_semantics(s));
    else if (design_point_semantics(s))
        report_line(r,
                    "%-18s%s: part of a dimension has all of its bandwidth, links that are passed on the way "
                    "do not count\n",
                    "semantics", design_point_semantics(s));
}

void load_say_range(struct report *r, const struct design_point *s, const struct design *d)
{
    char low[SHOW], high[SHOW];
    int32_t n_fixed = 0;
    if (!d->has_bill || !(d->bill.usd.low < d->bill.usd.high))
        return;
    struct topo_band usd = design_point_bill_usd(s, &d->bill);
    for (int32_t i = 0; i < d->bill.n_lines; i++) {
        const struct topo_bill_line *line = &d->bill.lines[i];
        n_fixed += !line->in_server && line->usd.low == line->usd.high;
    }
    report_line(r, "  %-16s%s to %s USD by low and high prices of its parts (grade %s)", "range",
                show_usd(low, usd.low), show_usd(high, usd.high), topo_grade_names[d->bill.band_grade]);
    if (n_fixed)
        report_line(r, "; %d of %d lines have one price", (int)n_fixed, (int)d->bill.n_lines);
    report_line(r, "\n");
}

/* Days since 1970; SOURCE_DATE_EPOCH [s] holds them still, as for all that builds what can be built again. */
static int64_t today(void)
{
    const char *still = getenv("SOURCE_DATE_EPOCH");
    int64_t now_s;
    if (!still || !num_parse_count(still, &now_s))
        now_s = (int64_t)time(NULL);
    return now_s / 86400;
}

static void say_ages(struct run *run, const struct ages *a, int64_t days)
{
    const struct age *oldest;
    int32_t n = ages_old(&oldest, a, today(), days);
    if (n)
        output_warn(run, "%d of %d prices are older than %lld days (price_days); the oldest, of %s, is of %s",
                    (int)n, (int)a->n, (long long)days, oldest->name, oldest->date);
}

void load_say_ages(struct run *run, const struct design_point *s)
{
    struct ages a = { .n = 0 };
    ages_add(&a, s);
    say_ages(run, &a, s->price_days);
}

void load_say_study_ages(struct run *run, const struct study *study)
{
    struct ages a = { .n = 0 };
    int64_t days = 0;
    for (int32_t i = 0; i < study->sweep.n_grids && study->kind == &design_kind; i++) {
        struct sweep_point p;
        struct design_point s;
        struct err ignored;
        sweep_find_point(&p, &study->sweep, study->sweep.grids[i].first);
        if (design_load(&s, study, &p, &ignored))
            continue;
        ages_add(&a, &s);
        days = s.price_days;
        design_point_free(&s);
    }
    say_ages(run, &a, days);
}

void load_say_status(struct run *run, const char *where, const struct design *d)
{
    const struct alloc_answer *a = &d->answer;
    if (a->status == ALLOC_SOLVED)
        return;
    output_say(run, "%s: %s: %s", where, alloc_status_names[a->status], a->reason);
    /*
     * A stalled answer has a split whose gap is larger than promised: the solver's failure, not the study's.
     * An unproved one is a design as good as any that was found.
     */
    if (a->status != ALLOC_UNPROVED)
        output_outcome(run, a->status == ALLOC_STALLED ? EXIT_FAILED : EXIT_NO_DESIGN);
}

int load_write_status(const struct run *run, const struct load_design *x, struct err *e)
{
    struct report r = { 0 };
    if (output_format(run) != TABLE_AS_JSON)
        return 0;
    output_begin(&r, run, output_origin(x->study));
    report_json_word(&r, "status", alloc_status_names[x->design.answer.status]);
    report_json_word(&r, "reason", x->design.answer.reason);
    return output_report(&r, run, output_origin(x->study), e);
}

static void say_read(const struct run *run, const struct design_point *s)
{
    char word[TOPO_SPEC];
    output_verbose(run, "%s: %s, %lld NPUs; files %d, workloads %d, constraints %d", run->opt.operands[0],
                   topo_format_spec(word, &s->net), (long long)s->net.n_npus, (int)s->doc.n_sources,
                   (int)s->n_workloads, (int)s->rows.n);
    for (int32_t i = 1; i < s->doc.n_sources; i++)
        output_verbose(run, "read %s", s->doc.sources[i]);
}

/* Commands for one design pass over what only those for many look at. */
static void take_notes(struct text *out, const struct design_point *s, bool varied)
{
    char place[400];
    yaml_id vary = yaml_get(&s->doc, s->doc.root, "vary");
    text_puts(out, text_str(&s->notes));
    if (vary >= 0 && !varied)
        text_printf(
            out, "%s: vary has no effect here: this is the design as written, weft sweep runs its variants\n",
            yaml_key_place(&s->doc, vary, place, sizeof place));
}

int load_design(struct load_design *x, struct run *run, const struct overrides *o, enum load_from from,
                unsigned needs, struct err *e)
{
    const struct study_source source = {
        .path = run->opt.operands[0], .overrides = o->list, .n = o->n, .axes = o->axes, .n_axes = o->n_axes
    };
    int rc = 0;
    *x = (struct load_design){ .study = &x->asked };
    if (from == LOAD_EITHER) {
        /* Which keys have an effect depends on the answer, so the study is read again below. */
        struct design_point probe = { 0 };
        rc = design_point_read(&probe, &source, DESIGN_NEEDS_NETWORK, e);
        if (rc)
            return rc;
        from = topo_has_bandwidths(&probe.net) ? LOAD_GIVEN : LOAD_SOLVED;
        design_point_free(&probe);
    }
    /* What the study must have, and which keys may have an effect, follows from it. */
    x->solved = from == LOAD_SOLVED;
    needs |= x->solved ? DESIGN_FOR_SPLIT | DESIGN_NEEDS_WORKLOAD : DESIGN_NEEDS_BANDWIDTH;
    rc = design_point_read(&x->asked, &source, needs, e);
    if (rc)
        return rc;
    take_notes(&x->notes, &x->asked, o->axes != NULL);
    say_read(run, &x->asked);
    load_say_ages(run, &x->asked);
    /* For --verbose alone: this duration is in no output. */
    double start_s = clock_now_s();
    rc = x->solved ? design_solve(&x->design, &x->asked, e) : design_evaluate(&x->design, &x->asked, NULL, e);
    if (rc)
        return rc;
    x->study = x->design.chosen.point;
    text_puts(&x->notes, text_str(&x->design.chosen.notes));
    rc = search_simulate(&x->design.chosen, e);
    if (rc || !x->solved)
        return rc;
    output_verbose(run, "%s in %.3f ms, %d Newton steps", alloc_status_names[x->design.answer.status],
                   1e3 * (clock_now_s() - start_s), (int)x->design.answer.iterations);
    load_say_status(run, run->opt.operands[0], &x->design);
    return 0;
}

void load_design_free(struct load_design *x)
{
    design_free(&x->design);
    design_point_free(&x->asked);
    text_free(&x->notes);
    *x = (struct load_design){ 0 };
}

int load_and_write(struct run *run, int (*write)(struct run *run, const struct load_design *x, struct err *e),
                   struct err *e)
{
    struct overrides o;
    struct load_design x = { .solved = false };
    int rc = load_overrides(&o, run, e);
    if (!rc)
        rc = load_design(&x, run, &o, LOAD_EITHER, DESIGN_NEEDS_WORKLOAD, e);
    if (!rc)
        output_notes(run, &x.notes);
    if (!rc)
        rc = x.solved && !alloc_has_split(&x.design.answer) ? load_write_status(run, &x, e)
                                                            : write(run, &x, e);
    load_design_free(&x);
    overrides_free(&o);
    return rc;
}

const char *load_workload_name(const struct design_workload *w)
{
    return w->tree.name[0] ? w->tree.name : "unnamed";
}

void load_workload_names(struct text *out, const struct design_point *s)
{
    for (int32_t i = 0; i < s->n_workloads; i++)
        text_printf(out, "%s%s", i ? "+" : "", load_workload_name(&s->workloads[i]));
}

const char *load_network_name(char word[TOPO_SPEC], const struct topo_network *net)
{
    return *net->name ? net->name : topo_format_spec(word, net);
}

void load_report_dims(struct report *r, const struct topo_network *net)
{
    report_open(r, "dims", '[');
    for (int32_t d = 0; d < net->n_dims; d++)
        report_json_word(r, NULL, net->dims[d].name);
    report_close(r, ']');
}
