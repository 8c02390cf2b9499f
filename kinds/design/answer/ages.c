/* Dates as sources have them, and which prices a design takes. */
#include "kinds/design/answer/ages.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Days from 1970-01-01 to a day of the Gregorian calendar, years counted from March. */
static int64_t days_until(int64_t year, int64_t month, int64_t day)
{
    int64_t y = month > 2 ? year : year - 1, m = (month + 9) % 12;
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

/* Two digits behind a dash, 1 to @p most; 0: there are none. */
static int64_t take_part(const char **s, int64_t most)
{
    const char *at = *s;
    if (at[0] != '-' || !isdigit((unsigned char)at[1]) || !isdigit((unsigned char)at[2]))
        return 0;
    int64_t x = 10 * (at[1] - '0') + at[2] - '0';
    if (x < 1 || x > most)
        return 0;
    *s += 3;
    return x;
}

int64_t ages_day(const char *date)
{
    const char *s = date;
    while (*s && strspn(s, "0123456789") != 4)
        s += *s && strspn(s, "0123456789") ? strspn(s, "0123456789") : 1;
    if (!*s)
        return INT64_MIN;
    int64_t year = strtoll(s, NULL, 10);
    s += 4;
    int64_t month = take_part(&s, 12), day = month ? take_part(&s, 31) : 0;
    if (day)
        return days_until(year, month, day);
    return (month && month < 12 ? days_until(year, month + 1, 1) : days_until(year + 1, 1, 1)) - 1;
}

static void add_age(struct ages *a, const char *name, const char *date)
{
    for (int32_t i = 0; i < a->n; i++)
        if (strcmp(a->list[i].name, name) == 0 && strcmp(a->list[i].date, date) == 0)
            return;
    if (a->n == AGES_MAX)
        return;
    struct age *x = &a->list[a->n++];
    snprintf(x->name, sizeof x->name, "%s", name);
    snprintf(x->date, sizeof x->date, "%s", date);
    x->day = ages_day(x->date);
}

static void add_tier(struct ages *a, const struct topo_parts *p, const char *tier)
{
    const struct topo_recipe *r = topo_is_catalogue(p) ? topo_find_recipe(p, tier) : NULL;
    const struct topo_rate *rate = topo_is_catalogue(p) ? NULL : topo_find_rate(p, tier);
    const int32_t parts[] = { r ? r->nic : -1, r ? r->sw : -1, r ? r->end_link : -1, r ? r->up_link : -1 };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i] >= 0 && !isnan(p->parts[parts[i]].usd.typ))
            add_age(a, p->parts[parts[i]].name, p->parts[parts[i]].date);
    if (rate)
        add_age(a, rate->tier, rate->date);
}

/* A figure of the server that is a price, unless study or NPU have one of their own. */
static void add_server(struct ages *a, const struct design_point *s, const char *key)
{
    const struct own_figure *x = own_find_figure(&s->server, &s->like, key);
    bool own = yaml_get(&s->doc, s->maps.system, key) >= 0 ||
               (strcmp(key, "npu_usd") == 0 && !isnan(s->net.npu.usd));
    char name[96];
    if (!x || own)
        return;
    snprintf(name, sizeof name, "%s of %s", key, s->server.name ? s->server.name : s->like.name);
    add_age(a, name, x->date);
}

void ages_add(struct ages *a, const struct design_point *s)
{
    for (int32_t d = 0; d < s->net.n_dims && s->has_parts; d++)
        if (s->net.dims[d].tier[0])
            add_tier(a, &s->parts, s->net.dims[d].tier);
    if (!s->has_system)
        return;
    add_server(a, s, "npu_usd");
    add_server(a, s, "server_usd");
}

int32_t ages_old(const struct age **oldest, const struct ages *a, int64_t today, int64_t days)
{
    int32_t n = 0;
    *oldest = NULL;
    for (int32_t i = 0; i < a->n; i++) {
        const struct age *x = &a->list[i];
        if (x->day == INT64_MIN || today - x->day <= days)
            continue;
        n++;
        if (!*oldest || x->day < (*oldest)->day)
            *oldest = x;
    }
    return n;
}
