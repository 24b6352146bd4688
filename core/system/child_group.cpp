#include "core/system/child_group.h"

#include <csignal>
#include <fstream>

#include "core/base/fact_line.h"
#include "core/system/file_descriptor.h"

namespace aflguard {
namespace {

constexpr std::size_t kShownLines = 3;

std::string how_it_ended(const ProcessEnd& end) {
  if (end.signal != 0) return "was ended by signal " + std::to_string(end.signal);
  return "ended with code " + std::to_string(end.exit_code);
}

}  // namespace

Status ChildGroup::start(const std::string& name, const std::vector<std::string>& arguments,
                         const std::filesystem::path& folder, const std::filesystem::path& log) {
  TRY(const FileDescriptor output, open_log(log));
  auto process = Process::start({.arguments = arguments,
                                 .folder = folder,
                                 .output = output.get(),
                                 .error = output.get(),
                                 .group = ProcessGroup::kOwn,
                                 .ends_with_us = true});
  if (!process.ok()) return at(name, process.error());
  children_.push_back({name, log, std::move(*process)});
  return {};
}

Status ChildGroup::check_running() {
  for (Child& child : children_) {
    if (child.reported || child.process.running()) continue;
    child.reported = true;
    return internal_error(child.name + " " + how_it_ended(*child.process.ended()) + "; its log " +
                          child.log.string() + " ends: " + last_lines(child.log, kShownLines));
  }
  return {};
}

void ChildGroup::stop() {
  for (const Child& child : children_) child.process.signal(SIGTERM);
  const auto deadline = std::chrono::steady_clock::now() + timeout_;
  for (Child& child : children_) {
    if (!child.process.wait_until(deadline)) child.process.kill();
    child.reported = true;
  }
}

std::string last_lines(const std::filesystem::path& log, std::size_t lines) {
  std::ifstream in(log);
  std::vector<std::string> kept;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || has_fact(line)) continue;
    kept.push_back(line);
    if (kept.size() > lines) kept.erase(kept.begin());
  }
  std::string text;
  for (const std::string& line : kept) text += (text.empty() ? "" : " | ") + line;
  return text.empty() ? "(empty)" : text;
}

}  // namespace aflguard
