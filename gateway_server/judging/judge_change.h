#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/aggregation/aggregator.h"
#include "core/recording/recording_file.h"
#include "gateway_server/judging/voter_roll.h"

namespace aflguard::gateway {

/// Other settings for the judging, checked before they come here.
struct JudgeChange {
  AggregatorOptions options;
  std::unique_ptr<Guard> guard;  ///< null: the one in force goes on and keeps what it remembers
  std::string guard_text;        ///< rule and settings, as the store keeps them
  VoterRules voters;
  double reference_share = 1;
  /// A new segment under these settings; empty, or null from it: nothing is recorded.
  std::function<Result<std::unique_ptr<RecordingWriter>>(const Aggregator&)> record = {};
};

}  // namespace aflguard::gateway
