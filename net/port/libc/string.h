/* lwIP includes this; ours is kernel/string.h. */
#include "kernel/string.h"
