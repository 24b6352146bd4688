#include "gateway_server/intake/live_registry.h"

#include <cstring>

namespace aflguard::gateway {
namespace {

constexpr std::size_t kMaxKept = 65'536;
constexpr std::size_t kMaxListed = 10'000;

/// Room for one more: which one goes does not matter, it is read again.
template <typename Kept>
void make_room(Kept& kept) {
  if (kept.size() >= kMaxKept) kept.erase(kept.begin());
}

}  // namespace

std::size_t LiveRegistry::KeyHash::operator()(const KeyId& id) const {
  std::size_t hash = 0;
  std::memcpy(&hash, id.data(), sizeof hash);
  return hash;
}

Result<std::unique_ptr<LiveRegistry>> LiveRegistry::open(const std::filesystem::path& path,
                                                         const Clock& clock, LogSink& log) {
  TRY(auto book, DeviceBook::open_to_read(path));
  std::unique_ptr<LiveRegistry> registry(new LiveRegistry(path, std::move(book), clock, log));
  TRY(registry->state_, registry->book_.state());
  return registry;
}

std::optional<RegisteredKey> LiveRegistry::find(const KeyId& id) const {
  const std::lock_guard lock(mutex_);
  auto known = keys_.find(id);
  if (known == keys_.end()) {
    auto found = book_.find_key(id);
    if (!found.ok()) complain(found.error());
    if (!found.ok() || !found->has_value()) return std::nullopt;
    make_room(keys_);
    known = keys_.emplace(id, std::move(**found)).first;
    if (!known->second.revoked) {  // what is asked next of its device
      make_room(names_);
      names_.emplace(known->second.device);
    }
  }
  const BookKey& key = known->second;
  return RegisteredKey{key.device, key.public_key, key.revoked, clock_.wall() > key.not_after};
}

std::uint64_t LiveRegistry::enrolled() const {
  const std::lock_guard lock(mutex_);
  return state_.active;
}

LiveRegistry::Names LiveRegistry::enrolled_names() const {
  const std::lock_guard lock(mutex_);
  Names names;
  names.reserve(state_.active);
  const Status read = book_.each_active_name([&](std::string_view name) { names.emplace(name); });
  if (!read.ok()) {
    complain(read.error());
    names.insert(names_.begin(), names_.end());
  }
  return names;
}

bool LiveRegistry::is_enrolled(std::string_view device) const {
  const std::lock_guard lock(mutex_);
  if (names_.contains(device)) return true;
  const auto active = book_.is_active(device);
  if (!active.ok()) complain(active.error());
  if (!active.ok() || !*active) return false;
  make_room(names_);
  names_.emplace(device);
  return true;
}

std::optional<BookNews> LiveRegistry::refresh() {
  const std::lock_guard lock(mutex_);
  const std::uint64_t before = state_.active;
  auto news = look();
  if (!news.ok()) {
    complain(news.error());
    return std::nullopt;
  }
  complaint_.clear();
  if (!news->everything && news->devices.empty()) return std::nullopt;
  forget(*news);
  log_.info("the device book has changed: " + std::to_string(state_.active) + " devices, before " +
            std::to_string(before));
  return std::move(*news);
}

Result<BookNews> LiveRegistry::look() {
  BookNews news;
  auto now = book_.is_current() ? book_.state() : Result<DeviceBook::State>(unavailable("another file"));
  if (!now.ok()) {
    // Another file, or one that a killed writer has left in the middle of a change.
    TRY(auto book, DeviceBook::open_to_read(path_));
    TRY(state_, book.state());
    book_ = std::move(book);
    news.everything = true;
    return news;
  }
  if (*now == state_) return news;
  news.everything = now->identity != state_.identity || now->revision < state_.revision;
  if (!news.everything) {
    TRY(auto changes, book_.changed_since(state_.revision, kMaxListed));
    news.everything = !changes.has_value();
    if (changes) news.devices = std::move(*changes);
  }
  state_ = std::move(*now);
  return news;
}

void LiveRegistry::forget(const BookNews& news) {
  if (news.everything) {
    keys_.clear();
    names_.clear();
    return;
  }
  Names changed;
  for (const BookChange& change : news.devices) {
    names_.erase(change.device);
    changed.insert(change.device);
  }
  std::erase_if(keys_, [&](const auto& entry) { return changed.contains(entry.second.device); });
}

/// With the lock held.
void LiveRegistry::complain(const Error& reason) const {
  if (reason.message == complaint_) return;
  complaint_ = reason.message;
  log_.error("the device book stays as it was: " + reason.message);
}

}  // namespace aflguard::gateway
