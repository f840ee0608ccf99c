/*
 * The copy below 1 MB that real mode can reach.
 */
#include "kernel/realmode.h"

#include <stddef.h>
#include <stdint.h>

#include "kernel/string.h"

enum { LOAD_AT = 0x7C00 }; /* boot/realmode.S */

extern const char realmode_begin[], realmode_end[];
_Noreturn void realmode_jump(enum realmode_task task);

_Noreturn void realmode_leave(enum realmode_task task)
{
    memcpy((void *)(uintptr_t)LOAD_AT, realmode_begin, (size_t)(realmode_end - realmode_begin));
    realmode_jump(task);
}
