/*
 * For tests of kernel/time.c itself: the real header instead of the shadow.  Found first by -iquote.
 */
#include "../../../../kernel/time.h"
