#include <map>

#include "core/system/atomic_file.h"
#include "core/system/child_process.h"
#include "firmware_sim/image/image_plan.h"
#include "firmware_sim/image/image_resources.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::image;
namespace fs = std::filesystem;

namespace {

std::map<std::string, std::string> overlay() {
  std::map<std::string, std::string> files;
  for (const ImageFile& file : overlay_files()) files[file.path] = file.content;
  return files;
}

void assert_shell_reads(const std::string& name, const std::string& script) {
  const testing::TemporaryFolder folder;
  ASSERT_OK(write_file_atomically(folder / "script", script));
  const auto outcome = run_program({"sh", "-n", "script"}, folder.path());
  ASSERT_OK(outcome);
  TEST_ASSERT_EQUAL_INT_MESSAGE(0, outcome->exit_code, (name + ": " + outcome->output).c_str());
}

}  // namespace

TEST("Every file of the overlay is in the program, byte for byte, and scripts may be run") {
  const fs::path root = testing::source_folder() / "firmware_sim/image/overlay";
  const auto files = overlay();
  std::size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file()) continue;
    ++count;
    const std::string name = fs::relative(entry.path(), root).string();
    TEST_ASSERT_TRUE_MESSAGE(files.contains(name), name.c_str());
    TEST_ASSERT_TRUE_MESSAGE(read_text_file(entry.path()).value() == files.at(name), name.c_str());
  }
  TEST_ASSERT_EQUAL_size_t(files.size(), count);
  for (const ImageFile& file : overlay_files()) {
    TEST_ASSERT_TRUE_MESSAGE(file.executable == file.content.starts_with("#!"), file.path.c_str());
  }
}

TEST("A shell reads every script") {
  for (const ImageFile& file : overlay_files()) {
    if (file.executable) assert_shell_reads(file.path, file.content);
  }
  assert_shell_reads("in_namespace.sh", in_namespace_script());
  assert_shell_reads("make_base.sh", make_base_script());
  assert_shell_reads("make_root.sh", make_root_script());
  assert_shell_reads("native_tools.sh", native_tools_script());
}

TEST("The board looks for the labels that the image has, and units start what is there") {
  auto files = overlay();
  ASSERT_CONTAINS(files["etc/fstab"], std::string("LABEL=") + kRootLabel + " ");
  ASSERT_CONTAINS(files["etc/fstab"], std::string("LABEL=") + kBootLabel + " ");
  ASSERT_CONTAINS(files["etc/default/raspi-firmware"], std::string("ROOTPART=LABEL=") + kRootLabel + "\n");
  for (const auto& [name, content] : files) {
    const auto at = content.find("ExecStart=/usr/lib/aflguard-image/");
    if (at == std::string::npos) continue;
    const auto begin = at + std::string("ExecStart=/").size();
    const std::string program = content.substr(begin, content.find('\n', begin) - begin);
    TEST_ASSERT_TRUE_MESSAGE(files.contains(program), program.c_str());
  }
}

TEST("Nobody can log in with a password, and root cannot at all") {
  auto files = overlay();
  const std::string& ssh = files["etc/ssh/sshd_config.d/keys-only.conf"];
  ASSERT_CONTAINS(ssh, "PasswordAuthentication no\n");
  ASSERT_CONTAINS(ssh, "KbdInteractiveAuthentication no\n");
  ASSERT_CONTAINS(ssh, "PermitRootLogin no\n");
  const std::string script = make_root_script();
  ASSERT_CONTAINS(script, "usermod --password '*' root\n");
  ASSERT_CONTAINS(script, "--password '*' admin\n");
}
