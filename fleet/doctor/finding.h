#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace aflguard::fleet {

enum class FindingLevel : std::uint8_t { kOk, kWarning, kProblem };
[[nodiscard]] std::string_view to_string(FindingLevel level);

/// One thing that `aflguard doctor` looked at.
struct Finding {
  FindingLevel level = FindingLevel::kOk;
  std::string check;   ///< a short stable name, for scripts: "certificate-gateway"
  std::string found;   ///< what it is like, one line
  std::string advice;  ///< what to do; empty where all is well
};

class Findings final {
 public:
  void ok(std::string check, std::string found) {
    list_.push_back({FindingLevel::kOk, std::move(check), std::move(found), {}});
  }
  void warning(std::string check, std::string found, std::string advice) {
    list_.push_back({FindingLevel::kWarning, std::move(check), std::move(found), std::move(advice)});
  }
  void problem(std::string check, std::string found, std::string advice) {
    list_.push_back({FindingLevel::kProblem, std::move(check), std::move(found), std::move(advice)});
  }
  [[nodiscard]] const std::vector<Finding>& list() const { return list_; }
  [[nodiscard]] std::size_t count(FindingLevel level) const;

 private:
  std::vector<Finding> list_;
};

/// {schema: aflguard-doctor-1, content, problems, warnings, findings: [{level, check, found, advice}]}
[[nodiscard]] std::string findings_document(const Findings& findings);
/// For people; colours where wanted.
[[nodiscard]] std::string findings_text(const Findings& findings, bool colour);

}  // namespace aflguard::fleet
