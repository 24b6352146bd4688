#include "core/telemetry/rollout_status.h"

#include <algorithm>
#include <array>

#include "core/base/identifier.h"
#include "core/base/plain_text.h"
#include "core/base/short_text.h"
#include "core/telemetry/json_reading.h"
#include "core/telemetry/json_writing.h"
#include "core/telemetry/schemas.h"

namespace aflguard {
namespace {

constexpr std::array<std::pair<RolloutStage, std::string_view>, 6> kStages = {{
    {RolloutStage::kNone, "none"},
    {RolloutStage::kFetching, "fetching"},
    {RolloutStage::kTrial, "trial"},
    {RolloutStage::kSwitching, "switching"},
    {RolloutStage::kDone, "done"},
    {RolloutStage::kFailed, "failed"},
}};
constexpr std::size_t kMaxCanaryText = 40;
constexpr std::size_t kHashDigits = 64;

OrderedJson model_json(const NumberedModel& model) {
  return {{"number", model.number},
          {"name", plain_text(model.name, kMaxReadName)},
          {"hash", model.hash.substr(0, kHashDigits)}};
}

NumberedModel read_model(const ReadJson& json, const char* key) {
  const ReadJson* model = find_field(json, key);
  if (model == nullptr || !model->is_object()) return {};
  return {count_field(*model, "number").value_or(0), text_field(*model, "name", kMaxReadName),
          text_field(*model, "hash", kHashDigits)};
}

std::vector<CanaryState> read_canaries(const ReadJson& json) {
  std::vector<CanaryState> canaries;
  const ReadJson* list = find_field(json, "canaries");
  if (list == nullptr || !list->is_array()) return canaries;
  for (const ReadJson& item : *list) {
    if (canaries.size() == kMaxShownCanaries || !item.is_object()) break;
    canaries.push_back({text_field(item, "device", kMaxIdentifierLength),
                        text_field(item, "state", kMaxReadName), text_field(item, "text", kMaxCanaryText)});
  }
  return canaries;
}

}  // namespace

std::string_view to_string(RolloutStage stage) {
  const auto* const known = std::ranges::find(kStages, stage, [](const auto& entry) { return entry.first; });
  return known == kStages.end() ? "unknown" : known->second;
}

RolloutStage parse_rollout_stage(std::string_view text) {
  const auto* const known = std::ranges::find(kStages, text, [](const auto& entry) { return entry.second; });
  return known == kStages.end() ? RolloutStage::kUnknown : known->first;
}

std::string to_json(const RolloutStatus& status) {
  OrderedJson json = {{"schema", kRolloutSchema},
                      {"stage", to_string(status.stage)},
                      {"current", model_json(status.current)}};
  if (status.release > 0) {
    json["release"] = status.release;
    json["target"] = model_json(status.target);
    json["pieces"] = status.pieces;
    json["pieces_here"] = status.pieces_here;
    json["canaries"] = OrderedJson::array();
    for (const CanaryState& canary : status.canaries) {
      if (json["canaries"].size() == kMaxShownCanaries) break;
      json["canaries"].push_back({{"device", canary.device.substr(0, kMaxIdentifierLength)},
                                  {"state", plain_text(canary.state, kMaxReadName)},
                                  {"text", plain_text(canary.text, kMaxCanaryText)}});
    }
  }
  json["message"] = shortened(status.message, kMaxWrittenError);
  return json_text(json);
}

std::optional<RolloutStatus> read_rollout_status(std::string_view payload) {
  const auto json = parse_message(payload, kRolloutSchema);
  if (!json) return std::nullopt;
  const RolloutStage stage = parse_rollout_stage(text_field(*json, "stage"));
  if (stage == RolloutStage::kUnknown) return std::nullopt;
  return RolloutStatus{.stage = stage,
                       .current = read_model(*json, "current"),
                       .release = count_field(*json, "release").value_or(0),
                       .target = read_model(*json, "target"),
                       .pieces = count_field(*json, "pieces").value_or(0),
                       .pieces_here = count_field(*json, "pieces_here").value_or(0),
                       .canaries = read_canaries(*json),
                       .message = text_field(*json, "message")};
}

}  // namespace aflguard
