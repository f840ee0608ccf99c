/*
 * Fuzz target: what lies on the floppy.  The first byte chooses the door.
 *
 * Even: the text of NICTEST.CFG: the loader's line must mean to the kernel what the text does.
 * Odd: pieces of disk (place, length, bytes) over a good one: stage 2 ends, by entering a kernel or
 * with a line, and touches no memory but its own and the kernel's.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "boot/floppy/config.h"
#include "kernel/options.h"
#include "tests/host/floppy_rig.h"
#include "tests/host/sim/firmware.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Behind the image name the first word is nothing special any more. */
static char line[16 + CONFIG_MAX] = "nictest.elf ";
enum { NAME_BYTES = 12, TEXT_MAX = 500 };

static void report(const char *word, const char *why)
{
    if (word == NULL || why == NULL || why[0] == '\0') {
        abort();
    }
}

static void text_door(const uint8_t *data, size_t size)
{
    static struct options from_text, from_line;
    static struct config c;
    char text[TEXT_MAX];
    size_t n = 0;

    config_begin(&c);
    for (size_t i = 0; i < size && n < sizeof text; i++) {
        if (data[i] != '\r' && data[i] != 0xEF) { /* the kernel knows no byte order mark */
            text[n] = (char)data[i];
            config_take(&c, text[n++]);
        }
    }
    config_end(&c);
    if (c.cut || c.length != strlen(c.line)) {
        abort();
    }
    memcpy(line + NAME_BYTES, c.line, c.length + 1);
    memset(&from_text, 0, sizeof from_text);
    memset(&from_line, 0, sizeof from_line);
    options_default(&from_text);
    options_default(&from_line);
    options_parse_file(&from_text, text, n, report);
    options_parse(&from_line, line, report);
    if (memcmp(&from_text, &from_line, sizeof from_text) != 0) {
        abort();
    }
}

static void disk_door(const uint8_t *data, size_t size)
{
    enum { HEAD = 4 };

    firmware_reset();
    rig_usual("ip=dhcp\r\n");
    while (size > HEAD) {
        /* Mostly where it matters: boot sector, FAT, directory and the kernel's first sector. */
        static const unsigned places[] = {0, 18 * 512, 36 * 512, 48 * 512};
        size_t at = places[data[0] % 4] + (data[1] | (size_t)data[2] << 8) % 1024;
        size_t n = data[3] % 16u + 1;
        data += HEAD;
        size -= HEAD;
        n = n < size ? n : size;
        memcpy(pc.disk + at, data, n);
        data += n;
        size -= n;
    }
    firmware_boot();
    if (pc.end == FIRMWARE_RESTARTED || pc.text_bytes == 0) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    (data[0] % 2 == 0 ? text_door : disk_door)(data + 1, size - 1);
    return 0;
}
