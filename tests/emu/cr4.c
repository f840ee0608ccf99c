/*
 * A plugin for QEMU's code generator (interface version 1): tells every access to CR4, a register
 * that no 386 has, though QEMU's processors do.
 *
 *     -plugin ./cr4.so,out=FILE
 *
 * FILE gets a line with the address of each executed move to or from CR4, at once.  As for
 * tests/bench/count.c, the declarations are from the interface's description.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info;

enum { PLUGIN_INTERFACE = 1, NO_REGISTERS = 0 };

typedef void (*tb_callback)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*exec_callback)(unsigned cpu, void *data);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, tb_callback callback);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, exec_callback callback,
                                            int flags, void *data);
int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv);

extern int qemu_plugin_version;
int qemu_plugin_version = PLUGIN_INTERFACE;

static FILE *file;

static void on_access(unsigned cpu, void *address)
{
    (void)cpu;
    fprintf(file, "%#" PRIxPTR "\n", (uintptr_t)address);
    fflush(file);
}

/* 0F 20 and 0F 22, the register's number in bits 3-5 of the next byte. */
static int moves_cr4(const struct qemu_plugin_insn *insn)
{
    const uint8_t *code = qemu_plugin_insn_data(insn);
    return qemu_plugin_insn_size(insn) == 3 && code[0] == 0x0F && (code[1] & ~2) == 0x20 &&
           (code[2] >> 3 & 7) == 4;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        if (moves_cr4(insn)) {
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_access, NO_REGISTERS,
                                                   (void *)(uintptr_t)qemu_plugin_insn_vaddr(insn));
        }
    }
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
    (void)info;
    if (argc != 1 || strncmp(argv[0], "out=", 4) != 0 || (file = fopen(argv[0] + 4, "w")) == NULL) {
        return -1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    return 0;
}
