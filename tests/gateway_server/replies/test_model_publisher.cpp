#include <cmath>

#include "core/base/random.h"
#include "core/encoding/vector_codec.h"
#include "gateway_server/replies/model_publisher.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::gateway;

namespace {

/// A model that moves at random, one version after the other.
class Walk final {
 public:
  Walk() : parameters_(640) {
    for (float& parameter : parameters_) parameter = static_cast<float>(random_.normal() * 0.05);
  }
  [[nodiscard]] SharedModel next(double step = 1e-4) {
    auto snapshot = std::make_shared<ModelSnapshot>();
    for (float& parameter : parameters_) parameter += static_cast<float>(random_.normal() * step);
    snapshot->version = ++version_;
    snapshot->iteration = 2 * version_;
    snapshot->parameters = parameters_;
    return snapshot;
  }

 private:
  Random random_{1};
  std::vector<float> parameters_;
  std::uint64_t version_ = 0;
};

double movement_lost(const SharedModel& before, const SharedModel& model, const SharedModel& published) {
  std::vector<float> movement(model->parameters.size());
  std::vector<float> seen(model->parameters.size());
  for (std::size_t i = 0; i < movement.size(); ++i) {
    movement[i] = model->parameters[i] - before->parameters[i];
    seen[i] = published->parameters[i] - before->parameters[i];
  }
  return relative_error(movement, seen);
}

}  // namespace

TEST("From the second version on models lie on a grid, far below one update") {
  Walk walk;
  ModelPublisher publisher;
  SharedModel before = walk.next();
  TEST_ASSERT_TRUE(publisher.published(before) == before);
  for (int i = 0; i < 50; ++i) {
    const SharedModel model = walk.next();
    const SharedModel published = publisher.published(model);
    TEST_ASSERT_TRUE(published != model);
    TEST_ASSERT_TRUE(publisher.published(model) == published);
    TEST_ASSERT_EQUAL_UINT64(model->version, published->version);
    TEST_ASSERT_EQUAL_UINT64(model->iteration, published->iteration);
    const double lost = movement_lost(before, model, published);
    TEST_ASSERT_TRUE(lost > 0.001 && lost < 0.1);
    before = model;
  }
}

TEST("After many versions the grid follows a model that moves less") {
  Walk walk;
  ModelPublisher publisher;
  SharedModel before = walk.next();
  (void)publisher.published(before);
  double lost = 1;
  for (std::uint64_t i = 0; i < ModelPublisher::kVersionsPerGrid + 5; ++i) {
    const SharedModel model = walk.next(i == 0 ? 1e-4 : 1e-6);
    const SharedModel published = publisher.published(model);
    lost = movement_lost(before, model, published);
    before = model;
  }
  TEST_ASSERT_TRUE(lost < 0.1);
}

TEST("A gateway without a model publishes none, and one that went back begins again") {
  Walk walk;
  ModelPublisher publisher;
  TEST_ASSERT_TRUE(publisher.published(nullptr) == nullptr);
  const SharedModel first = walk.next();
  (void)publisher.published(walk.next());
  const SharedModel third = walk.next();
  TEST_ASSERT_TRUE(publisher.published(third) != third);
  TEST_ASSERT_TRUE(publisher.published(first) == first);
}
