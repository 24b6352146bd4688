#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <sys/types.h>

#include "core/base/result.h"
#include "core/system/command.h"

namespace aflguard::sim {

/// A process that outlives the program that started it, and what it is known by: the system gives the numbers
/// of processes that are gone to others, so the moment of its start and the machine's boot belong to it.
struct ProcessMark {
  pid_t pid = -1;
  std::uint64_t start_ticks = 0;  ///< since the boot
  std::string boot;

  friend bool operator==(const ProcessMark&, const ProcessMark&) = default;
};

/// The mark of a process that runs now. kNotFound when there is none of that number.
[[nodiscard]] Result<ProcessMark> mark_of(pid_t pid);

/// Starts a program that goes on when this one ends; its output is added to the log, its input is empty, and
/// it has its own session. It begins only after `record` has returned success: nothing runs that
/// no program knows of. kNotFound when there is no such program or folder.
[[nodiscard]] Result<ProcessMark> start_detached(const Command& command,
                                                 const std::function<Status(const ProcessMark&)>& record);

/// False once it has ended, also when its number has gone to another process.
[[nodiscard]] bool is_running(const ProcessMark& process);

/// Sends the signal to that very process, and waits until it is gone: kUnavailable when it is not after
/// `timeout`. Nothing happens when it is gone already. kIo when it may not be signalled.
[[nodiscard]] Status end_process(const ProcessMark& process, int signal, std::chrono::milliseconds timeout);

/// SIGTERM, and SIGKILL to what has not ended in time.
[[nodiscard]] Status stop_process(const ProcessMark& process, std::chrono::milliseconds timeout);

}  // namespace aflguard::sim
