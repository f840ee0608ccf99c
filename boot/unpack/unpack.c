/*
 * Unpack the kernel, or say in one line that it cannot be done: a floppy forgets bits.
 */
#include <stddef.h>
#include <stdint.h>

#include "boot/unpack/expand.h"
#include "boot/unpack/pc.h"

/* start.S */
extern const uint8_t payload[], payload_end[];

/* unpack.mk: the place of the kernel's text and data, and a variable in it (kernel/loader.h). */
extern uint8_t kernel_start[], kernel_data_end[];
extern uint32_t loader_unpack_ms;

void unpack_kernel(void);

void unpack_kernel(void)
{
    clock_begin();
    int status = expand(payload, (size_t)(payload_end - payload), kernel_start,
                        (size_t)(kernel_data_end - kernel_start), clock_step);
    if (status < 0) {
        pc_say("NicTest86 cannot start: its image is damaged, write the disk again\r\n");
        pc_halt();
    }
    loader_unpack_ms = clock_end_ms();
}
