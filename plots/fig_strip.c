#include "plots/fig.h"
int fig_strip(struct canvas *c, const struct rows *r, struct err *e){(void)c;(void)r;return err_set(e,ERR_PARSE,"x");}
