#include "core/release/trial_report.h"
#include "tests/core/release/releases.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

TrialReport sample_report() {
  TrialReport report;
  report.fleet = "orchard";
  report.release = 3;
  report.model_hash.fill(7);
  report.passed = true;
  report.text = "loss 0.7 on 32 samples";
  return report;
}

Admitted<TrialReport> travelled(const Payload& payload) {
  ReleaseKeys keys;
  TRY(auto parsed, UnverifiedEnvelope::parse(keys.sealed(payload)));
  TRY(const VerifiedPayload opened, keys.opener().open(std::move(parsed)));
  return decode_trial(opened);
}

}  // namespace

TEST("A report that was signed is the report that is read") {
  const auto read = travelled(encode(sample_report()).value());
  TEST_ASSERT_TRUE(read.ok());
  TEST_ASSERT_TRUE(*read == sample_report());
}

TEST("A report outside its limits is not signed, and a text is cut to what a report takes") {
  TrialReport report = sample_report();
  report.text = "two\nlines";
  TEST_ASSERT_FALSE(encode(report).ok());
  report.text = trial_text(report.text);
  TEST_ASSERT_EQUAL_STRING("two?lines", report.text.c_str());
  ASSERT_OK(encode(report));
  report.text = std::string(201, 'x');
  TEST_ASSERT_FALSE(encode(report).ok());
  report.text = trial_text(report.text);
  ASSERT_OK(encode(report));
  report.release = 0;
  TEST_ASSERT_FALSE(encode(report).ok());
}

TEST("A release is not a report, and a damaged report is refused") {
  const Bytes archive(9, std::byte{1});
  const auto other = travelled(encode(sample_release(archive)).value());
  TEST_ASSERT_FALSE(other.ok());
  TEST_ASSERT_TRUE(other.error().reason == RefusalReason::kUnsupported);
  Payload payload = encode(sample_report()).value();
  for (std::size_t size = 0; size < payload.bytes.size(); ++size) {
    Payload cut = payload;
    cut.bytes.resize(size);
    TEST_ASSERT_FALSE(travelled(cut).ok());
  }
}
