#include "topo/clos.h"

#include <math.h>
#include <stdbool.h>

static int64_t div_up(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

/* Links up from a leaf with `down` ends; 21 ends at taper 1.4 must not ask for a 16th link by rounding. */
static int64_t leaf_links_up(int64_t down, double taper)
{
    return (int64_t)ceil((double)down / taper * (1 - 1e-12));
}

/* From just above the real solution downwards: the rounded-up links up decide, so that a few steps are
 * needed. */
int64_t topo_clos_leaf_ends(int64_t radix, double taper)
{
    int64_t down = (int64_t)((double)radix * taper / (taper + 1)) + 1;
    while (down > 1 && down + leaf_links_up(down, taper) > radix)
        down--;
    return down;
}

/* Leaves that `tiers` tiers can join: the top has radix ports down, those between radix / 2. */
static int64_t leaves_reached(int32_t tiers, int64_t radix)
{
    int64_t n = radix;
    /* At most 65,536 * 32,768^2 = 2^46: no overflow with four tiers. */
    for (int32_t i = 2; i < tiers; i++)
        n *= radix / 2;
    return n;
}

/* One network of `ends` ends, more than one switch can take. */
static void count_tiers(struct topo_clos *c, int64_t ends, int64_t radix, double taper)
{
    int64_t down = topo_clos_leaf_ends(radix, taper);
    /* Full leaves, and one for the rest with no more links than its ends need. */
    int64_t links = ends / down * leaf_links_up(down, taper) + leaf_links_up(ends % down, taper);

    c->per_tier[0] = div_up(ends, down);
    for (int32_t i = 1; i < c->tiers; i++) {
        bool top = i == c->tiers - 1;
        c->per_tier[i] = div_up(links, top ? radix : radix / 2);
        c->up_links += links; /* no taper above the leaves: as many links leave a middle tier as reach it */
    }
}

/* Fewest tiers for one rail, 0 when four are too few. */
static int32_t tiers_needed(int64_t ends, int64_t radix, double taper)
{
    if (ends <= radix)
        return 1;
    int64_t leaves = div_up(ends, topo_clos_leaf_ends(radix, taper));
    for (int32_t tiers = 2; tiers <= TOPO_CLOS_TIERS; tiers++)
        if (leaves <= leaves_reached(tiers, radix))
            return tiers;
    return 0;
}

static int check_arguments(int64_t ends, int64_t radix, double taper, int64_t rails, struct err *e)
{
    if (ends < 1 || ends > (int64_t)1 << 56)
        return err_set(e, ERR_RANGE, "Clos: number of ends is %lld, expected 1 to 2^56", (long long)ends);
    if (radix < 2 || radix > 65536)
        return err_set(e, ERR_RANGE, "Clos: switch radix is %lld ports, expected 2 to 65536",
                       (long long)radix);
    if (!(taper >= 1 && taper <= 64))
        return err_set(e, ERR_RANGE, "Clos: taper is %g, expected 1 to 64", taper);
    if (rails < 1 || ends % rails != 0)
        return err_set(e, ERR_RANGE, "Clos: number of rails is %lld, expected a divisor of the %lld ends",
                       (long long)rails, (long long)ends);
    return 0;
}

int64_t topo_even_boxes(int64_t n, int64_t least)
{
    while (least < n && n % least)
        least++;
    return least;
}

/* The largest divisor of n that is at most `most`: pods of equal size. */
static int64_t equal_pod(int64_t n, int64_t most)
{
    while (most > 1 && n % most)
        most--;
    return most;
}

/* Tier by tier: `left` equal subtrees, each with `boxes` on top of `up` links up. */
static int count_even_tiers(struct topo_clos *c, int64_t ends, int64_t radix, double taper, struct err *e)
{
    int64_t down = topo_clos_leaf_ends(radix, taper), left = div_up(ends, down), boxes = 1,
            up = leaf_links_up(down, taper);
    c->tiers = 1;
    c->per_tier[0] = left;
    while (left > 1) {
        bool top = left <= radix;
        int64_t joined = top ? left : equal_pod(left, radix / 2), ports = top ? radix : radix / 2;
        if (joined < 2)
            return err_set(e, ERR_RANGE,
                           "Clos: %lld leaves of %lld ports form no equal pods of at most %lld; give other "
                           "sizes, or even_spread: false",
                           (long long)left, (long long)radix, (long long)(radix / 2));
        if (c->tiers == TOPO_CLOS_TIERS)
            return err_set(e, ERR_RANGE, "Clos: %lld ends on switches of %lld ports need more than %d tiers",
                           (long long)ends, (long long)radix, TOPO_CLOS_TIERS);
        int64_t each = topo_even_boxes(up, div_up(joined * up, ports));
        c->up_links += left * boxes * up;
        boxes *= each;
        up = joined * up / each;
        left /= joined;
        c->per_tier[c->tiers++] = left * boxes;
    }
    return 0;
}

static int count_clos(struct topo_clos *c, int64_t ends, int64_t radix, double taper, int64_t rails,
                      bool even, struct err *e)
{
    *c = (struct topo_clos){ 0 };
    int rc = check_arguments(ends, radix, taper, rails, e);
    if (rc)
        return rc;

    int64_t rail_ends = ends / rails;
    int32_t tiers = tiers_needed(rail_ends, radix, taper);
    if (tiers == 0)
        return err_set(e, ERR_RANGE, "Clos: %lld ends on switches of %lld ports need more than %d tiers",
                       (long long)rail_ends, (long long)radix, TOPO_CLOS_TIERS);

    *c = (struct topo_clos){ .tiers = tiers, .end_links = ends };
    /* A switch may serve several rails as if it were several: ports are all that is bought. */
    if (tiers == 1) {
        c->per_tier[0] = div_up(rails, radix / rail_ends);
    } else {
        if (even)
            rc = count_even_tiers(c, rail_ends, radix, taper, e);
        else
            count_tiers(c, rail_ends, radix, taper);
        c->up_links *= rails;
        for (int32_t i = 0; i < c->tiers; i++)
            c->per_tier[i] *= rails;
    }
    for (int32_t i = 0; i < c->tiers; i++)
        c->switches += c->per_tier[i];
    return rc;
}

int topo_count_clos(struct topo_clos *c, int64_t ends, int64_t radix, double taper, int64_t rails,
                    struct err *e)
{
    return count_clos(c, ends, radix, taper, rails, false, e);
}

int topo_count_even_clos(struct topo_clos *c, int64_t ends, int64_t radix, double taper, int64_t rails,
                         struct err *e)
{
    return count_clos(c, ends, radix, taper, rails, true, e);
}
