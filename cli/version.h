/** @file The version, in one place. */
#ifndef CLI_VERSION_H
#define CLI_VERSION_H

#define WEFT_VERSION "0.1.0"

#endif
