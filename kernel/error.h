/*
 * One error enum for the whole tree.  Functions that can fail return 0 or one of these negative
 * codes; callers pass the code up untouched, and the place that knows the reason logs one line.
 */
#ifndef KERNEL_ERROR_H
#define KERNEL_ERROR_H

enum error {
    OK = 0,
    E_NOT_FOUND = -1,   /* nothing there, or not the thing asked for           */
    E_TIMEOUT = -2,     /* a bounded wait ran out                              */
    E_INVALID = -3,     /* malformed input                                     */
    E_RANGE = -4,       /* well-formed, but outside what is allowed            */
    E_BUSY = -5,        /* in use by somebody else, or not possible right now  */
    E_NO_MEMORY = -6,   /* a fixed pool or the boot arena is exhausted         */
    E_HARDWARE = -7,    /* the device answered against its own datasheet       */
    E_UNSUPPORTED = -8, /* understood, but this machine or build cannot do it  */
};

/* A short English name for a code ("timed out"); never null.  In kernel/print.c. */
const char *error_name(int code);

#endif
