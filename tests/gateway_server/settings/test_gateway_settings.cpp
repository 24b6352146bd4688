#include <regex>

#include "core/envelope/message_codec.h"
#include "core/system/atomic_file.h"
#include "core/system/process_memory.h"
#include "gateway_server/settings/gateway_inputs.h"
#include "gateway_server/settings/gateway_settings.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;

namespace {

std::string example() {
  return read_text_file(testing::source_folder() / "gateway_server/gateway.example.toml").value();
}

Result<GatewaySettings> read(const std::string& text) {
  const TemporaryFolder folder;
  ASSERT_OK(write_file_atomically(folder / "gateway.toml", text));
  return read_gateway_settings(folder / "gateway.toml");
}

std::string replaced(std::string text, const std::string& part, const std::string& by) {
  const auto at = text.find(part);
  TEST_ASSERT_TRUE_MESSAGE(at != std::string::npos, part.c_str());
  return text.replace(at, part.size(), by);
}

/// The example with every option in force at the value it shows.
std::string everything_in_force() {
  std::string text = std::regex_replace(example(), std::regex("\n# (\\[[a-z_]+\\])"), "\n$1");
  return std::regex_replace(text, std::regex("\n# ([a-z_]+ = )"), "\n$1");
}

}  // namespace

TEST("The example configuration is in order, as it is and with every option in force at its default") {
  const auto plain = read(example());
  ASSERT_OK(plain);
  TEST_ASSERT_FALSE(plain->evaluation.has_value() || plain->recording.has_value());
  const auto all = read(everything_in_force());
  ASSERT_OK(all);
  TEST_ASSERT_TRUE(all->evaluation.has_value() && all->recording.has_value());
  TEST_ASSERT_EQUAL_STRING(guard_text(*plain).c_str(), guard_text(*all).c_str());
  if (machine_memory_bytes() / 4 >= 640u << 20) {
    TEST_ASSERT_EQUAL_UINT64(plain->limits.outbox_bytes, all->limits.outbox_bytes);
    TEST_ASSERT_EQUAL_UINT64(plain->limits.inbox_bytes, all->limits.inbox_bytes);
    TEST_ASSERT_EQUAL_UINT64(plain->limits.waiting_bytes, all->limits.waiting_bytes);
  }
  TEST_ASSERT_EQUAL_UINT64(plain->limits.waiting_updates, all->limits.waiting_updates);
  TEST_ASSERT_EQUAL_UINT64(plain->store.keep_verdicts, all->store.keep_verdicts);
  TEST_ASSERT_EQUAL_STRING(plain->store.file.filename().c_str(), all->store.file.filename().c_str());
  TEST_ASSERT_EQUAL_DOUBLE(plain->replies.models_per_second, all->replies.models_per_second);
  TEST_ASSERT_EQUAL_UINT64(plain->replies.history_bytes, all->replies.history_bytes);
  TEST_ASSERT_FALSE(plain->replies.grid || all->replies.grid);
}

TEST("The parts of the memory follow memory_bytes, unless they are given") {
  const auto small = read(replaced(example(), "# memory_bytes = 671088640", "memory_bytes = 10000000"));
  ASSERT_OK(small);
  TEST_ASSERT_EQUAL_UINT64(4'000'000, small->limits.inbox_bytes);
  TEST_ASSERT_EQUAL_UINT64(4'000'000, small->limits.waiting_bytes);
  TEST_ASSERT_EQUAL_UINT64(2'000'000, small->limits.outbox_bytes);
  const auto mixed = read(
      replaced(example(), "# memory_bytes = 671088640", "memory_bytes = 10000000\ninbox_bytes = 2000000"));
  ASSERT_OK(mixed);
  TEST_ASSERT_EQUAL_UINT64(2'000'000, mixed->limits.inbox_bytes);
  TEST_ASSERT_EQUAL_UINT64(4'000'000, mixed->limits.waiting_bytes);
}

TEST("A wrong configuration is refused with file, line, value and what is allowed") {
  ASSERT_CONTAINS(message_of(read(replaced(example(), "batch_size", "batch_sise"))),
                  "did you mean 'batch_size'");
  ASSERT_CONTAINS(message_of(read(replaced(example(), "batch_size = 32", "batch_size = 0"))),
                  "gateway.toml:");
  ASSERT_CONTAINS(message_of(read(replaced(example(), "port = 8883", "port = 88830"))), "65535");
  ASSERT_CONTAINS(message_of(read(replaced(example(), "name = \"example\"", "name = \"a b\""))), "fleet");
  ASSERT_CONTAINS(message_of(read(replaced(example(), "learning_rate = 0.0003", ""))), "learning_rate");
  ASSERT_CONTAINS(message_of(read(replaced(example(), "# protocol = \"auto\"", "protocol = \"4\""))),
                  "3.1.1");
}

TEST("Encodings of updates are taken as they are listed, and float32 always") {
  const auto taken = [](const std::string& line) {
    return read(replaced(example(), "batch_size = 32", "batch_size = 32\n" + line));
  };
  TEST_ASSERT_TRUE(taken("")->training.taken == EncodingSet::all());
  const auto none = taken("encodings = []");
  ASSERT_OK(none);
  TEST_ASSERT_TRUE(none->training.taken.has(Encoding::kFloat32));
  TEST_ASSERT_FALSE(none->training.taken.has(Encoding::kInt8));
  const auto one = taken("encodings = [\"int8\"]");
  TEST_ASSERT_TRUE(one->training.taken.has(Encoding::kInt8));
  TEST_ASSERT_FALSE(one->training.taken.has(Encoding::kInt4));
  ASSERT_CONTAINS(message_of(taken("encodings = [\"int7\"]")), "has \"int7\", may have");
}

TEST("Limits that the file leaves open make room for the model, and one that is too low names its key") {
  constexpr std::size_t kLarge = 25'000'000;
  GatewaySettings::Limits limits;
  ASSERT_OK(fit_limits(limits, kLarge));
  TEST_ASSERT_EQUAL_size_t(max_envelope_for(kLarge), limits.update_bytes);
  TEST_ASSERT_EQUAL_size_t(2 * max_envelope_for(kLarge), limits.device_bytes);
  GatewaySettings::Limits small;
  ASSERT_OK(fit_limits(small, 1000));
  TEST_ASSERT_EQUAL_size_t(GatewaySettings::Limits().update_bytes, small.update_bytes);
  for (const char* key : {"update_bytes", "device_bytes", "inbox_bytes", "waiting_bytes", "outbox_bytes"}) {
    GatewaySettings::Limits given;
    given.given = {key};
    const std::string message = testing::message_of(fit_limits(given, 100 * kLarge));
    ASSERT_CONTAINS(message, "[limits] " + std::string(key) + " is ");
    ASSERT_CONTAINS(message, "2500000000 parameters");
  }
  GatewaySettings::Limits exact;
  exact.given = {"update_bytes"};
  exact.update_bytes = max_envelope_for(kLarge);
  ASSERT_OK(fit_limits(exact, kLarge));
  --exact.update_bytes;
  TEST_ASSERT_FALSE(fit_limits(exact, kLarge).ok());
}
