#include <string_view>

#include "core/base/check.h"
#include "core/base/identifier.h"
#include "core/transport/topics.h"
#include "fuzz/target.h"

using namespace aflguard;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto topic = parse_topic(text);
  if (topic.ok()) {
    check(topic->text() == text, "a topic prints as it was read");
    check(is_identifier(topic->fleet), "a fleet has a name");
    check(topic->device.empty() || is_identifier(topic->device), "a device has a name");
  }
  // A filter can be anything too.
  const std::size_t half = size / 2;
  static_cast<void>(topic_matches(text.substr(0, half), text.substr(half)));
  return 0;
}
