#include "gateway_server/replies/sent_models.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::gateway;

namespace {

/// Of 40 bytes.
SharedModel model(std::uint64_t version) {
  auto snapshot = std::make_shared<ModelSnapshot>();
  snapshot->version = version;
  snapshot->parameters.assign(10, 1);
  return snapshot;
}

}  // namespace

TEST("The newest versions are kept within their memory, older ones are forgotten") {
  SentModels sent(120);
  for (const std::uint64_t version : {3, 5, 8, 9}) sent.remember(model(version));
  TEST_ASSERT_TRUE(sent.find(3) == nullptr);
  TEST_ASSERT_TRUE(sent.find(4) == nullptr);
  for (const std::uint64_t version : {5, 8, 9})
    TEST_ASSERT_EQUAL_UINT64(version, sent.find(version)->version);
  TEST_ASSERT_EQUAL_size_t(120, sent.bytes());
}

TEST("One version given out twice is kept once, and with no memory none is") {
  SentModels sent(120);
  const SharedModel same = model(3);
  sent.remember(same);
  sent.remember(same);
  TEST_ASSERT_EQUAL_size_t(40, sent.bytes());
  SentModels none(0);
  none.remember(same);
  TEST_ASSERT_TRUE(none.find(3) == nullptr);
  TEST_ASSERT_EQUAL_size_t(0, none.bytes());
}

TEST("When versions go back, what went beyond is forgotten: it was another model") {
  SentModels sent(1000);
  for (const std::uint64_t version : {3, 5, 8}) sent.remember(model(version));
  const SharedModel restored = model(5);
  sent.remember(restored);
  TEST_ASSERT_TRUE(sent.find(5) == restored);
  TEST_ASSERT_TRUE(sent.find(8) == nullptr);
  TEST_ASSERT_TRUE(sent.find(3) != nullptr);
  TEST_ASSERT_EQUAL_size_t(80, sent.bytes());
}

TEST("A difference is kept for as long as it leads to the newest version, and counts as memory") {
  SentModels sent(120);
  sent.remember(model(3));
  sent.remember(model(5));
  sent.keep_difference(3, 5, Bytes(20));
  TEST_ASSERT_EQUAL_size_t(20, sent.difference(3, 5)->size());
  TEST_ASSERT_TRUE(sent.difference(3, 6) == nullptr);
  TEST_ASSERT_TRUE(sent.difference(4, 5) == nullptr);
  TEST_ASSERT_EQUAL_size_t(100, sent.bytes());
  sent.keep_difference(5, 8, Bytes(10));
  TEST_ASSERT_TRUE(sent.difference(3, 5) == nullptr);
  TEST_ASSERT_EQUAL_size_t(90, sent.bytes());
  sent.keep_difference(3, 8, Bytes(35));  // over the limit: the oldest model goes, and its difference with it
  TEST_ASSERT_TRUE(sent.find(3) == nullptr);
  TEST_ASSERT_TRUE(sent.difference(3, 8) == nullptr);
  TEST_ASSERT_EQUAL_size_t(50, sent.bytes());
}
