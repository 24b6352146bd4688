#include <cmath>
#include <limits>

#include "tests/core/aggregation/guards/guards.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::testing;

TEST("AFLGuard accepts exactly the ball of radius lambda ||g_s|| around the reference, its edge included") {
  FixedReference source({3, 4});  // length 5, bound 7.5
  Aggregator guard = aggregator(make(aflguard_kind(), 2), source, {0, 0});
  const Verdict edge = submit(guard, 1, {3, 4 + 7.5F});
  TEST_ASSERT_TRUE(edge.accepted);
  TEST_ASSERT_EQUAL_DOUBLE(7.5, edge.distance);
  TEST_ASSERT_EQUAL_DOUBLE(7.5, edge.bound);
  TEST_ASSERT_EQUAL_FLOAT(-1.5F, guard.model().parameters()[0]);
  TEST_ASSERT_EQUAL_FLOAT(-5.75F, guard.model().parameters()[1]);
  const Verdict outside = submit(guard, 1, {3, 11.51F});
  TEST_ASSERT_FALSE(outside.accepted);
  TEST_ASSERT_EQUAL(Reason::kTooFar, outside.reason);
  TEST_ASSERT_EQUAL_UINT64(1, guard.model().version());
  TEST_ASSERT_EQUAL_FLOAT(-5.75F, guard.model().parameters()[1]);
}

TEST("AFLGuard with lambda above 1 takes an update that points uphill, as its rule says") {
  FixedReference source({3, 4});
  Aggregator guard = aggregator(make(aflguard_kind(), 2), source, {0, 0});
  TEST_ASSERT_TRUE(submit(guard, 1, {-1.5F, -2}).accepted);
  Aggregator strict = aggregator(make(aflguard_kind(), 2, 3, 0.99), source, {0, 0});
  TEST_ASSERT_FALSE(submit(strict, 1, {-1.5F, -2}).accepted);
}

TEST("AsyncSGD applies everything") {
  FixedReference source({0, 0});
  Aggregator sgd = aggregator(make(async_sgd_kind(), 2), source, {1, 1});
  TEST_ASSERT_TRUE(submit(sgd, 7, {-1000, 2}).accepted);
  TEST_ASSERT_EQUAL_FLOAT(501, sgd.model().parameters()[0]);
  TEST_ASSERT_EQUAL_FLOAT(0, sgd.model().parameters()[1]);
}

TEST("Zeno++ rescales what points along the reference and refuses the rest, right angles included") {
  FixedReference source({0, 2});
  Aggregator zeno = aggregator(make(zeno_plus_plus_kind(), 2), source, {0, 0});
  const Verdict along = submit(zeno, 1, {30, 40});
  TEST_ASSERT_TRUE(along.accepted);
  TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.8, along.distance);
  // (30, 40) rescaled to length 2 is (1.2, 1.6); the rate is 1/2.
  TEST_ASSERT_FLOAT_WITHIN(1e-6F, -0.6F, zeno.model().parameters()[0]);
  TEST_ASSERT_FLOAT_WITHIN(1e-6F, -0.8F, zeno.model().parameters()[1]);
  TEST_ASSERT_EQUAL(Reason::kAgainstReference, submit(zeno, 1, {5, 0}).reason);
  TEST_ASSERT_EQUAL(Reason::kAgainstReference, submit(zeno, 1, {5, -1e-3F}).reason);
  TEST_ASSERT_EQUAL(Reason::kAgainstReference, submit(zeno, 1, {0, 0}).reason);
}

TEST("BASGD waits for all buffers, then steps along the median of their means") {
  FixedReference source({0, 0});
  Aggregator basgd = aggregator(make(basgd_kind(), 2), source, {0, 0}, 1.0);
  TEST_ASSERT_EQUAL(Reason::kBuffered, submit(basgd, 0, {1, 10}).reason);
  TEST_ASSERT_EQUAL(Reason::kBuffered, submit(basgd, 3, {3, 30}).reason);  // buffer 0 again: mean (2, 20)
  TEST_ASSERT_EQUAL(Reason::kBuffered, submit(basgd, 1, {5, -7}).reason);
  TEST_ASSERT_EQUAL_UINT64(0, basgd.model().version());
  TEST_ASSERT_EQUAL(Reason::kAccepted, submit(basgd, 2, {-100, 4}).reason);
  TEST_ASSERT_EQUAL_FLOAT(-2, basgd.model().parameters()[0]);  // median of 2, 5, -100
  TEST_ASSERT_EQUAL_FLOAT(-4, basgd.model().parameters()[1]);  // median of 20, -7, 4
  TEST_ASSERT_EQUAL(Reason::kBuffered, submit(basgd, 2, {1, 1}).reason);
}

TEST("BASGD with an even number of buffers takes the mean of the two middle ones") {
  GuardSettings settings;
  settings.dimension = 1;
  settings.options = {{"buffers", 4}};
  FixedReference source({0});
  Aggregator basgd = aggregator(make_guard(basgd_kind(), settings).value(), source, {0}, 1.0);
  for (ClientId i = 0; i < 4; ++i) (void)submit(basgd, i, {std::vector<float>{8, 1, 4, 2}[i]});
  TEST_ASSERT_EQUAL_FLOAT(-3, basgd.model().parameters()[0]);
}

TEST("Kardam compares a client's Lipschitz coefficient with the median of all") {
  FixedReference source({0});
  Aggregator kardam = aggregator(make(kardam_kind(), 1, 2), source, {0}, 1.0);
  TEST_ASSERT_TRUE(submit(kardam, 1, {1}).accepted);   // first of client 1; theta -1
  TEST_ASSERT_TRUE(submit(kardam, 2, {-2}).accepted);  // first of client 2, on theta -1; theta 1
  // Client 1 again, now on theta 1: |3 - 1| / |1 - 0| = 2, the only coefficient and so the median.
  const Verdict second = submit(kardam, 1, {3});
  TEST_ASSERT_TRUE(second.accepted);
  TEST_ASSERT_EQUAL_DOUBLE(2, second.distance);
  TEST_ASSERT_EQUAL_DOUBLE(2, second.bound);
  // Client 2 on theta -2: |7 + 2| / |-2 + 1| = 9; median of {2, 9} is 5.5.
  const Verdict steep = submit(kardam, 2, {7});
  TEST_ASSERT_FALSE(steep.accepted);
  TEST_ASSERT_EQUAL(Reason::kTooSteep, steep.reason);
  TEST_ASSERT_EQUAL_DOUBLE(9, steep.distance);
  TEST_ASSERT_EQUAL_DOUBLE(5.5, steep.bound);
  // Its last accepted update still is -2: |0 + 2| / 1 = 2; median of {2, 2}.
  TEST_ASSERT_TRUE(submit(kardam, 2, {0}).accepted);
}

TEST("Kardam accepts everything until every client has reported, if told to wait") {
  FixedReference source({0});
  Aggregator waiting = aggregator(make(kardam_kind(), 1, 3), source, {0}, 1.0);
  for (const float g : {1.0F, 100.0F, -5000.0F}) TEST_ASSERT_TRUE(submit(waiting, 1, {g}).accepted);
  GuardSettings settings;
  settings.dimension = 1;
  settings.clients = 3;
  settings.options = {{"startup-wait", 0}};
  Aggregator strict = aggregator(make_guard(kardam_kind(), settings).value(), source, {0}, 1.0);
  TEST_ASSERT_TRUE(submit(strict, 1, {1}).accepted);
  TEST_ASSERT_TRUE(submit(strict, 2, {1}).accepted);
  TEST_ASSERT_TRUE(submit(strict, 1, {2}).accepted);
  TEST_ASSERT_FALSE(submit(strict, 2, {500}).accepted);
}

TEST("Kardam refuses a second update on the same model: it cannot be compared") {
  FixedReference source({0});
  GuardSettings settings;
  settings.dimension = 1;
  settings.options = {{"startup-wait", 0}};
  Aggregator kardam = aggregator(make_guard(kardam_kind(), settings).value(), source, {0}, 1.0);
  TEST_ASSERT_TRUE(kardam.submit({1, 0, std::vector<float>{1}}).value().accepted);
  TEST_ASSERT_EQUAL(Reason::kTooSteep, kardam.submit({1, 0, std::vector<float>{1}}).value().reason);
}

TEST("Kardam's frequency filter wants f + 1 clients among the last 2f + 1 accepted updates") {
  FixedReference source({0});
  GuardSettings settings;
  settings.dimension = 1;
  settings.clients = 100;  // never all: the Lipschitz guard lets everything through
  settings.options = {{"frequency", 1}};
  Aggregator kardam = aggregator(make_guard(kardam_kind(), settings).value(), source, {0}, 1.0);
  TEST_ASSERT_TRUE(submit(kardam, 1, {1}).accepted);
  TEST_ASSERT_TRUE(submit(kardam, 1, {1}).accepted);
  TEST_ASSERT_EQUAL(Reason::kTooFrequent, submit(kardam, 1, {1}).reason);
  TEST_ASSERT_TRUE(submit(kardam, 2, {1}).accepted);
  TEST_ASSERT_TRUE(submit(kardam, 1, {1}).accepted);  // 1 2 1
  TEST_ASSERT_TRUE(submit(kardam, 1, {1}).accepted);  // 2 1 1
  TEST_ASSERT_FALSE(submit(kardam, 1, {1}).accepted);
}

TEST("Kardam's dampening scales by 1 / (1 + delay)") {
  FixedReference source({0});
  GuardSettings settings;
  settings.dimension = 1;
  settings.options = {{"dampening", 1}};
  Aggregator kardam = aggregator(make_guard(kardam_kind(), settings).value(), source, {0}, 1.0);
  (void)submit(kardam, 1, {1});
  (void)submit(kardam, 2, {1});
  const float before = kardam.model().parameters()[0];
  const Verdict late = kardam.submit({3, 0, std::vector<float>{6}}).value();
  TEST_ASSERT_EQUAL_UINT64(2, late.delay);
  TEST_ASSERT_EQUAL_FLOAT(before - 2, kardam.model().parameters()[0]);
}

TEST("Synchronous AFLGuard averages what a round accepts and steps once") {
  FixedReference source({1, 0});
  Aggregator guard = aggregator(make(sync_aflguard_kind(), 2, 3), source, {0, 0}, 1.0);
  TEST_ASSERT_EQUAL(Reason::kBuffered, submit(guard, 0, {1, 1}).reason);
  TEST_ASSERT_EQUAL(Reason::kTooFar, submit(guard, 1, {50, 0}).reason);
  TEST_ASSERT_EQUAL_UINT64(0, guard.model().version());
  TEST_ASSERT_TRUE(submit(guard, 2, {2, 0}).accepted);
  TEST_ASSERT_EQUAL_UINT64(1, guard.model().version());
  TEST_ASSERT_EQUAL_FLOAT(-1.5F, guard.model().parameters()[0]);
  TEST_ASSERT_EQUAL_FLOAT(-0.5F, guard.model().parameters()[1]);
}

TEST("A reference that is not finite accepts nothing, even an update that is infinite too") {
  for (const float bad : {kNan, kInfinity}) {
    for (const auto& kind : {aflguard_kind(), zeno_plus_plus_kind(), sync_aflguard_kind()}) {
      FixedReference source({bad, 1});
      Aggregator guard = aggregator(make(kind, 2), source, {0, 0});
      TEST_ASSERT_FALSE(submit(guard, 1, {1, 1}).accepted);
      TEST_ASSERT_FALSE(submit(guard, 1, {kInfinity, 1}).accepted);
    }
  }
}

TEST("An update that would take the model out of float's range is refused") {
  FixedReference source({0, 0});
  Aggregator sgd = aggregator(make(async_sgd_kind(), 2), source, {1e38F, 0}, 1.0);
  TEST_ASSERT_EQUAL(Reason::kOverflow, submit(sgd, 1, {-3e38F, 0}).reason);
  TEST_ASSERT_EQUAL_FLOAT(1e38F, sgd.model().parameters()[0]);
}

TEST("Unknown options and values out of range are named, with the nearest that exists") {
  GuardSettings settings;
  settings.dimension = 1;
  settings.options = {{"bufers", 3}};
  ASSERT_CONTAINS(message_of(make_guard(basgd_kind(), settings)), "did you mean 'buffers'?");
  settings.options = {{"buffers", 65}};
  ASSERT_CONTAINS(message_of(make_guard(basgd_kind(), settings)), "must be from 1 to 64");
  settings.options.clear();
  settings.lambda = kNan;
  ASSERT_CONTAINS(message_of(make_guard(aflguard_kind(), settings)), "lambda");
}
