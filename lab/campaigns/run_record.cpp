#include "lab/campaigns/run_record.h"

#include <nlohmann/json.hpp>

#include "core/system/atomic_file.h"

namespace aflguard::lab {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kRecordSchema = "aflguard.lab.run/1";
constexpr std::uint64_t kLargestFile = 1 << 20;

Json number(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

std::optional<double> optional_number(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<double>());
}

ClientCounts counts(const Json& json) {
  return {json.at("benign").get<std::uint64_t>(), json.at("malicious").get<std::uint64_t>()};
}

RunRecord parse(const Json& json, const ExperimentSettings& settings) {
  RunRecord record;
  record.settings = settings;
  record.result.metrics.test_error = optional_number(json.at("test_error"));
  record.result.metrics.attack_success = optional_number(json.at("attack_success"));
  record.result.metrics.mse = optional_number(json.at("mse"));
  record.result.metrics.mee = optional_number(json.at("mee"));
  record.result.accepted = counts(json.at("accepted"));
  record.result.rejected = counts(json.at("rejected"));
  record.result.iterations = json.at("iterations").get<std::uint64_t>();
  record.result.judging_seconds = json.value("judging_seconds", 0.0);  // earlier versions did not measure it
  record.seconds = json.at("seconds").get<double>();
  return record;
}

}  // namespace

Json to_json(const RunRecord& record, const Json& context) {
  const ExperimentResult& result = record.result;
  return {{"schema", kRecordSchema},
          {"test_error", number(result.metrics.test_error)},
          {"attack_success", number(result.metrics.attack_success)},
          {"mse", number(result.metrics.mse)},
          {"mse_paper_scale", number(result.metrics.mse_paper_scale())},
          {"mee", number(result.metrics.mee)},
          {"accepted", {{"benign", result.accepted.honest}, {"malicious", result.accepted.malicious}}},
          {"rejected", {{"benign", result.rejected.honest}, {"malicious", result.rejected.malicious}}},
          {"iterations", result.iterations},
          {"seconds", record.seconds},
          {"judging_seconds", result.judging_seconds},
          {"seed", record.settings.seed},
          {"settings", to_json(record.settings)},
          {"fingerprint", fingerprint(record.settings)},
          {"context", context}};
}

Result<RunRecord> read_run(const std::filesystem::path& path, const ExperimentSettings& settings) {
  TRY(const std::string text, read_text_file(path, kLargestFile));
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object()) return corrupt(path.string() + " is not a stored run");
  try {
    if (json.at("schema") != kRecordSchema)
      return corrupt(path.string() + " is not a stored run of this version");
    if (json.at("fingerprint") != fingerprint(settings)) {
      return invalid_input(path.string() + " holds a run of other settings; choose another output folder");
    }
    return parse(json, settings);
  } catch (const Json::exception& problem) {
    return corrupt(path.string() + ": " + problem.what());
  }
}

}  // namespace aflguard::lab
