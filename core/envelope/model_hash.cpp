#include "core/envelope/model_hash.h"

#include <charconv>
#include <string>

namespace aflguard {

Result<ModelHash> parse_model_hash(std::string_view hex) {
  ModelHash hash{};
  bool good = hex.size() == 2 * hash.size();
  for (std::size_t i = 0; good && i < hash.size(); ++i) {
    const char* digits = hex.data() + 2 * i;
    const auto [end, problem] = std::from_chars(digits, digits + 2, hash[i], 16);
    good = problem == std::errc() && end == digits + 2;
  }
  if (!good) return invalid_input("'" + std::string(hex) + "' is not a model hash of 64 hex digits");
  return hash;
}

}  // namespace aflguard
