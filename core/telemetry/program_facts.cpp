#include "core/telemetry/program_facts.h"

#include <nlohmann/json.hpp>

#include "core/base/rfc3339.h"

namespace aflguard {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kReady = "aflguard.ready.v1";
constexpr const char* kVerdict = "aflguard.verdict.v1";
constexpr const char* kIdentity = "aflguard.identity.v1";

Json document(const ReadyFact& fact) {
  return {{"schema", kReady}, {"fleet", fact.fleet}, {"name", fact.name}};
}

Json document(const VerdictFact& fact) {
  return {{"schema", kVerdict},    {"sequence", fact.sequence}, {"accepted", fact.accepted},
          {"reason", fact.reason}, {"version", fact.version},   {"delay", fact.delay}};
}

Json document(const IdentityFact& fact) {
  return {{"schema", kIdentity},
          {"fleet", fact.fleet},
          {"device", fact.device},
          {"not_before", to_rfc3339(fact.not_before)},
          {"not_after", to_rfc3339(fact.not_after)}};
}

/// Reads the fields of one document, and remembers whether all were there.
class Fields final {
 public:
  explicit Fields(const Json& json) : json_(json) {}

  void read(const char* name, std::string& into) {
    if (const Json* field = find(name, &Json::is_string)) into = field->get<std::string>();
  }
  void read(const char* name, std::uint64_t& into) {
    if (const Json* field = find(name, &Json::is_number_unsigned)) into = field->get<std::uint64_t>();
  }
  void read(const char* name, bool& into) {
    if (const Json* field = find(name, &Json::is_boolean)) into = field->get<bool>();
  }
  void read(const char* name, std::chrono::system_clock::time_point& into) {
    std::string text;
    read(name, text);
    if (const auto time = parse_rfc3339(text); time.ok()) {
      into = *time;
    } else {
      complete_ = false;
    }
  }
  template <typename Fact>
  [[nodiscard]] std::optional<ProgramFact> result(Fact fact) const {
    if (!complete_) return std::nullopt;
    return ProgramFact(std::move(fact));
  }

 private:
  const Json* find(const char* name, bool (Json::*is_right)() const noexcept) {
    const auto field = json_.find(name);
    if (field != json_.end() && ((*field).*is_right)()) return &*field;
    complete_ = false;
    return nullptr;
  }
  const Json& json_;
  bool complete_ = true;
};

std::optional<ProgramFact> read_ready(Fields fields) {
  ReadyFact fact;
  fields.read("fleet", fact.fleet);
  fields.read("name", fact.name);
  return fields.result(std::move(fact));
}

std::optional<ProgramFact> read_verdict(Fields fields) {
  VerdictFact fact;
  fields.read("sequence", fact.sequence);
  fields.read("accepted", fact.accepted);
  fields.read("reason", fact.reason);
  fields.read("version", fact.version);
  fields.read("delay", fact.delay);
  return fields.result(std::move(fact));
}

std::optional<ProgramFact> read_identity(Fields fields) {
  IdentityFact fact;
  fields.read("fleet", fact.fleet);
  fields.read("device", fact.device);
  fields.read("not_before", fact.not_before);
  fields.read("not_after", fact.not_after);
  return fields.result(std::move(fact));
}

}  // namespace

std::string to_line(const ProgramFact& fact) {
  return std::visit([](const auto& known) { return document(known).dump(); }, fact);
}

std::optional<ProgramFact> read_fact(std::string_view line) {
  const auto begin = line.find(kFactBegin);
  if (begin == std::string_view::npos) return std::nullopt;
  line.remove_prefix(begin);
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json["schema"].is_string()) return std::nullopt;
  const auto schema = json["schema"].get<std::string>();
  if (schema == kReady) return read_ready(Fields(json));
  if (schema == kVerdict) return read_verdict(Fields(json));
  if (schema == kIdentity) return read_identity(Fields(json));
  return std::nullopt;
}

}  // namespace aflguard
