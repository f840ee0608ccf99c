/*
 * For tests of kernel/time.c itself: the real header, not the shadow.  Found first by -iquote.
 */
#include "../../../../kernel/time.h"
