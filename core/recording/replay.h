#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "core/recording/recording.h"
#include "core/recording/recording_file.h"

namespace aflguard {

/// What a replay found. Everything agrees when `disagreed` is 0.
struct ReplayResult {
  std::uint64_t segments = 0;
  std::uint64_t updates = 0;
  std::uint64_t accepted = 0;
  std::uint64_t references = 0;
  std::uint64_t disagreed = 0;
  std::string first_disagreement;  ///< one line; empty without any
  std::uint64_t not_recorded = 0;  ///< updates judged between two segments that neither holds
  bool cut_short = false;          ///< some segment ends in the middle of an entry
  std::uint64_t version = 0;       ///< of the model at the end
};

/// Runs one recording through the guard it was made with and compares verdict by verdict, bit by bit.
class Replay final {
 public:
  /// `kinds`: the guards that this program knows. `watch` (may be empty) is called after every update.
  explicit Replay(std::span<const GuardKind> kinds, std::function<void(const ReplayResult&)> watch = {})
      : kinds_(kinds), watch_(std::move(watch)) {}

  /// One segment after the other. kCorrupt when a file is damaged, kInvalidInput for an unknown guard.
  [[nodiscard]] Status run(RecordingReader segment);
  [[nodiscard]] const ReplayResult& result() const { return result_; }

 private:
  [[nodiscard]] Result<std::unique_ptr<Aggregator>> begin(const RecordingEntry& first) const;
  [[nodiscard]] Status judge(Aggregator& aggregator, const RecordedUpdate& update);

  std::span<const GuardKind> kinds_;
  std::function<void(const ReplayResult&)> watch_;
  std::optional<std::uint64_t> last_iteration_;
  ReplayResult result_;
};

/// Runs a gateway's whole recording, a file or a folder of segments. `watch` (may be empty) is told after
/// every update how many segments of how many are done. A verdict that disagrees is a result, not an error.
using ReplayWatch = std::function<void(const ReplayResult& result, std::size_t done, std::size_t segments)>;
[[nodiscard]] Result<ReplayResult> replay_recording(const std::filesystem::path& recording,
                                                    std::span<const GuardKind> kinds,
                                                    const ReplayWatch& watch = {});

}  // namespace aflguard
