#include "core/telemetry/device_status.h"

#include <array>
#include <cmath>

#include "core/base/identifier.h"
#include "core/base/plain_text.h"
#include "core/base/rfc3339.h"
#include "core/base/short_text.h"
#include "core/telemetry/json_reading.h"
#include "core/telemetry/json_writing.h"
#include "core/telemetry/schemas.h"

namespace aflguard {
namespace {

constexpr std::size_t kMaxModelText = 40;
constexpr std::size_t kShortHashDigits = 16;
constexpr std::size_t kMaxUpgradeText = 80;

template <typename T>
void put(OrderedJson& json, const char* key, const std::optional<T>& value) {
  if (value) json[key] = *value;
}

std::optional<double> one_decimal(const std::optional<double>& number) {
  return number ? std::optional(rounded(*number, 1)) : std::nullopt;
}

std::optional<LastVerdict> read_verdict(const ReadJson& json) {
  const ReadJson* verdict = find_field(json, "verdict");
  if (verdict == nullptr || !verdict->is_object()) return std::nullopt;
  return LastVerdict{.accepted = true_field(*verdict, "accepted"),
                     .reason = text_field(*verdict, "reason", kMaxReadName),
                     .delay = count_field(*verdict, "delay")};
}

/// Picks three texts out of a status without building the rest of it. Of a key that comes twice the last one
/// counts.
class StateReader final : public nlohmann::json_sax<ReadJson> {
 public:
  std::string schema;
  std::string state;
  std::string message;
  bool wants_offer = false;

  bool null() override { return other(); }
  bool boolean(bool value) override {
    if (flag_) wants_offer = value;
    return other();
  }
  bool number_integer(number_integer_t) override { return other(); }
  bool number_unsigned(number_unsigned_t) override { return other(); }
  bool number_float(number_float_t, const string_t&) override { return other(); }
  bool binary(binary_t&) override { return other(); }
  bool string(string_t& text) override {
    if (wanted_ != nullptr) *wanted_ = std::move(text);
    wanted_ = nullptr;
    return other();
  }
  bool key(string_t& name) override {
    wanted_ = depth_ != 1         ? nullptr
              : name == "schema"  ? &schema
              : name == "state"   ? &state
              : name == "message" ? &message
                                  : nullptr;
    flag_ = depth_ == 1 && name == "wants_offer";
    return true;
  }
  bool start_object(std::size_t) override { return enter(); }
  bool start_array(std::size_t) override { return enter(); }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  bool other() {
    if (wanted_ != nullptr) wanted_->clear();
    wanted_ = nullptr;
    flag_ = false;
    return true;
  }
  bool enter() {
    (void)other();
    ++depth_;
    return true;
  }
  bool leave() {
    --depth_;
    return true;
  }
  std::string* wanted_ = nullptr;  ///< where the next value goes, if it is a text
  bool flag_ = false;              ///< the next value is wants_offer
  std::size_t depth_ = 0;
};

}  // namespace

std::string to_json(const DeviceStatus& status) {
  OrderedJson json = {
      {"schema", kDeviceStatusSchema}, {"state", to_string(status.state)}, {"device", status.device}};
  if (status.time) json["time"] = to_rfc3339(*status.time);
  if (!status.model.empty()) json["model"] = plain_text(status.model, kMaxModelText);
  put(json, "model_number", status.model_number);
  if (!status.model_hash.empty()) json["model_hash"] = plain_text(status.model_hash, kShortHashDigits);
  if (!status.upgrade.empty()) json["upgrade"] = plain_text(status.upgrade, kMaxUpgradeText);
  put(json, "version", status.version);
  put(json, "sequence", status.sequence);
  if (status.verdict) {
    json["verdict"] = {{"accepted", status.verdict->accepted},
                       {"reason", status.verdict->reason},
                       {"delay", or_null(status.verdict->delay)}};
  }
  put(json, "accepted", status.accepted);
  put(json, "rejected", status.rejected);
  put(json, "refused", status.refused);
  if (status.loss && std::isfinite(*status.loss)) json["loss"] = *status.loss;
  put(json, "samples", status.samples);
  json["software"] = status.software;
  put(json, "rss_mb", one_decimal(status.rss_mb));
  put(json, "temperature_c", one_decimal(status.board.temperature_c));
  put(json, "memory_free_mb", status.board.memory_free_mb);
  if (status.certificate_until) json["certificate_until"] = to_rfc3339(*status.certificate_until);
  if (status.wants_offer) json["wants_offer"] = true;
  json["message"] = shortened(status.message, kMaxWrittenText);
  return json_text(json);
}

DeviceStatus last_will(const std::string& device, const std::string& software) {
  return {.state = DeviceState::kLost,
          .device = device,
          .software = software,
          .message = "the device is gone without saying goodbye"};
}

std::optional<DeviceStatus> read_device_status(std::string_view payload) {
  const auto json = parse_message(payload, kDeviceStatusSchema);
  if (!json) return std::nullopt;
  const DeviceState state = parse_device_state(text_field(*json, "state"));
  if (state == DeviceState::kUnknown) return std::nullopt;
  return DeviceStatus{.state = state,
                      .device = text_field(*json, "device", kMaxIdentifierLength),
                      .time = time_field(*json, "time"),
                      .model = text_field(*json, "model", kMaxModelText),
                      .model_number = count_field(*json, "model_number"),
                      .model_hash = text_field(*json, "model_hash", kShortHashDigits),
                      .upgrade = text_field(*json, "upgrade", kMaxUpgradeText),
                      .version = count_field(*json, "version"),
                      .sequence = count_field(*json, "sequence"),
                      .verdict = read_verdict(*json),
                      .accepted = count_field(*json, "accepted"),
                      .rejected = count_field(*json, "rejected"),
                      .refused = count_field(*json, "refused"),
                      .loss = number_field(*json, "loss"),
                      .samples = count_field(*json, "samples"),
                      .software = text_field(*json, "software", kMaxReadName),
                      .rss_mb = number_field(*json, "rss_mb"),
                      .board = {.temperature_c = number_field(*json, "temperature_c"),
                                .memory_free_mb = count_field(*json, "memory_free_mb")},
                      .certificate_until = time_field(*json, "certificate_until"),
                      .wants_offer = true_field(*json, "wants_offer"),
                      .message = text_field(*json, "message")};
}

std::optional<ReportedState> read_reported_state(std::string_view payload) {
  if (payload.size() >= kMaxTelemetryBytes) return std::nullopt;
  StateReader reader;
  if (!ReadJson::sax_parse(payload, &reader) || reader.schema != kDeviceStatusSchema) return std::nullopt;
  const DeviceState state = parse_device_state(reader.state);
  if (state == DeviceState::kUnknown) return std::nullopt;
  return ReportedState{state, std::move(reader.message), reader.wants_offer};
}

}  // namespace aflguard
