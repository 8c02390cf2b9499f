#include "sim/events/pack_index.h"

#include <stdlib.h>

int pack_index_build(struct pack_index *x, int32_t n_servers, int32_t most, struct err *e)
{
    *x = (struct pack_index){ .n_servers = n_servers, .most = most };
    x->with = calloc((size_t)most + 1, sizeof *x->with);
    x->count = calloc((size_t)most + 1, sizeof *x->count);
    x->room = calloc((size_t)n_servers + 1, sizeof *x->room);
    bool there = x->with && x->count && x->room && bits_build(&x->any, n_servers);
    for (int32_t f = 1; f <= most && there; f++)
        there = bits_build(&x->with[f], n_servers);
    if (there)
        return 0;
    pack_index_free(x);
    return err_nomem(e, "servers by what is free");
}

void pack_index_free(struct pack_index *x)
{
    for (int32_t f = 1; x->with && f <= x->most; f++)
        bits_free(&x->with[f]);
    free(x->with);
    free(x->count);
    free(x->room);
    bits_free(&x->any);
    *x = (struct pack_index){ 0 };
}

void pack_index_set(struct pack_index *x, int32_t s, int32_t room)
{
    int32_t before = x->room[s];
    if (before > 0) {
        bits_remove(&x->with[before], s);
        x->count[before]--;
    }
    if (room > 0) {
        bits_add(&x->with[room], s);
        x->count[room]++;
        bits_add(&x->any, s);
    } else {
        bits_remove(&x->any, s);
    }
    x->room[s] = room;
    x->total += room - before;
}

int32_t pack_index_tightest(const struct pack_index *x, int32_t from)
{
    for (int32_t f = from > 1 ? from : 1; f <= x->most; f++)
        if (x->count[f] > 0)
            return f;
    return -1;
}
