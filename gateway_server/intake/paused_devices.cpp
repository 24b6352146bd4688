#include "gateway_server/intake/paused_devices.h"

#include <sys/stat.h>

namespace aflguard::gateway {

Result<std::unique_ptr<PausedDevices>> PausedDevices::open(const std::filesystem::path& file, LogSink& log) {
  std::unique_ptr<PausedDevices> paused(new PausedDevices(file, log));
  paused->seen_ = paused->stamp();
  TRY(NameList names, read_name_list(file));
  paused->names_ = std::make_shared<const NameList>(std::move(names));
  return paused;
}

bool PausedDevices::contains(std::string_view device) const {
  return names()->contains(device);
}

std::size_t PausedDevices::size() const {
  return names()->size();
}

std::vector<std::string> PausedDevices::refresh() {
  std::string now = stamp();
  if (now == seen_) return {};
  seen_ = std::move(now);
  auto fresh = read_name_list(file_);
  if (!fresh.ok()) {
    log_.error("the list of paused devices stays as it was: " + fresh.error().message);
    return {};
  }
  const Names before = names();
  std::vector<std::string> resumed;
  for (const std::string& name : *before) {
    if (!fresh->contains(name)) resumed.push_back(name);
  }
  log_.info("list of paused devices read again: " + std::to_string(fresh->size()) + " devices, before " +
            std::to_string(before->size()));
  const std::lock_guard lock(mutex_);
  names_ = std::make_shared<const NameList>(std::move(*fresh));
  return resumed;
}

std::string PausedDevices::stamp() const {
  struct stat info {};
  if (::stat(file_.c_str(), &info) != 0) return {};
  return std::to_string(info.st_mtim.tv_sec) + "." + std::to_string(info.st_mtim.tv_nsec) + " " +
         std::to_string(info.st_ino) + " " + std::to_string(info.st_size);
}

}  // namespace aflguard::gateway
