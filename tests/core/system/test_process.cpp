#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "core/system/atomic_file.h"
#include "core/system/file_descriptor.h"
#include "core/system/process.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace std::chrono_literals;

namespace {

constexpr auto kProcessWait = 60s;

Process started(const ProcessOptions& options) {
  auto process = Process::start(options);
  ASSERT_OK(process);
  return std::move(*process);
}

ProcessEnd end_of(std::vector<std::string> arguments) {
  return started({.arguments = std::move(arguments)}).wait();
}

/// A program whose standard output comes here.
struct Heard {
  explicit Heard(ProcessOptions options) : process(start(std::move(options))) {}
  Process start(ProcessOptions options) {
    auto pipe = make_pipe();
    ASSERT_OK(pipe);
    options.output = pipe->write_end.get();
    output = std::move(pipe->read_end);
    return started(options);
  }
  /// Up to the end of the line.
  std::string line() const {
    std::string text;
    std::byte letter{};
    while (read_exactly(output.get(), std::span(&letter, 1)) && letter != std::byte{'\n'})
      text += static_cast<char>(letter);
    return text;
  }
  /// Until nobody has the other end open any more.
  std::string rest() const {
    std::string text;
    std::byte letter{};
    while (read_exactly(output.get(), std::span(&letter, 1))) text += static_cast<char>(letter);
    return text;
  }
  FileDescriptor output;
  Process process;
};

}  // namespace

TEST("A program's end is its exit code, or the signal that ended it") {
  TEST_ASSERT_TRUE(end_of({"true"}) == (ProcessEnd{0, 0}));
  TEST_ASSERT_TRUE(end_of({"sh", "-c", "exit 7"}) == (ProcessEnd{7, 0}));
  const ProcessEnd killed = end_of({"sh", "-c", "kill -9 $$"});
  TEST_ASSERT_TRUE(killed == (ProcessEnd{0, SIGKILL}));
  TEST_ASSERT_EQUAL_INT(128 + SIGKILL, killed.shell_code());
}

TEST("A program that does not exist is not found, and neither is a folder") {
  const auto missing = Process::start({.arguments = {"aflguard-no-such-program"}});
  TEST_ASSERT_TRUE(!missing.ok() && missing.error().kind == ErrorKind::kNotFound);
  ASSERT_CONTAINS(missing.error().message, "cannot run aflguard-no-such-program: No such file");
  const auto nowhere = Process::start({.arguments = {"true"}, .folder = "/no/such/folder"});
  TEST_ASSERT_TRUE(!nowhere.ok() && nowhere.error().kind == ErrorKind::kNotFound);
  ASSERT_CONTAINS(nowhere.error().message, "cannot run true in /no/such/folder");
  const testing::TemporaryFolder folder;
  ASSERT_OK(write_file_atomically(folder / "text", "no program"));
  const auto refused = Process::start({.arguments = {(folder / "text").string()}});
  TEST_ASSERT_TRUE(!refused.ok() && refused.error().kind == ErrorKind::kIo);
}

TEST("A program gets its folder, its arguments as they are, and an empty input") {
  const testing::TemporaryFolder folder;
  const Heard heard({.arguments = {"sh", "-c", "pwd; cat; printf %s \"$1\"", "sh", "a b;$(c) *'\""},
                     .folder = folder.path()});
  TEST_ASSERT_EQUAL_STRING((folder.path().string() + "\na b;$(c) *'\"").c_str(), heard.rest().c_str());
}

TEST("A program gets this one's environment with the changes, and this one keeps its own") {
  ::setenv("AFLGUARD_TEST_CHANGED", "old", 1);
  ::setenv("AFLGUARD_TEST_KEPT", "kept", 1);
  const Heard heard(
      {.arguments = {"sh", "-c", "echo $AFLGUARD_TEST_CHANGED $AFLGUARD_TEST_KEPT $AFLGUARD_TEST_NEW"},
       .environment = {{"AFLGUARD_TEST_CHANGED", "new"}, {"AFLGUARD_TEST_NEW", "more"}}});
  TEST_ASSERT_EQUAL_STRING("new kept more\n", heard.rest().c_str());
  TEST_ASSERT_EQUAL_STRING("old", std::getenv("AFLGUARD_TEST_CHANGED"));
  TEST_ASSERT_NULL(std::getenv("AFLGUARD_TEST_NEW"));
}

TEST("A program gets its three standard files, and no other descriptor of this process") {
  const FileDescriptor leaking(::open("/dev/null", O_RDONLY));  // as a library without O_CLOEXEC would
  TEST_ASSERT_TRUE(leaking.get() > 2);
  const Heard heard({.arguments = {"ls", "/proc/self/fd"}});
  TEST_ASSERT_EQUAL_STRING("0\n1\n2\n3\n", heard.rest().c_str());  // 3 is the folder that ls reads
}

TEST("Each of a program's files goes where it is told to, in whatever order") {
  const testing::TemporaryFolder folder;
  ASSERT_OK(write_file_atomically(folder / "in", "question"));
  const FileDescriptor input(::open((folder / "in").c_str(), O_RDONLY | O_CLOEXEC));
  const auto error = open_log(folder / "error");
  ASSERT_OK(error);
  const Heard heard({.arguments = {"sh", "-c", "cat; echo answer; echo problem >&2"},
                     .input = input.get(),
                     .error = error->get()});
  TEST_ASSERT_EQUAL_STRING("questionanswer\n", heard.rest().c_str());
  TEST_ASSERT_EQUAL_STRING("problem\n", read_text_file(folder / "error").value().c_str());
  // This process's standard output becomes the program's standard error, though 1 is replaced before 2.
  const Heard crossed(
      {.arguments = {"sh", "-c", "echo answer; echo '(of a program)' >&2"}, .error = STDOUT_FILENO});
  TEST_ASSERT_EQUAL_STRING("answer\n", crossed.rest().c_str());
}

TEST("A program stands in the group and session that it shall") {
  const auto sleeps = [](ProcessGroup group) {
    return started({.arguments = {"sleep", "600"}, .group = group, .ends_with_us = true});
  };
  const Process shared = sleeps(ProcessGroup::kShared);
  TEST_ASSERT_EQUAL_INT(::getpgrp(), ::getpgid(shared.pid()));
  const Process own = sleeps(ProcessGroup::kOwn);
  TEST_ASSERT_EQUAL_INT(own.pid(), ::getpgid(own.pid()));
  TEST_ASSERT_EQUAL_INT(::getsid(0), ::getsid(own.pid()));
  const Process session = sleeps(ProcessGroup::kOwnSession);
  TEST_ASSERT_EQUAL_INT(session.pid(), ::getsid(session.pid()));
}

TEST("Waiting ends when the time is over, and running is told without waiting") {
  Process process = started({.arguments = {"sleep", "600"}, .ends_with_us = true});
  TEST_ASSERT_TRUE(process.running());
  TEST_ASSERT_FALSE(process.wait_for(20ms).has_value());
  TEST_ASSERT_FALSE(process.ended().has_value());
  process.signal(SIGTERM);
  const auto end = process.wait_for(kProcessWait);
  TEST_ASSERT_TRUE(end.has_value() && *end == (ProcessEnd{0, SIGTERM}));
  TEST_ASSERT_FALSE(process.running());
  TEST_ASSERT_TRUE(process.pid() < 0);
  TEST_ASSERT_TRUE(process.wait() == (ProcessEnd{0, SIGTERM}));  // still known
  process.signal(SIGTERM);                                       // nothing happens
}

TEST("What does not stop in time is killed, with all that it started in its group") {
  Heard heard({.arguments = {"sh", "-c", "trap '' TERM; sleep 600 & echo ready; wait; wait"},
               .group = ProcessGroup::kOwn,
               .ends_with_us = true});
  TEST_ASSERT_EQUAL_STRING("ready", heard.line().c_str());
  TEST_ASSERT_TRUE(heard.process.stop(20ms) == (ProcessEnd{0, SIGKILL}));
  TEST_ASSERT_EQUAL_STRING("", heard.rest().c_str());  // ends only when nobody holds the other end
}

TEST("What stops in time is not killed") {
  Heard heard({.arguments = {"sh", "-c", "trap 'exit 3' TERM; echo ready; while :; do sleep 0.01; done"}});
  TEST_ASSERT_EQUAL_STRING("ready", heard.line().c_str());
  TEST_ASSERT_TRUE(heard.process.stop(kProcessWait) == (ProcessEnd{3, 0}));
}

TEST("A program ends with its object, unless that lets it go") {
  pid_t pid = -1;
  {
    const Process process = started({.arguments = {"sleep", "600"}});
    pid = process.pid();
    TEST_ASSERT_EQUAL_INT(0, ::kill(pid, 0));
  }
  TEST_ASSERT_EQUAL_INT(-1, ::kill(pid, 0));
  auto pipe = make_pipe();
  ASSERT_OK(pipe);
  Heard let_go({.arguments = {"sh", "-c", "read line; echo $line"}, .input = pipe->read_end.get()});
  {
    Process process = std::move(let_go.process);
    pid = process.release();
  }
  TEST_ASSERT_TRUE(write_all(pipe->write_end.get(), "still here\n"));
  TEST_ASSERT_EQUAL_STRING("still here\n", let_go.rest().c_str());
  TEST_ASSERT_EQUAL_INT(pid, ::waitpid(pid, nullptr, 0));
}

TEST("A program that shall end with us ends with the thread that started it") {
  auto pipe = make_pipe();
  ASSERT_OK(pipe);
  std::optional<Process> process;
  std::thread([&] {
    process.emplace(
        started({.arguments = {"sleep", "600"}, .output = pipe->write_end.get(), .ends_with_us = true}));
  }).join();
  TEST_ASSERT_TRUE(process->wait() == (ProcessEnd{0, SIGKILL}));
}

TEST("A program begins only after what has to come before it, and not at all when that fails") {
  const testing::TemporaryFolder folder;
  pid_t seen = -1;
  Process process =
      started({.arguments = {"touch", "begun"}, .folder = folder.path(), .before_start = [&](pid_t pid) {
                 seen = pid;
                 TEST_ASSERT_FALSE(std::filesystem::exists(folder / "begun"));
                 return Status();
               }});
  TEST_ASSERT_EQUAL_INT(process.pid(), seen);
  TEST_ASSERT_TRUE(process.wait() == ProcessEnd{});
  TEST_ASSERT_TRUE(std::filesystem::remove(folder / "begun"));
  const auto refused = Process::start(
      {.arguments = {"touch", "begun"}, .folder = folder.path(), .before_start = [&](pid_t pid) -> Status {
         seen = pid;
         return io_error("no space");
       }});
  TEST_ASSERT_FALSE(refused.ok());
  TEST_ASSERT_EQUAL_STRING("no space", refused.error().message.c_str());
  TEST_ASSERT_EQUAL_INT(-1, ::kill(seen, 0));
  TEST_ASSERT_FALSE(std::filesystem::exists(folder / "begun"));
}

TEST("Signals that this process ignores or handles come to the program as after any exec") {
  struct sigaction before {};
  struct sigaction handled {};
  handled.sa_handler = [](int) {};
  ::sigaction(SIGUSR1, &handled, &before);
  TEST_ASSERT_TRUE(end_of({"sh", "-c", "kill -USR1 $$; exit 0"}) == (ProcessEnd{0, SIGUSR1}));
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  ::sigaction(SIGUSR1, &ignored, nullptr);
  TEST_ASSERT_TRUE(end_of({"sh", "-c", "kill -USR1 $$; exit 0"}) == ProcessEnd{});
  ::sigaction(SIGUSR1, &before, nullptr);
}
