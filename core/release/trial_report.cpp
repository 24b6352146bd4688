#include "core/release/trial_report.h"

#include <algorithm>

#include "core/base/identifier.h"
#include "core/envelope/message_fields.h"

// The grammar is in docs/wire-format.md.
namespace aflguard {
namespace {

constexpr std::uint64_t kTrialFields = 5;

bool printable(char letter) {
  return letter >= ' ' && letter <= '~';
}

Status check_report(const TrialReport& report) {
  TRY_STATUS(check_identifier("fleet", report.fleet));
  if (report.release == 0) return invalid_input("the report of a trial names release 0; the first one is 1");
  if (report.text.size() <= kMaxTrialText && std::ranges::all_of(report.text, printable)) return {};
  return invalid_input("the text of a trial's report has " + std::to_string(report.text.size()) +
                       " bytes; it needs printable ASCII, at most " + std::to_string(kMaxTrialText));
}

Status read_report(CborReader& reader, TrialReport& report) {
  TRY_STATUS(reader.expect_map(kTrialFields));
  TRY_STATUS(take_entry(reader, 1, report.fleet));
  TRY_STATUS(take_entry(reader, 2, report.release));
  TRY_STATUS(take_entry(reader, 3, report.model_hash));
  TRY_STATUS(take_entry(reader, 4, report.passed));
  TRY_STATUS(reader.expect_key(5));
  TRY(const std::string_view text, reader.take_text());
  report.text = text.substr(0, kMaxTrialText + 1);
  TRY_STATUS(reader.expect_end());
  return check_report(report);
}

}  // namespace

Result<Payload> encode(const TrialReport& report) {
  TRY_STATUS(check_report(report));
  Payload payload{PayloadType::kTrial, {}};
  CborWriter writer(payload.bytes);
  writer.put_map(kTrialFields);
  put_entry(writer, 1, report.fleet);
  put_entry(writer, 2, report.release);
  put_entry(writer, 3, report.model_hash);
  put_entry(writer, 4, report.passed);
  put_entry(writer, 5, report.text);
  return payload;
}

Admitted<TrialReport> decode_trial(const VerifiedPayload& payload) {
  if (const Status fits = check_type(payload, PayloadType::kTrial, kFirstFormat); !fits.ok()) {
    return refuse(RefusalReason::kUnsupported, fits.error().message);
  }
  TrialReport report;
  CborReader reader(payload.bytes());
  if (const Status read = read_report(reader, report); !read.ok()) {
    return refuse(RefusalReason::kMalformed, "trial: " + read.error().message);
  }
  return report;
}

std::string trial_text(std::string text) {
  text.resize(std::min(text.size(), kMaxTrialText));
  std::ranges::replace_if(
      text, [](char letter) { return !printable(letter); }, '?');
  return text;
}

}  // namespace aflguard
