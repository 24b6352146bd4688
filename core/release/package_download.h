#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>

#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/release/release_message.h"
#include "core/transport/message_bus.h"
#include "core/transport/topics.h"

namespace aflguard {

/// How fast a package is fetched: as slowly as the link of a board may be.
struct DownloadPace {
  std::size_t pieces_at_once = 4;
  std::chrono::milliseconds between{50};        ///< two pieces
  std::chrono::milliseconds ask_again{15'000};  ///< for a piece that did not come, or came damaged
};

/// A release's package on its way from the broker, which keeps every piece on a topic: who fetches it asks
/// for a few pieces at a time. What has come lies in a file, so that a later run goes on from there. Every
/// piece is checked against the signed release before it counts. It has no thread and no clock.
class PackageDownload final {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Takes up what an earlier run left in `file`; bytes in there that are not the package's are dropped.
  [[nodiscard]] static Result<PackageDownload> open(ReleaseMessage release, std::filesystem::path file,
                                                    const DownloadPace& pace = {});

  [[nodiscard]] const ReleaseMessage& release() const { return release_; }
  [[nodiscard]] std::size_t pieces_here() const { return stored_; }
  [[nodiscard]] bool complete() const { return stored_ == release_.pieces.size(); }
  /// Asks for what is due; when to call again. Time::max() when there is nothing to do but wait.
  [[nodiscard]] Time step(MessageBus& bus, const FleetTopics& topics, Time now);
  /// A message of a piece's topic; `name` is the topic's last part. kCorrupt when it is not the piece that
  /// the release names, kIo when it cannot be stored; others than the awaited pieces are left alone.
  [[nodiscard]] Status take(MessageBus& bus, const FleetTopics& topics, std::string_view name,
                            std::span<const std::byte> piece);
  /// No more pieces are wanted.
  void stop(MessageBus& bus, const FleetTopics& topics);
  /// The whole archive, checked once more. kCorrupt when the file was changed.
  [[nodiscard]] Result<Bytes> archive() const;

 private:
  PackageDownload(ReleaseMessage release, std::filesystem::path file, const DownloadPace& pace)
      : release_(std::move(release)), file_(std::move(file)), pace_(pace) {}
  [[nodiscard]] std::string topic(const FleetTopics& topics, std::size_t index) const;
  [[nodiscard]] Status store_in_order();

  ReleaseMessage release_;
  std::filesystem::path file_;
  DownloadPace pace_;
  std::size_t stored_ = 0;              ///< pieces at the front of the file
  std::map<std::size_t, Bytes> early_;  ///< pieces that came before their turn
  std::map<std::size_t, Time> asked_;   ///< pieces that were asked for, and have not come
  Time next_question_{};
};

}  // namespace aflguard
