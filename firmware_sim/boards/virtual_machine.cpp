#include "firmware_sim/boards/virtual_machine.h"

namespace aflguard::sim {
namespace {

/// A comma ends a value in QEMU's options; two of them are one that does not.
std::string escaped(const std::filesystem::path& path) {
  std::string text;
  for (const char letter : path.string()) text += letter == ',' ? ",," : std::string(1, letter);
  return text;
}

void add(std::vector<std::string>& command, std::initializer_list<std::string> arguments) {
  command.insert(command.end(), arguments);
}

}  // namespace

std::vector<std::string> VirtualMachine::command() const {
  const bool pci = bus == MachineBus::kPci;
  const std::string suffix = pci ? "-pci" : "-device";
  std::vector<std::string> command = {kMachineProgram, "-M", "virt", "-cpu", "cortex-a72"};
  add(command, {"-smp", std::to_string(processors), "-m", std::to_string(megabytes)});
  add(command, {"-nodefaults", "-no-reboot", "-display", "none", "-monitor", "none"});
  add(command, {"-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console"});
  add(command, {"-kernel", kernel.string(), "-initrd", initial_disk.string(), "-append",
                "console=ttyAMA0 " + kernel_line});
  for (const MachineDisk& disk : disks) {
    // A machine finds its disks by their serial numbers: their order depends on the kernel.
    add(command, {"-drive", "if=none,id=" + disk.name + ",format=raw,file=" + escaped(disk.file) +
                                (disk.read_only ? ",readonly=on" : "")});
    add(command, {"-device", "virtio-blk" + suffix + ",drive=" + disk.name + ",serial=" + disk.name});
  }
  // A network card on PCI would bring a program to start from, which is in another Debian package.
  add(command, {"-netdev", "user,id=net", "-device",
                "virtio-net" + suffix + ",netdev=net" + (pci ? ",romfile=" : "")});
  add(command, {"-device", "virtio-rng" + suffix});
  return command;
}

}  // namespace aflguard::sim
