/**
 * @file What one NPU's part of a network costs, for studies of other kinds that name `network` and `parts`:
 * the bill of docs/model.md section 14, of whole parts where a catalogue builds them, over all NPUs.
 */
#ifndef KINDS_DESIGN_ASK_PORTS_H
#define KINDS_DESIGN_ASK_PORTS_H

#include "kinds/design/ask/point.h"

/** Of one NPU: all parts of the network, switches and cables between them too, over all NPUs. */
struct ports_share {
    double links; /**< at the NPU, of all dimensions; NaN: sold by the GB/s, or of a graph */
    double usd;   /**< typical */
    double watt;  /**< NaN: the power of some part is not known */
};

/**
 * The question about `network` and `parts` of a study of another kind: its other keys are let go.
 * @return 0; ERR_PARSE, ERR_RANGE with the place: no parts, a tier without a price, a dimension without a
 *         bandwidth. @p out is safe to free after failure.
 */
int ports_ask(struct design_point *out, const struct yaml_doc *doc, int32_t own_source, struct err *e);

/**
 * The cheapest whole design of the network's tiers in which an NPU has at least @p need_Bps, shape [n_dims],
 * positive: a bandwidth between two ports is bought as the upper one. What servers bring (a product) is taken
 * as it is. @p bill: the bill, to be freed; NULL: not asked for.
 * @return 0; ERR_RANGE: more than a product has, or what topo_build_bill() says; ERR_NOMEM.
 */
int ports_price(struct ports_share *out, struct topo_bill *bill, const struct design_point *s,
                const double *need_Bps, struct err *e);

#endif
