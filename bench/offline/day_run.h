#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "bench/offline/day_plan.h"
#include "bench/offline/offline_gateway.h"
#include "core/base/progress.h"

namespace aflguard::bench {

/// A spread of waits, in seconds.
struct Waits {
  double median = 0;
  double ninth = 0;  ///< nine of ten are shorter
  double most_99 = 0;
  double longest = 0;
};

struct DayFigures {
  std::size_t devices = 0;
  std::size_t senders = 0;   ///< different devices that began an update
  double slice_seconds = 0;  ///< of the day, virtual
  double real_seconds = 0;
  double gateway_cpu_seconds = 0;
  std::size_t begun = 0;  ///< updates
  std::size_t accepted = 0;
  std::size_t rejected = 0;
  std::size_t unanswered =
      0;                      ///< begun, neither abandoned nor answered when the slice and its rest were over
  std::size_t abandoned = 0;  ///< by their devices, as planned
  std::map<std::string, std::uint64_t> refused;  ///< messages, by reason
  double late_share = 0;                         ///< waited for the gateway above 5 s
  Waits gateway;                                 ///< from the last piece until the verdict leaves
  Waits whole;                                   ///< from the first piece until the verdict is on the device
  std::array<Waits, kDayLinkCount> by_link;
  double update_bytes = 0;  ///< one envelope
  double answer_bytes = 0;  ///< mean, with what models they carry
  double memory_mb = 0;     ///< that the process grew by
  double book_bytes = 0;    ///< per device, on the disk
  double store_mb = 0;      ///< on the disk: the model, the senders and their verdicts
};

struct DayOptions {
  std::size_t devices = 1'000'000;
  std::size_t updates = 6000;  ///< the slice of the day is as long as the fleet needs for so many
  double cores = 2;            ///< of the machine in virtual time
  DayPlan plan;
  std::function<bool()> stop;  ///< polled
};

/// One slice of a day of the real pipeline, from pieces to commits and signed answers, in `folder`, which is
/// empty. kUnavailable when it was stopped.
[[nodiscard]] Result<DayFigures> run_day(const DayOptions& options, const std::filesystem::path& folder,
                                         Progress& progress);

}  // namespace aflguard::bench
