#include "sim/gossip/checks.h"

int gossip_check_count(const char *key, int64_t value, struct err *e)
{
    if (value >= 1)
        return 0;
    return err_set(e, ERR_RANGE, "%s is %lld, need at least 1", key, (long long)value);
}

int gossip_check_share(const char *key, double value, struct err *e)
{
    if (value >= 0 && value <= 1)
        return 0;
    return err_set(e, ERR_RANGE, "%s is %g, need 0 to 1", key, value);
}

int gossip_check_bound(const char *key, double value, struct err *e)
{
    if (value >= 0)
        return 0;
    return err_set(e, ERR_RANGE, "%s is %g, need at least 0", key, value);
}

int gossip_check_period(const struct gossip_settings *s, const struct gossip_setup *setup, struct err *e)
{
    (void)setup;
    return gossip_check_count("period", s->period, e);
}

int gossip_check_cap(const struct gossip_settings *s, struct err *e)
{
    int rc = gossip_check_count("cap", s->cap, e);
    if (rc || s->period <= s->cap)
        return rc;
    return err_set(e, ERR_RANGE, "period is %lld, need at most the cap, %lld", (long long)s->period,
                   (long long)s->cap);
}

int gossip_check_switch(const struct gossip_settings *s, const struct gossip_setup *setup, struct err *e)
{
    int rc = gossip_check_period(s, setup, e);
    return rc ? rc : gossip_check_share("switch_frac", s->switch_frac, e);
}
