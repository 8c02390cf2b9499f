/** @file Time that passes, for progress and for what says how long it took; never for results. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

/** Seconds since some moment, the same one as long as the program runs; never goes back. Thread-safe. */
double clock_now_s(void);

#endif
