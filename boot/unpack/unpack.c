/*
 * Unpack the kernel, or say in one line that it cannot be done: a floppy forgets bits.
 */
#include <stddef.h>
#include <stdint.h>

#include "boot/unpack/inflate.h"
#include "boot/unpack/pc.h"

/* start.S and unpack.mk; the kernel's place is that of its text and data. */
extern const uint8_t payload[], payload_end[];
extern uint8_t kernel_start[], kernel_data_end[];

void unpack_kernel(void);

void unpack_kernel(void)
{
    clock_begin();
    int status = inflate_stream(payload, (size_t)(payload_end - payload), kernel_start,
                                (size_t)(kernel_data_end - kernel_start), clock_step);
    clock_end();
    if (status < 0) {
        pc_say("NicTest86 cannot start: its image is damaged, write the disk again\r\n");
        pc_halt();
    }
}
