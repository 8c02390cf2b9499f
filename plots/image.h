/** @file Is an image that another program wrote whole? */
#ifndef PLOTS_IMAGE_H
#define PLOTS_IMAGE_H

#include "base/text.h"

/**
 * NULL where the PDF or PNG is whole; else what is wrong with it. A whole one has every byte of its frame:
 * every object of a PDF where its table says, every chunk of a PNG by its checksum. O(n).
 */
const char *image_fault(const struct text *image);

#endif
