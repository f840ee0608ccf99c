/*
 * NICTEST.COM, the story: read the kernel into memory that DOS has given us, look at everything
 * that could be in the way, and only then take the machine.  Until that point a refusal leaves DOS
 * as it was, RAM disks and disk caches above 1 MB included.
 */
#include "boot/dos/dos.h"
#include "boot/floppy/a20.h"
#include "boot/floppy/handover.h"
#include "boot/floppy/image.h"
#include "boot/floppy/keyboard.h"
#include "boot/floppy/machine.h"
#include "boot/floppy/screen.h"
#include "boot/floppy/survey.h"

enum { MB = 1 << 20, SEGMENT = 1 << 16, PARAGRAPH = 16, ENVIRONMENT_MAX = 1 << 15 };
enum { PATH_MAX = 128, PIECE = 8 * 1024 };

static const char kernel_name[] = "NICTEST.ELF";

static struct survey memory;
static char options[TAIL_MAX + 1];
static char path[PATH_MAX + sizeof kernel_name];
static uint8_t piece[PIECE];

_Noreturn void dos_main(void);

/* ---- the command line ---- */

static bool asks_for_help(const char *at)
{
    while (*at == ' ') {
        at++;
    }
    return at[0] == '/' && (at[1] == '?' || at[1] == 'h' || at[1] == 'H');
}

static void read_options(void)
{
    uint8_t length;

    memory_read(&length, memory_address((const void *)(uintptr_t)PREFIX_TAIL), sizeof length);
    length = length > TAIL_MAX ? TAIL_MAX : length;
    memory_read(options, memory_address((const void *)(uintptr_t)(PREFIX_TAIL + 1)), length);
    options[length] = '\0';
    for (char *at = options; *at != '\0'; at++) {
        if (*at == '\r') {
            *at = '\0';
            break;
        }
    }
    if (asks_for_help(options)) {
        fail_about("usage", "NICTEST [OPTION ...], for instance NICTEST ip=10.0.0.86/24 irq=poll\n"
                            "The options are in README.MD. Nothing leads back to DOS.");
    }
}

/* ---- the kernel's file ---- */

static char next(uint32_t *at)
{
    char c;

    memory_read(&c, (*at)++, sizeof c);
    return c;
}

/* Behind the variables stand a count and the path that DOS found us by: the kernel is beside us. */
static void make_path(void)
{
    uint32_t at = (uint32_t)dos_prefix16(PREFIX_ENVIRONMENT) * PARAGRAPH,
             end = at + ENVIRONMENT_MAX;
    unsigned length = 0, name_at = 0;

    while (at < end && next(&at) != '\0') {
        while (at < end && next(&at) != '\0') {
        }
    }
    at += sizeof(uint16_t);
    for (char c; length < PATH_MAX && (c = next(&at)) != '\0';) {
        path[length++] = c;
        name_at = c == '\\' || c == ':' ? length : name_at;
    }
    for (unsigned i = 0; i < sizeof kernel_name; i++) {
        path[name_at + i] = kernel_name[i];
    }
}

/* The whole file to `to`; its size. */
static uint32_t read_kernel(uint32_t to, uint32_t end)
{
    uint32_t bytes = 0;
    unsigned handle;
    int got;

    make_path();
    if (!dos_open(path, &handle) && !dos_open(kernel_name, &handle)) {
        fail_about(path, "not found");
    }
    while ((got = dos_read(handle, piece, PIECE)) > 0) {
        if (bytes + (uint32_t)got > end - to) {
            fail_about(kernel_name, "too little memory free below 640 KB to read it");
        }
        memory_copy(to + bytes, memory_address(piece), (uint32_t)got);
        bytes += (uint32_t)got;
    }
    if (got < 0) {
        fail_about(kernel_name, "disk read error");
    }
    return bytes;
}

/* ---- memory above 1 MB ---- */

enum { CMOS_INDEX = 0x70, CMOS_DATA = 0x71, CMOS_UPPER_LOW = 0x30, CMOS_UPPER_HIGH = 0x31 };

static uint8_t cmos(uint8_t index)
{
    port_out(CMOS_INDEX, index);
    return port_in(CMOS_DATA);
}

/* HIMEM.SYS lets INT 15h AH=88h say 0, as it has taken all; the BIOS's own count is in the CMOS. */
static uint32_t upper_end(void)
{
    survey_memory(&memory);
    if (memory.regions == 0 && memory.upper_kb == 0) {
        memory.upper_kb = (uint32_t)cmos(CMOS_UPPER_HIGH) << 8 | cmos(CMOS_UPPER_LOW);
    }
    uint32_t most = UINT32_MAX / 1024 - MB / 1024;
    return MB + (memory.upper_kb < most ? memory.upper_kb : most) * 1024;
}

/* ---- taking over ---- */

enum { VIDEO = 0x10, GET_MODE = 0x0F00, SET_MODE = 0x0000 };
enum { MODE_COLOUR = 3, MODE_MONO = 7 };
enum { FDC_OUTPUT = 0x3F2, FDC_NO_RESET = 0x04, FDC_DMA_IRQ = 0x08 };

/* Whatever DOS has shown last: a text mode that the kernel knows. */
static void set_text_mode(void)
{
    struct bios_regs r = {.eax = GET_MODE};

    bios_call(&r, VIDEO);
    uint8_t mode = r.eax & 0x7F;
    if (mode > MODE_COLOUR && mode != MODE_MONO) {
        r = (struct bios_regs){.eax = SET_MODE | MODE_COLOUR};
        bios_call(&r, VIDEO);
    }
}

_Noreturn void dos_main(void)
{
    struct loader loader = {"NicTest86 DOS", clock_ticks(), NO_DRIVE};
    uint32_t file = memory_address((const void *)SEGMENT);
    uint32_t file_end = (uint32_t)dos_prefix16(PREFIX_MEMORY_END) * PARAGRAPH;

    read_options();
    say("NicTest86 " NICTEST_VERSION "\n");
    uint32_t bytes = file_end > file ? read_kernel(file, file_end) : 0;
    if (bytes == 0) {
        fail_about(kernel_name, "too little memory free below 640 KB to read it");
    }
    uint32_t end = upper_end();
    image_check(kernel_name, end, file, bytes);
    dos_flush();
    set_text_mode();
    if (!a20_open()) { /* last: a disk cache's writing lets HIMEM close it */
        fail("A20 cannot be enabled");
    }

    /* From here on there is no DOS to return to. */
    port_out(FDC_OUTPUT, FDC_NO_RESET | FDC_DMA_IRQ); /* the motor off */
    image_begin(kernel_name, end);
    image_take(0, file, bytes);
    hand_over(image_end(bytes), &loader, &memory, options, "");
}
