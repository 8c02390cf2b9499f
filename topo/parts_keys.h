/** @file The maps of a parts file as written, and their key tables; only parts.c reads them. */
#ifndef TOPO_PARTS_KEYS_H
#define TOPO_PARTS_KEYS_H

#include "topo/parts.h"

/** By enum topo_part_kind. */
extern const char *const topo_part_kind_names[N_PART_KINDS + 1];

/** Highest price of a piece or of a GB/s [USD]: beyond any; it only stops nonsense. */
#define TOPO_MAX_USD 1e9

/* Numbers are SI once schema_read() has scaled them; words are indices, -1 = absent. */

struct parts_conf {
    const char *name, *source, *date;
    int32_t grade, counting;
    double nic_port_Bps;
    yaml_id rates, catalogue, build;
};

struct rate_conf {
    const char *tier, *source, *date;
    int32_t grade;
    yaml_id link, port, nic;
};

struct part_conf {
    const char *name, *source, *date;
    int32_t kind, grade, band_grade, watt_grade;
    int64_t year, ports;
    double bw_Bps, watt, lat_s, lat_s_per_m;
    yaml_id usd;
};

struct recipe_conf {
    const char *tier, *nic, *sw, *end_link, *up_link;
    double taper;
    int64_t rails;
};

#endif
