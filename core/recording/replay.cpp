#include "core/recording/replay.h"

#include <sstream>

namespace aflguard {
namespace {

std::string describe(const Verdict& verdict, std::uint64_t version) {
  std::ostringstream text;
  text.precision(17);
  text << to_string(verdict.reason) << ", distance " << verdict.distance << ", bound " << verdict.bound
       << ", delay " << verdict.delay << ", altered " << verdict.altered << " (" << verdict.alterations
       << "), version " << version;
  return text.str();
}

}  // namespace

Status Replay::run(RecordingReader segment) {
  TRY(auto first, segment.next());
  if (!first) {  // killed before it had written its settings: nothing was judged by then
    result_.cut_short = true;
    return {};
  }
  TRY(auto aggregator, begin(*first));
  ++result_.segments;
  if (last_iteration_ && aggregator->iteration() > *last_iteration_) {
    result_.not_recorded += aggregator->iteration() - *last_iteration_;
  }
  while (true) {
    TRY(auto entry, segment.next());
    if (!entry) break;
    if (auto* reference = std::get_if<RecordedReference>(&*entry)) {
      ++result_.references;
      TRY_STATUS(aggregator->install_reference(std::move(reference->reference), reference->due_since));
    } else if (const auto* update = std::get_if<RecordedUpdate>(&*entry)) {
      TRY_STATUS(judge(*aggregator, *update));
      if (watch_) watch_(result_);
    } else if (const auto* departure = std::get_if<RecordedDeparture>(&*entry)) {
      aggregator->forget(departure->client);
    } else {
      return corrupt("recording: a second header inside a segment");
    }
  }
  result_.cut_short = result_.cut_short || segment.cut_short();
  result_.version = aggregator->model().version();
  last_iteration_ = aggregator->iteration();
  return {};
}

Result<std::unique_ptr<Aggregator>> Replay::begin(const RecordingEntry& first) const {
  const auto* header = std::get_if<RecordingHeader>(&first);
  if (header == nullptr) return corrupt("recording: it does not begin with its settings");
  TRY(const GuardKind* kind, find_guard(kinds_, header->guard));
  TRY(auto guard, make_guard(*kind, header->guard_settings));
  const std::vector<float> zero(header->guard_settings.dimension);
  auto aggregator = std::make_unique<Aggregator>(header->aggregator, std::move(guard), nullptr, zero);
  TRY_STATUS(aggregator->restore(header->state));
  return aggregator;
}

Status Replay::judge(Aggregator& aggregator, const RecordedUpdate& update) {
  TRY(const Verdict verdict, aggregator.submit({update.client, update.base_version, update.vector}));
  ++result_.updates;
  if (verdict.accepted) ++result_.accepted;
  const std::uint64_t version = aggregator.model().version();
  if (verdict == update.verdict && version == update.version && aggregator.iteration() == update.iteration) {
    return {};
  }
  if (++result_.disagreed == 1) {
    result_.first_disagreement = "update " + std::to_string(update.sequence) + " of device '" +
                                 update.device + "' (number " + std::to_string(update.iteration) +
                                 "): the gateway said " + describe(update.verdict, update.version) +
                                 "; the replay says " + describe(verdict, version);
  }
  return {};
}

Result<ReplayResult> replay_recording(const std::filesystem::path& recording,
                                      std::span<const GuardKind> kinds, const ReplayWatch& watch) {
  TRY(const auto segments, recording_segments(recording));
  std::size_t done = 0;
  Replay replay(kinds, [&](const ReplayResult& result) {
    if (watch) watch(result, done, segments.size());
  });
  for (const auto& segment : segments) {
    TRY(auto reader, RecordingReader::open(segment));
    TRY_STATUS(replay.run(std::move(reader)));
    ++done;
  }
  return replay.result();
}

}  // namespace aflguard
