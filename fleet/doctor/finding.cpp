#include "fleet/doctor/finding.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace aflguard::fleet {

std::string_view to_string(FindingLevel level) {
  constexpr std::array<std::string_view, 3> kNames = {"ok", "warning", "problem"};
  return kNames[static_cast<std::size_t>(level)];
}

std::size_t Findings::count(FindingLevel level) const {
  return static_cast<std::size_t>(std::count_if(
      list_.begin(), list_.end(), [level](const Finding& finding) { return finding.level == level; }));
}

std::string findings_document(const Findings& findings) {
  using Json = nlohmann::ordered_json;
  Json document = {{"schema", "aflguard-doctor-1"},
                   {"content", findings.count(FindingLevel::kProblem) == 0},
                   {"problems", findings.count(FindingLevel::kProblem)},
                   {"warnings", findings.count(FindingLevel::kWarning)}};
  document["findings"] = Json::array();
  for (const Finding& finding : findings.list()) {
    document["findings"].push_back({{"level", to_string(finding.level)},
                                    {"check", finding.check},
                                    {"found", finding.found},
                                    {"advice", finding.advice}});
  }
  return document.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string findings_text(const Findings& findings, bool colour) {
  constexpr std::array<const char*, 3> kColours = {"\x1b[32m", "\x1b[33m", "\x1b[1;31m"};
  std::string text;
  for (const Finding& finding : findings.list()) {
    std::string level(to_string(finding.level));
    level.resize(8, ' ');
    const auto place = static_cast<std::size_t>(finding.level);
    text += (colour ? kColours[place] + level + "\x1b[0m" : level) + " " + finding.found + "\n";
    if (!finding.advice.empty()) text += "         -> " + finding.advice + "\n";
  }
  const std::size_t problems = findings.count(FindingLevel::kProblem);
  const std::size_t warnings = findings.count(FindingLevel::kWarning);
  return text + (problems == 0 ? "content" : std::to_string(problems) + " to solve") +
         (warnings == 0 ? "" : ", " + std::to_string(warnings) + " to know") + "\n";
}

}  // namespace aflguard::fleet
