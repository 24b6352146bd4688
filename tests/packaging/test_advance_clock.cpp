// The script that keeps the clock of boards without a battery, with a real identity and a clock of the test's
// own. In virtual machines, with their real clock: ./run check packages and ./run check image.
#include <cstdlib>
#include <unistd.h>

#include "core/system/atomic_file.h"
#include "core/system/child_process.h"
#include "tests/support/programs.h"
#include "tests/support/test.h"

using namespace aflguard;
namespace fs = std::filesystem;

namespace {

/// Stands before the system's `date`: this machine's clock is not to be set.
constexpr std::string_view kDate = R"script(#!/bin/sh
clock=$(dirname "$0")/../clock
case "$*" in
  *-d*) exec /bin/date "$@" ;;
  "-u -s @"*) echo "${3#@}" >"$clock" ;;
  *) exec /bin/date -d "@$(cat "$clock")" "$@" ;;
esac
)script";

struct Board {
  testing::TemporaryFolder folder;
  long long begin = 0;  ///< of its certificate, in seconds since 1970
  long long end = 0;

  Board() {
    if (::geteuid() != 0) std::exit(77);  // it becomes the client's user
    for (const char* name : {"bin", "state", "run"}) fs::create_directories(folder / name);
    put_program("date", kDate);
    put_program("timedatectl", "#!/bin/sh\necho no\n");
    shell("aflguard fleet init fleet --name f && aflguard device add pi-1 --fleet fleet");
    const std::string identity =
        shell("aflguard-client --config fleet/devices/pi-1/client.toml --test-identity --json");
    const auto moment = [&](const std::string& word) {
      const std::size_t at = identity.find(word) + word.size();
      return std::stoll(shell("/bin/date +%s -d " + identity.substr(at, 20)));
    };
    begin = moment("\"not_before\":\"");
    end = moment("\"not_after\":\"");
  }
  void put_program(const std::string& name, std::string_view text) const {
    const fs::path file = folder / ("bin/" + name);
    ASSERT_OK(write_file_atomically(file, text));
    fs::permissions(file, fs::perms(0755));
  }
  [[nodiscard]] ProgramOutcome outcome_of(const std::string& script) const {
    const std::string bin = testing::programs_folder().string();
    auto outcome = run_program({"sh", "-c", "PATH=\"$PWD/bin:" + bin + ":$PATH\"; export PATH; " + script},
                               folder.path());
    ASSERT_OK(outcome);
    return *outcome;
  }
  std::string shell(const std::string& script) const {
    const auto outcome = outcome_of(script);
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, outcome.exit_code, outcome.output.c_str());
    return outcome.output;
  }
  [[nodiscard]] static std::string script_at(long long now) {
    return "echo " + std::to_string(now) + " >clock; sh '" + testing::source_folder().string() +
           "/packaging/board/advance-clock' fleet/devices/pi-1 state run root";
  }
  /// What the clock says after the script has run.
  [[nodiscard]] long long run_at(long long now) const {
    shell(script_at(now));
    return std::stoll(read_text_file(folder / "clock").value());
  }
  [[nodiscard]] long long boot_at(long long now) const {
    fs::remove(folder / "run/done");
    return run_at(now);
  }
  void remember(long long moment) const { shell("touch -d @" + std::to_string(moment) + " state/latest"); }
};

void expect(long long wanted, long long is) {
  TEST_ASSERT_EQUAL_INT64(wanted, is);
}

}  // namespace

TEST("A clock that starts before the certificate begins is put forward to its beginning, a right one stays") {
  const Board board;
  expect(board.begin, board.boot_at(0));
  TEST_ASSERT_TRUE(fs::exists(board.folder / "state/latest"));
  board.remember(board.begin + 1);
  expect(board.begin + 5, board.boot_at(board.begin + 5));
}

TEST("A clock that starts before what the board has seen goes on there; once per boot only") {
  const Board board;
  board.remember(board.begin + 86'400);
  expect(board.begin + 86'400, board.boot_at(1000));
  board.remember(board.begin + 86'400);
  // A time server has set the clock back meanwhile: the timer's run follows it.
  expect(board.begin + 600, board.run_at(board.begin + 600));
}

TEST("A moment beyond the certificate's end is not believed") {
  const Board board;
  board.remember(board.end + 10);
  expect(board.begin, board.boot_at(1000));
}

TEST("A clock that a time server has set is left alone") {
  const Board board;
  board.put_program("timedatectl", "#!/bin/sh\necho yes\n");
  expect(1000, board.boot_at(1000));
}

TEST("Without an identity that holds, the clock is left alone, and the reason is said") {
  const Board board;
  fs::remove(board.folder / "fleet/devices/pi-1/device.key");
  const auto outcome = board.outcome_of(Board::script_at(1));
  TEST_ASSERT_EQUAL_INT(1, outcome.exit_code);
  ASSERT_CONTAINS(outcome.output, "device.key");
  TEST_ASSERT_EQUAL_STRING("1\n", read_text_file(board.folder / "clock").value().c_str());
}
