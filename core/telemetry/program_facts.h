#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "core/base/fact_line.h"

namespace aflguard {

// What programs state for other programs: one line of JSON with a schema, in a log of its program. A reader
// finds it behind whatever a journal or a console has put before it on the line. docs/program-facts.md.

/// aflguard.ready.v1: connected to its broker, and at work.
struct ReadyFact {
  std::string fleet;
  std::string name;  ///< the device's; "gateway" for the gateway

  friend bool operator==(const ReadyFact&, const ReadyFact&) = default;
};

/// aflguard.verdict.v1: a device has got this verdict of the gateway.
struct VerdictFact {
  std::uint64_t sequence = 0;  ///< of the update
  bool accepted = false;
  std::string reason;
  std::uint64_t version = 0;  ///< of the model then
  std::uint64_t delay = 0;    ///< versions between the update's base and its arrival

  friend bool operator==(const VerdictFact&, const VerdictFact&) = default;
};

/// aflguard.identity.v1: a device's certificate, key and authority fit together. Times to the second.
struct IdentityFact {
  std::string fleet;
  std::string device;
  std::chrono::system_clock::time_point not_before;
  std::chrono::system_clock::time_point not_after;

  friend bool operator==(const IdentityFact&, const IdentityFact&) = default;
};

using ProgramFact = std::variant<ReadyFact, VerdictFact, IdentityFact>;

/// The line, without its end.
[[nodiscard]] std::string to_line(const ProgramFact& fact);

/// The fact that ends this line; none when there is none, or when it is cut, or of a schema unknown here.
/// Fields that are unknown here are left out.
[[nodiscard]] std::optional<ProgramFact> read_fact(std::string_view line);

/// Calls `take` with the fact of every whole line of `text` that has one, in order. The last line may still
/// grow.
template <typename Take>
void for_each_fact(std::string_view text, Take take) {
  for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    if (const auto fact = read_fact(text.substr(0, end))) take(*fact);
    text.remove_prefix(end + 1);
  }
}

}  // namespace aflguard
