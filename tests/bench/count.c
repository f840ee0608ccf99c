/*
 * A plugin for QEMU's code generator (qemu-plugin interface, version 1): how often each instruction
 * of the kernel was executed between two places.
 *
 *     -plugin ./count.so,base=ADDRESS,size=BYTES,start=ADDRESS,end=ADDRESS,out=FILE
 *
 * Counting begins when `start` is first executed and ends when `end` is next; then FILE is written,
 * one 64-bit count for each byte of base..base+size, that of the instruction beginning there.  Time
 * halted executes nothing.  Each iteration of a `rep` counts, as it does for -icount.
 *
 * Distributions do not package the interface's header; these are the declarations used, from the
 * interface's description (QEMU documentation, "TCG plugins").
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info;

enum { PLUGIN_INTERFACE = 1, NO_REGISTERS = 0, INLINE_ADD = 0 };

typedef void (*tb_callback)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*exec_callback)(unsigned cpu, void *data);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, tb_callback callback);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, exec_callback callback,
                                            int flags, void *data);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn, int op,
                                                void *counter, uint64_t amount);
int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv);

extern int qemu_plugin_version;
int qemu_plugin_version = PLUGIN_INTERFACE;

static uint64_t base, size, start_at, end_at;
static const char *file;
static uint64_t *counts, *before;
static enum { WAITING, COUNTING, DONE } phase;

static void on_start(unsigned cpu, void *data)
{
    (void)cpu;
    (void)data;
    if (phase == WAITING) {
        memcpy(before, counts, size * sizeof *counts);
        phase = COUNTING;
    }
}

static void on_end(unsigned cpu, void *data)
{
    FILE *out;

    (void)cpu;
    (void)data;
    if (phase != COUNTING) {
        return;
    }
    phase = DONE;
    for (uint64_t i = 0; i < size; i++) {
        before[i] = counts[i] - before[i];
    }
    out = fopen(file, "wb");
    if (out == NULL || fwrite(before, sizeof *before, size, out) != size || fclose(out) != 0) {
        perror(file);
        exit(EXIT_FAILURE);
    }
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        uint64_t at = qemu_plugin_insn_vaddr(insn);

        if (at == start_at) {
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_start, NO_REGISTERS, NULL);
        } else if (at == end_at) {
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_end, NO_REGISTERS, NULL);
        }
        if (at - base < size) {
            qemu_plugin_register_vcpu_insn_exec_inline(insn, INLINE_ADD, &counts[at - base], 1);
        }
    }
}

static bool take(const char *word, const char *name, uint64_t *value)
{
    size_t n = strlen(name);

    if (strncmp(word, name, n) != 0 || word[n] != '=') {
        return false;
    }
    *value = strtoull(word + n + 1, NULL, 0);
    return true;
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "out=", 4) == 0) {
            file = strdup(argv[i] + 4);
        } else if (!take(argv[i], "base", &base) && !take(argv[i], "size", &size) &&
                   !take(argv[i], "start", &start_at) && !take(argv[i], "end", &end_at)) {
            fprintf(stderr, "count: unknown word %s\n", argv[i]);
            return -1;
        }
    }
    counts = calloc(size + 1, sizeof *counts);
    before = calloc(size + 1, sizeof *before);
    if (file == NULL || size == 0 || counts == NULL || before == NULL) {
        fprintf(stderr, "count: base, size, start, end and out are needed\n");
        return -1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    return 0;
}
