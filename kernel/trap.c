/*
 * Exceptions, and vectors that are none: the end.  (Interrupt lines go to irq.c at once.)
 *
 * Sources: Intel 80386 Programmer's Reference Manual (1986), ch. 9.8 (exceptions).
 */
#include "kernel/trap.h"

#include <stdbool.h>
#include <stddef.h>

#include "kernel/console.h"
#include "kernel/cpu.h"
#include "kernel/events.h"
#include "kernel/irq.h"
#include "kernel/machine.h"
#include "kernel/options.h"
#include "kernel/pic.h"
#include "kernel/print.h"
#include "kernel/record.h"
#include "kernel/version.h"

enum { STATUS_PANIC = 3, WHERE_MAX = 160, CALLERS_SHOWN = 8, STACK_WORDS_LOOKED_AT = 256 };
enum { LEVELS = 2 }; /* of a panic within a panic; then not even a key is looked for */

extern const char __image_start[], __text_end[]; /* linker.ld */
extern const char boot_stack_bottom[], boot_stack_top[];

static const char *const exception_names[] = {
    [0] = "divide error",
    [1] = "debug exception",
    [2] = "non-maskable interrupt (memory parity or bus error)",
    [3] = "breakpoint",
    [4] = "overflow",
    [5] = "bound range exceeded",
    [6] = "invalid opcode",
    [7] = "coprocessor not available",
    [8] = "double fault",
    [9] = "coprocessor segment overrun",
    [10] = "invalid TSS",
    [11] = "segment not present",
    [12] = "stack fault",
    [13] = "general protection fault",
    [14] = "page fault",
    [16] = "coprocessor error",
    [17] = "alignment check",
    [18] = "machine check",
};

static const char *exception_name(uint32_t vector)
{
    unsigned known = sizeof exception_names / sizeof exception_names[0];
    const char *name = vector < known ? exception_names[vector] : NULL;
    return name != NULL ? name : "unexpected vector";
}

/* ---- the panic screen ---- */

static void print_registers(const struct trap_frame *f, uint32_t esp)
{
    kprintf("eax %08x  ebx %08x  ecx %08x  edx %08x\n", (unsigned)f->eax, (unsigned)f->ebx,
            (unsigned)f->ecx, (unsigned)f->edx);
    kprintf("esi %08x  edi %08x  ebp %08x  esp %08x\n", (unsigned)f->esi, (unsigned)f->edi,
            (unsigned)f->ebp, (unsigned)esp);
    kprintf("eip %08x  cs %04x  eflags %08x  vector %u  error %x\n", (unsigned)f->eip,
            (unsigned)f->cs, (unsigned)f->eflags, (unsigned)f->vector, (unsigned)f->error);
}

/* Words on the stack that point into code: the callers, and some that only look like it. */
static void print_callers(uint32_t esp)
{
    unsigned shown = 0;
    const uint32_t *word = (const uint32_t *)(uintptr_t)(esp & ~UINT32_C(3));
    const uint32_t *top = (const uint32_t *)(uintptr_t)boot_stack_top;
    if ((uintptr_t)word < (uintptr_t)boot_stack_bottom) {
        kprintf("stack overflow\n");
        return;
    }
    kprintf("stack");
    for (unsigned i = 0; i < STACK_WORDS_LOOKED_AT && word < top; i++, word++) {
        if (*word >= (uintptr_t)__image_start && *word < (uintptr_t)__text_end) {
            kprintf(" %x", (unsigned)*word);
            if (++shown == CALLERS_SHOWN) {
                break;
            }
        }
    }
    kprintf("\n");
}

static void print_irqs(void)
{
    kprintf("irqs");
    for (int line = 0; line < IRQ_LINES; line++) {
        if (irq_count(line) != 0) {
            kprintf(" %d:%u", line, irq_count(line));
        }
    }
    kprintf(", spurious %u\n", irq_spurious());
}

static void build_id(char to[static 2 * BUILD_ID_SHOWN + 1])
{
    for (unsigned i = 0; i < BUILD_ID_SHOWN; i++) {
        format(to + 2 * i, 3, "%02x", __build_id_note[BUILD_ID_OFFSET + i]);
    }
}

static void panic_record(const char *where, const struct trap_frame *f, uint32_t esp,
                         const char *build)
{
    record_begin("panic");
    record_str("where", where);
    if (f != NULL) {
        record_int("vector", f->vector);
        record_int("error", f->error);
        record_int("eip", f->eip);
        record_int("esp", esp);
        record_int("eax", f->eax);
        record_int("ebx", f->ebx);
        record_int("ecx", f->ecx);
        record_int("edx", f->edx);
    } else {
        record_null("vector");
        record_null("eip");
    }
    record_str("build", build);
    record_end();
}

static void show(const char *where, const struct trap_frame *f, uint32_t esp)
{
    char build[2 * BUILD_ID_SHOWN + 1];
    build_id(build);
    console_fresh_line();
    kprintf_colour(COLOUR_BAD, "PANIC: %s\n", where);
    kprintf("NicTest86 %s, build %s\n", NICTEST_VERSION, build);
    if (f != NULL) {
        print_registers(f, esp);
    }
    print_callers(esp);
    print_irqs();
    kprintf("last events:\n");
    events_print();
    panic_record(where, f, esp, build);
}

/*
 * `f` is null in a panic of our own making; `esp` is where the callers' return addresses begin.
 * The code that shows a panic can itself be what is broken: each level does less.
 */
static _Noreturn void die(const char *where, const struct trap_frame *f, uint32_t esp)
{
    static unsigned level;
    cpu_cli();
    level++;
    if (level > LEVELS) {
        cpu_halt();
    }
    if (level == 1) {
        console_panic_mode();
        show(where, f, esp);
        if (options.exit) {
            machine_quit(STATUS_PANIC);
        }
        machine_run_exit_hooks();
    } else {
        kprintf("\nPANIC within a panic: %s, eip %x\n", where, f != NULL ? (unsigned)f->eip : 0);
    }
    if (options.exit) {
        machine_stop(STATUS_PANIC);
    }
    machine_halt();
}

_Noreturn void panic(const char *fmt, ...)
{
    char where[WHERE_MAX];
    va_list args;
    va_start(args, fmt);
    vformat(where, sizeof where, fmt, args);
    va_end(args);
    die(where, NULL, (uint32_t)(uintptr_t)__builtin_frame_address(0));
}

void trap_dispatch(struct trap_frame *frame)
{
    die(exception_name(frame->vector), frame, (uint32_t)(uintptr_t)(frame + 1));
}
