#include <algorithm>

#include "core/system/atomic_file.h"
#include "core/system/child_process.h"
#include "core/system/programs.h"
#include "firmware_sim/boards/process_board.h"
#include "firmware_sim/boards/virtual_board.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::sim;
using testing::message_of;
namespace fs = std::filesystem;

namespace {

Board virtual_board(const std::string& attack) {
  Board made;
  made.name = "sim-04";
  made.attack = attack;
  return made;
}

bool has(const std::vector<std::string>& command, const std::string& argument) {
  return std::find(command.begin(), command.end(), argument) != command.end();
}

}  // namespace

TEST("A translated board is one process with its own configuration; a malicious one gets its attack") {
  const BoardFolder folder{"/fleet/sim/boards/sim-04"};
  const ProcessBoard kind = ProcessBoard::translated({"/programs"});
  const auto honest = kind.build(virtual_board(""), folder);
  ASSERT_OK(honest);
  TEST_ASSERT_TRUE(has(*honest, "/programs/aflguard-client"));
  TEST_ASSERT_EQUAL_STRING("/fleet/sim/boards/sim-04/card/client.toml", honest->back().c_str());
  TEST_ASSERT_EQUAL_STRING("/fleet/sim/boards/sim-04/state", kind.state_folder(folder).c_str());
  const auto malicious = kind.build(virtual_board("gd"), folder);
  ASSERT_OK(malicious);
  TEST_ASSERT_TRUE(has(*malicious, "/programs/aflguard-byzantine-client"));
  TEST_ASSERT_EQUAL_STRING("gd", malicious->back().c_str());
}

TEST("A machine without the boards' programs is told how to get them") {
  const testing::TemporaryFolder folder;
  const ProcessBoard native = ProcessBoard::native({folder.path()});
  ASSERT_CONTAINS(message_of(native.check_machine(virtual_board(""))), "/aflguard-client");
  ASSERT_CONTAINS(message_of(native.check_machine(virtual_board("gd"))), "/aflguard-byzantine-client");
  const std::string virtual_problem =
      message_of(VirtualBoard(BoardKit{folder.path()}).check_machine(virtual_board("")));
  TEST_ASSERT_TRUE_MESSAGE(virtual_problem.find("apt-get install") != std::string::npos ||
                               virtual_problem.find("./run boards") != std::string::npos,
                           virtual_problem.c_str());
}

TEST("A virtual board has three disks of which it can write one, and knows its name and its attack") {
  const VirtualBoard kind(BoardKit{"/kit"});
  const auto command = kind.command(virtual_board("gd"), {"/a,b"});
  TEST_ASSERT_TRUE(has(command, "if=none,id=root,format=raw,file=/kit/root.img,readonly=on"));
  TEST_ASSERT_TRUE(has(command, "if=none,id=card,format=raw,file=/a,,b/card.img,readonly=on"));
  TEST_ASSERT_TRUE(has(command, "if=none,id=state,format=raw,file=/a,,b/state.img"));
  TEST_ASSERT_TRUE(has(command, "virtio-blk-device,drive=state,serial=state"));
  const auto append = std::find(command.begin(), command.end(), "-append");
  TEST_ASSERT_TRUE(append != command.end());
  ASSERT_CONTAINS(*(append + 1), "aflguard.name=sim-04 aflguard.attack=gd");
  const auto honest = kind.command(virtual_board(""), {"/a"});
  TEST_ASSERT_TRUE((*std::find_if(honest.begin(), honest.end(), [](const std::string& argument) {
                     return argument.starts_with("console=");
                   })).find("attack") == std::string::npos);
}

TEST("Disks are made of a folder without mounting; the card changes with it, the state stays") {
  if (find_program("mke2fs").empty() || find_program("debugfs").empty())
    TEST_IGNORE_MESSAGE("e2fsprogs is not installed");
  const testing::TemporaryFolder folder;
  const BoardFolder place{folder / "board"};
  fs::create_directories(place.card() / "model");
  ASSERT_OK(write_file_atomically(place.card() / "client.toml", "first\n"));
  const VirtualBoard kind(BoardKit{folder / "kit"});
  ASSERT_OK(kind.build(virtual_board(""), place));
  const auto read = [&](const fs::path& disk, const std::string& file) {
    return run_program({find_program("debugfs").string(), "-R", "cat " + file, disk.string()}, "/")->output;
  };
  ASSERT_CONTAINS(read(place.root / "card.img", "/client.toml"), "first");
  TEST_ASSERT_TRUE(fs::status(place.root / "card.img").permissions() == fs::perms(0600));  // it holds a key
  ASSERT_OK(write_file_atomically(folder / "spool", "kept\n"));
  const auto put =
      run_program({find_program("debugfs").string(), "-w", "-R",
                   "write " + (folder / "spool").string() + " spool", (place.root / "state.img").string()},
                  "/");
  ASSERT_OK(put);
  ASSERT_OK(write_file_atomically(place.card() / "client.toml", "second\n"));
  ASSERT_OK(kind.build(virtual_board(""), place));
  ASSERT_CONTAINS(read(place.root / "card.img", "/client.toml"), "second");
  ASSERT_CONTAINS(read(place.root / "state.img", "/spool"), "kept");
}
