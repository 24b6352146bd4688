#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "bench/bench_fleet.h"
#include "bench/line_process.h"

namespace aflguard::bench {

/// What one publisher said about a round.
struct PublisherAnswer {
  std::size_t accepted = 0;     ///< by the gateway, since the publisher's start
  std::size_t models = 0;       ///< verdicts that carried one, since its start
  double begin = 0;             ///< seconds on the steady clock, as below
  std::vector<double> done_at;  ///< one for each update
};

/// The rest of the answer that begins with `word`; kUnavailable with what was said instead.
[[nodiscard]] Result<std::istringstream> expect_answer(LineProcess& process, const std::string& word);
/// Moments on the steady clock, written in nanoseconds, as seconds.
[[nodiscard]] std::vector<double> read_seconds(std::istringstream& words);

/// Client processes that do the same thing at the same time.
class Publishers final {
 public:
  /// Devices 1 to `count` of the fleet; `prefix` is put before the command.
  [[nodiscard]] static Result<Publishers> start(const BenchFleet& fleet, std::size_t count,
                                                const std::vector<std::string>& prefix = {});

  /// Signs beforehand what is sent later. Bytes of one envelope.
  [[nodiscard]] Result<std::size_t> prepare(std::size_t updates);
  /// Starts sending; `how` is when they go on to their next update: "verdicts" or "acks".
  [[nodiscard]] Status go(const std::string& how);
  /// Waits until all have sent what was prepared.
  [[nodiscard]] Result<std::vector<PublisherAnswer>> answers();
  [[nodiscard]] double cpu_seconds() const;
  [[nodiscard]] std::size_t size() const { return processes_.size(); }

 private:
  std::vector<LineProcess> processes_;
};

}  // namespace aflguard::bench
