#include "tests/support/background_process.h"

#include "core/base/check.h"
#include "core/system/file_descriptor.h"

namespace aflguard::testing {
namespace {

Process start(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
              const std::filesystem::path& log) {
  const auto output = open_log(log);
  check(output.ok(), "the log of a background process can be opened");
  auto process = Process::start({.arguments = arguments,
                                 .folder = folder,
                                 .output = output->get(),
                                 .error = output->get(),
                                 .ends_with_us = true});
  check(process.ok(), process.ok() ? std::string_view() : process.error().message);
  return std::move(*process);
}

}  // namespace

BackgroundProcess::BackgroundProcess(const std::vector<std::string>& arguments,
                                     const std::filesystem::path& folder, const std::filesystem::path& log)
    : process_(start(arguments, folder, log)) {}

int BackgroundProcess::end(int signal) {
  if (process_.pid() < 0) return -1;
  process_.signal(signal);
  return process_.wait().shell_code();
}

}  // namespace aflguard::testing
