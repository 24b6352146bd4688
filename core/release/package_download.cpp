#include "core/release/package_download.h"

#include <algorithm>
#include <fstream>

#include "core/system/atomic_file.h"

namespace aflguard {
namespace fs = std::filesystem;

Result<PackageDownload> PackageDownload::open(ReleaseMessage release, fs::path file,
                                              const DownloadPace& pace) {
  PackageDownload download(std::move(release), std::move(file), pace);
  std::error_code error;
  if (!fs::exists(download.file_, error)) return download;
  auto content = read_file(download.file_, kMaxPackageBytes);
  const auto bytes = content.ok() ? std::span<const std::byte>(*content) : std::span<const std::byte>();
  const auto found = release_pieces(bytes);
  const auto& wanted = download.release_.pieces;
  while (download.stored_ < std::min(found.size(), wanted.size()) &&
         found[download.stored_] == wanted[download.stored_]) {
    ++download.stored_;
  }
  const std::uint64_t kept =
      std::min<std::uint64_t>(download.stored_ * kReleasePieceBytes, download.release_.package_bytes);
  if (bytes.size() != kept || !content.ok()) fs::resize_file(download.file_, kept, error);
  if (error) return io_error(download.file_.string() + ": cannot be cut: " + error.message());
  return download;
}

std::string PackageDownload::topic(const FleetTopics& topics, std::size_t index) const {
  return topics.release_piece(release_piece_name(release_.package_digest, index));
}

PackageDownload::Time PackageDownload::step(MessageBus& bus, const FleetTopics& topics, Time now) {
  if (complete()) return Time::max();
  Time next = Time::max();
  for (auto& [index, since] : asked_) {
    if (now >= since + pace_.ask_again) {
      since = now;
      (void)bus.subscribe(topic(topics, index));  // the broker sends what it keeps once more
    }
    next = std::min(next, since + pace_.ask_again);
  }
  const std::size_t last = std::min(release_.pieces.size(), stored_ + pace_.pieces_at_once);
  for (std::size_t index = stored_; index < last; ++index) {
    if (asked_.contains(index) || early_.contains(index)) continue;
    if (now < next_question_) return std::min(next, next_question_);
    next_question_ = now + pace_.between;
    asked_[index] = now;
    (void)bus.subscribe(topic(topics, index));
    next = std::min(next, now + pace_.ask_again);
  }
  return next;
}

Status PackageDownload::take(MessageBus& bus, const FleetTopics& topics, std::string_view name,
                             std::span<const std::byte> piece) {
  const auto asked = std::ranges::find_if(asked_, [&](const auto& entry) {
    return release_piece_name(release_.package_digest, entry.first) == name;
  });
  if (asked == asked_.end()) return {};
  const std::size_t index = asked->first;
  if (piece.size() > kReleasePieceBytes || sha256(piece) != release_.pieces[index]) {
    return corrupt("piece " + std::to_string(index) + " of model '" + release_.model_name +
                   "' is not the one that the release names");
  }
  bus.unsubscribe(topic(topics, index));
  asked_.erase(asked);
  early_.emplace(index, Bytes(piece.begin(), piece.end()));
  return store_in_order();
}

Status PackageDownload::store_in_order() {
  std::ofstream file(file_, std::ios::binary | std::ios::app);
  while (!early_.empty() && early_.begin()->first == stored_) {
    const Bytes& piece = early_.begin()->second;
    file.write(reinterpret_cast<const char*>(piece.data()), static_cast<std::streamsize>(piece.size()));
    file.flush();
    if (!file) {
      // What was written of it is cut off by the next open(), and this piece is asked for again.
      early_.clear();
      std::error_code error;
      fs::resize_file(file_, stored_ * kReleasePieceBytes, error);
      return io_error(file_.string() + ": cannot be written; is the disk full?");
    }
    early_.erase(early_.begin());
    ++stored_;
  }
  return {};
}

void PackageDownload::stop(MessageBus& bus, const FleetTopics& topics) {
  for (const auto& [index, since] : asked_) bus.unsubscribe(topic(topics, index));
  asked_.clear();
}

Result<Bytes> PackageDownload::archive() const {
  TRY(Bytes bytes, read_file(file_, kMaxPackageBytes));
  if (sha256(bytes) == release_.package_digest) return bytes;
  return corrupt(file_.string() + ": is not the package that the release names; remove it");
}

}  // namespace aflguard
