#include "tools/aflguard/lab_replay.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "core/base/progress.h"
#include "core/recording/replay.h"

namespace aflguard::cli {
namespace {

void print(const ReplayResult& result, const std::string& recording, bool json) {
  if (json) {
    const nlohmann::ordered_json document = {{"schema", "aflguard.lab.replay/1"},
                                             {"recording", recording},
                                             {"agrees", result.disagreed == 0},
                                             {"segments", result.segments},
                                             {"updates", result.updates},
                                             {"accepted", result.accepted},
                                             {"rejected", result.updates - result.accepted},
                                             {"references", result.references},
                                             {"disagreed", result.disagreed},
                                             {"not_recorded", result.not_recorded},
                                             {"cut_short", result.cut_short},
                                             {"model_version", result.version}};
    std::printf("%s\n", document.dump(2).c_str());
    return;
  }
  std::printf(
      "%llu updates in %llu segments, %llu accepted, model version %llu: ",
      static_cast<unsigned long long>(result.updates), static_cast<unsigned long long>(result.segments),
      static_cast<unsigned long long>(result.accepted), static_cast<unsigned long long>(result.version));
  if (result.disagreed == 0) {
    std::printf("every verdict agrees\n");
  } else {
    std::printf("%llu verdicts differ\n", static_cast<unsigned long long>(result.disagreed));
  }
  if (result.not_recorded > 0) {
    std::printf("%llu updates between segments were not recorded\n",
                static_cast<unsigned long long>(result.not_recorded));
  }
  if (result.cut_short) std::printf("a segment ends in the middle of an entry, as after a power loss\n");
}

}  // namespace

Status print_replay(const std::string& recording, bool json, std::span<const GuardKind> guards) {
  StderrProgress progress;
  TRY(const ReplayResult result,
      replay_recording(
          recording, guards, [&progress](const ReplayResult& so_far, std::size_t done, std::size_t segments) {
            if (so_far.updates % 50 != 0) return;
            progress.show("replaying " + std::to_string(so_far.updates) + " updates", done, segments);
          }));
  progress.finish();
  print(result, recording, json);
  if (result.disagreed == 0) return {};
  return invalid_input(result.first_disagreement);
}

}  // namespace aflguard::cli
