#include "gateway_server/intake/live_registry.h"

#include <sys/stat.h>

#include "core/identity/device_book.h"

namespace aflguard::gateway {

Result<std::unique_ptr<LiveRegistry>> LiveRegistry::open(const std::filesystem::path& book,
                                                         const Clock& clock, LogSink& log) {
  std::unique_ptr<LiveRegistry> registry(new LiveRegistry(book, clock, log));
  registry->seen_ = registry->stamp();
  TRY(registry->keys_, registry->read());
  return registry;
}

std::optional<RegisteredKey> LiveRegistry::find(const KeyId& id) const {
  const auto known = keys();
  auto found = known->table.find(id);
  if (found) found->expired = clock_.wall() > known->not_after.at(id);
  return found;
}

std::uint64_t LiveRegistry::enrolled() const {
  return keys()->enrolled.size();
}

std::vector<std::string> LiveRegistry::enrolled_names() const {
  const auto known = keys();
  return {known->enrolled.begin(), known->enrolled.end()};
}

bool LiveRegistry::is_enrolled(std::string_view device) const {
  return keys()->enrolled.contains(device);
}

bool LiveRegistry::refresh() {
  const Stamp now = stamp();
  if (now == seen_) return false;
  seen_ = now;
  auto fresh = read();
  if (!fresh) {
    log_.error("the device book stays as it was: " + fresh.error().message);
    return false;
  }
  const std::uint64_t before = enrolled();
  {
    const std::lock_guard lock(mutex_);
    keys_ = std::move(*fresh);
  }
  log_.info("device book read again: " + std::to_string(enrolled()) + " devices, before " +
            std::to_string(before));
  return true;
}

LiveRegistry::Stamp LiveRegistry::stamp() const {
  struct stat info {};
  if (::stat(book_.c_str(), &info) != 0) return {};
  return {info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_ino, static_cast<std::uint64_t>(info.st_size)};
}

Result<std::shared_ptr<const LiveRegistry::Keys>> LiveRegistry::read() const {
  TRY(const DeviceBook book, read_device_book(book_));
  auto keys = std::make_shared<Keys>();
  for (const Device& device : book.devices) {
    for (const DeviceKey& key : device.keys) {
      if (Status added = keys->table.add(device.name, key.public_key); !added.ok()) {
        return at(book_.string(), added.error());
      }
      keys->not_after[key_id_of(key.public_key)] = key.not_after;
    }
    if (device.revoked && !device.keys.empty()) TRY_STATUS(keys->table.revoke(device.name));
    if (!device.revoked) keys->enrolled.insert(device.name);
  }
  return std::shared_ptr<const Keys>(std::move(keys));
}

}  // namespace aflguard::gateway
