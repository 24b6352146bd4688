#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace aflguard::testing {

/// A C++ source taken apart.
struct SourceText {
  /// Without comments, preprocessor lines and what is between quotes; lines stay where they are.
  std::string code;
  /// Each comment (neighbouring // lines are one) and each string literal (adjacent ones are one), in one
  /// line.
  std::vector<std::string> prose;
};

[[nodiscard]] SourceText take_apart(std::string_view source);

/// A letter, a digit or an underscore.
[[nodiscard]] bool is_word(char c);

/// The identifiers of `code`, in order.
[[nodiscard]] std::vector<std::string> identifiers_of(std::string_view code);

/// The parts of a name, in lower case: "gateway", "voice" of GatewayVoice, gateway_voice_ and kGatewayVoice.
[[nodiscard]] std::vector<std::string> parts_of_name(std::string_view name);

}  // namespace aflguard::testing
