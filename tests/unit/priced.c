#include "tests/unit/priced.h"

#include "tests/support.h"

void set_network(struct priced *s, const char *spec, const char *tiers)
{
    MUST(topo_parse_spec(&s->net, spec, e));
    for (int32_t d = 0; d < s->net.n_dims; d++) {
        size_t n = strcspn(tiers, " ");
        assert_true(n < TOPO_NAME);
        memcpy(s->net.dims[d].tier, tiers, n);
        s->net.dims[d].tier[n] = '\0';
        tiers += n + (tiers[n] == ' ');
        s->bw_Bps[d] = s->net.dims[d].bw_Bps;
    }
}

void open_parts_file(struct priced *s, const char *path)
{
    MUST(yaml_read_file(&s->doc, path, e));
    MUST(topo_read_parts(&s->parts, &s->doc, s->doc.root, e));
}

void open_parts_text(struct priced *s, const char *text)
{
    MUST(yaml_read_text(&s->doc, "parts.yaml", text, strlen(text), e));
    MUST(topo_read_parts(&s->parts, &s->doc, s->doc.root, e));
}

void close_parts(struct priced *s)
{
    topo_parts_free(&s->parts);
    yaml_free(&s->doc);
}

void build_bill(struct topo_bill *b, struct priced *s)
{
    MUST(topo_build_bill(b, &s->net, &s->parts, s->bw_Bps, e));
}

double bill_usd(struct priced *s)
{
    KEEP(struct topo_bill, b, topo_bill_free);
    build_bill(&b, s);
    return b.usd.typ;
}

double count_of(const struct topo_bill *b, int32_t d, const char *item)
{
    for (int32_t i = 0; i < b->n_lines; i++)
        if (b->lines[i].dim == d && strcmp(b->lines[i].item, item) == 0)
            return b->lines[i].count;
    return 0;
}

struct linear_bill linear_bill(struct priced *s)
{
    struct topo_dim_price price[TOPO_MAX_DIMS];
    struct linear_bill sum = { 0 };
    MUST(topo_prices(price, &s->net, &s->parts, e));
    for (int32_t d = 0; d < s->net.n_dims; d++) {
        sum.usd += price[d].usd_per_Bps * s->bw_Bps[d];
        sum.nic_usd += price[d].nic_usd_per_Bps * s->bw_Bps[d];
        sum.watt += price[d].watt_per_Bps * s->bw_Bps[d];
    }
    return sum;
}
