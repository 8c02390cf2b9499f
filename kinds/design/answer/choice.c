/*
 * What an answer chooses is put in a copy of the point. The copy owns a part exactly where its pointer
 * differs from the point's.
 */
#include "kinds/design/answer/choice.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "workloads/ideal.h"

/* The copy that choices are put in, made when it is asked for first. */
static int make_own(struct design_choice *c, struct err *e)
{
    size_t n = (size_t)c->asked->n_workloads;
    if (c->own)
        return 0;
    struct design_point *own = malloc(sizeof *own);
    struct design_workload *workloads = calloc(n + 1, sizeof *workloads);
    if (!own || !workloads) {
        free(own);
        free(workloads);
        return err_nomem(e, "a design");
    }
    *own = *c->asked;
    if (n)
        memcpy(workloads, own->workloads, n * sizeof *workloads);
    own->workloads = workloads;
    c->point = c->own = own;
    return 0;
}

int choice_begin(struct design_choice *c, const struct design_point *asked, struct err *e)
{
    *c = (struct design_choice){ .asked = asked, .point = asked };
    if (!asked->ideal)
        return 0;
    int rc = make_own(c, e);
    if (rc)
        return rc;
    c->own->ideal = NULL;
    return ideal_branch(&c->own->ideal, asked->ideal, &c->own->net, e);
}

/* Compiled steps of the copy; what is shared is left to the point. */
static void drop_compiled(struct design_workload *w, const struct design_workload *asked)
{
    if (w->fn.const_s != asked->fn.const_s)
        step_fn_free(&w->fn);
    if (w->lowered.nodes != asked->lowered.nodes)
        step_free(&w->lowered);
    w->fn = (struct step_fn){ 0 };
    w->lowered = (struct step_tree){ 0 };
}

/* The same of the plan and what was made from it. */
static void drop_plan(struct design_workload *w, const struct design_workload *asked)
{
    if (w->training != asked->training)
        free(w->training);
    if (w->tree.nodes != asked->tree.nodes)
        step_free(&w->tree);
    w->training = NULL;
    w->tree = (struct step_tree){ 0 };
}

void search_free(struct search_result *r)
{
    free(r->found);
    *r = (struct search_result){ 0 };
}

void choice_free(struct design_choice *c)
{
    struct design_point *own = c->own;
    for (int32_t i = 0; c->plans && i < c->asked->n_workloads; i++)
        search_free(&c->plans[i]);
    free(c->plans);
    text_free(&c->notes);
    for (int32_t i = 0; own && i < own->n_workloads; i++) {
        drop_compiled(&own->workloads[i], &c->asked->workloads[i]);
        drop_plan(&own->workloads[i], &c->asked->workloads[i]);
    }
    if (own && own->rows.rows != c->asked->rows.rows)
        alloc_rows_free(&own->rows);
    if (own) {
        ideal_free(own->ideal != c->asked->ideal ? own->ideal : NULL);
        free(own->workloads);
    }
    free(own);
    *c = (struct design_choice){ 0 };
}

struct search_result *choice_plans(const struct design_choice *c, int32_t i)
{
    return c->plans && c->plans[i].found ? &c->plans[i] : NULL;
}

int choice_take_plan(struct design_choice *c, int32_t i, const struct plan *plan, struct err *e)
{
    int rc = make_own(c, e);
    struct training *x = rc ? NULL : malloc(sizeof *x);
    if (!x)
        return rc ? rc : err_nomem(e, "a plan");
    struct design_point *own = c->own;
    struct design_workload *w = &own->workloads[i];
    *x = *w->training;
    drop_compiled(w, &c->asked->workloads[i]);
    drop_plan(w, &c->asked->workloads[i]);
    w->training = x;
    x->plan = *plan;
    rc = training_derive(x, &own->net, e);
    rc = rc ? rc : training_build(&w->tree, x, &own->net, e);
    return rc ? rc : design_point_compile(w, own, NULL, e);
}

int choice_take_plans(struct design_choice *c, const struct design_choice *from, struct err *e)
{
    int rc = 0;
    for (int32_t i = 0; i < c->asked->n_workloads && !rc; i++)
        if (design_point_is_searched(&c->asked->workloads[i]))
            rc = choice_take_plan(c, i, &from->point->workloads[i].training->plan, e);
    return rc;
}

int choice_learn(struct design_choice *c, const double *bw_Bps, struct err *e)
{
    const struct design_point *s = c->point;
    int rc = 0;
    for (int32_t i = 0; s->ideal && i < s->n_workloads && !rc; i++)
        rc = ideal_learn(s->ideal, &s->workloads[i].tree, bw_Bps, e);
    return rc;
}

int choice_take(struct design_choice *c, const double *bw_Bps, struct err *e)
{
    int rc = make_own(c, e);
    if (!rc)
        rc = choice_learn(c, bw_Bps, e);
    if (!rc && c->own->ideal)
        ideal_place(c->own->ideal);
    for (int32_t i = 0; !rc && i < c->own->n_workloads; i++) {
        drop_compiled(&c->own->workloads[i], &c->asked->workloads[i]);
        rc = design_point_compile(&c->own->workloads[i], c->own, bw_Bps, e);
    }
    return rc;
}

int choice_add_most(struct design_choice *c, struct err *e)
{
    const struct alloc_rows *asked = &c->asked->rows;
    int rc = make_own(c, e);
    if (rc)
        return rc;
    struct alloc_rows *rows = &c->own->rows;
    if (rows->rows == asked->rows) {
        *rows = (struct alloc_rows){ 0 };
        if (!vec_reserve(rows->rows, rows->cap, asked->n + 1))
            return err_nomem(e, "constraints");
        if (asked->n)
            memcpy(rows->rows, asked->rows, (size_t)asked->n * sizeof *rows->rows);
        rows->n = asked->n;
    }
    return alloc_add_most(rows, &c->own->net, e);
}
