#include "core/system/background_process.h"

#include "core/system/file_descriptor.h"

namespace aflguard {

Result<BackgroundProcess> BackgroundProcess::start(const std::vector<std::string>& arguments,
                                                   const std::filesystem::path& folder,
                                                   const std::filesystem::path& log) {
  TRY(const FileDescriptor output, open_log(log));
  TRY(Process process, Process::start({.arguments = arguments,
                                       .folder = folder,
                                       .output = output.get(),
                                       .error = output.get(),
                                       .ends_with_us = true}));
  return BackgroundProcess(std::move(process));
}

void BackgroundProcess::end(int signal) {
  process_.signal(signal);
  process_.wait();
}

}  // namespace aflguard
