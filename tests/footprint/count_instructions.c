// A plugin for QEMU: counts the instructions that a program executes, and writes their number into the file OUT.
//
//   qemu-aarch64 -plugin count_instructions.so,out=OUT PROGRAM...
//
// Debian packages no header for plugins, so what is used of their interface is declared here. QEMU_PLUGIN_API is the
// version of it that the QEMU at hand takes: 1 before QEMU 9, 2 from then on; what is used here is the same in both.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;  // instructions that are translated, and executed, as one
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           void (*translated)(qemu_plugin_id_t, struct qemu_plugin_tb*));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb* tb, void (*executed)(unsigned, void*), int flags,
                                          void* data);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*ended)(qemu_plugin_id_t, void*), void* data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* tb);

__attribute__((visibility("default"))) int qemu_plugin_version = QEMU_PLUGIN_API;

static uint64_t total;
static char out[4096];

static void executed(unsigned vcpu, void* instructions) {
  (void)vcpu;
  __atomic_fetch_add(&total, (uint64_t)(uintptr_t)instructions, __ATOMIC_RELAXED);  // threads run at the same time
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb* tb) {
  (void)id;
  qemu_plugin_register_vcpu_tb_exec_cb(tb, executed, 0, (void*)(uintptr_t)qemu_plugin_tb_n_insns(tb));
}

static void ended(qemu_plugin_id_t id, void* data) {
  (void)id, (void)data;
  FILE* file = fopen(out, "w");
  if (file == NULL) return;  // its reader finds it missing
  fprintf(file, "%" PRIu64 "\n", total);
  fclose(file);
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const void* machine, int count,
                                                               char** arguments) {
  (void)machine;
  if (count != 1 || strncmp(arguments[0], "out=", 4) != 0 || strlen(arguments[0] + 4) >= sizeof out) return -1;
  strcpy(out, arguments[0] + 4);
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_atexit_cb(id, ended, NULL);
  return 0;
}
