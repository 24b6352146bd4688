#include <limits>

#include "tests/models/gradient_cases.h"

using namespace aflguard;
using namespace aflguard::models;
using namespace aflguard::models::testing;

namespace {

using Ints = std::vector<std::int64_t>;

/// x scaled by one trained value per element.
FileBuilder scaled(const Ints& sample, int opset = 13) {
  FileBuilder file(sample, opset);
  file.weight("scale", sample, 1).node("Mul", {"x", "scale"}, "h");
  return file;
}

}  // namespace

TEST("Reshape, Flatten, Transpose, Squeeze and Unsqueeze have correct gradients") {
  expect_gradient(scaled({2, 6}).ints("s", {-1, 3, 4}).node("Reshape", {"h", "s"}, "out"), 1);
  expect_gradient(scaled({2, 6}).ints("s", {0, -1}).node("Reshape", {"h", "s"}, "out"), 1);
  expect_gradient(scaled({2, 3, 4}).node("Flatten", {"h"}, "out"), 1);
  expect_gradient(scaled({2, 3, 4}).node("Transpose", {"h"}, "out", {{"perm", Ints{0, 3, 1, 2}}}), 1);
  expect_gradient(scaled({1, 3}).ints("a", {1}).node("Squeeze", {"h", "a"}, "out"), 1);
  expect_gradient(scaled({3}).ints("a", {1, 3}).node("Unsqueeze", {"h", "a"}, "out"), 1);
}

TEST("Axes of Squeeze and Unsqueeze are attributes before opset 13") {
  expect_gradient(scaled({1, 3, 1}, 11).node("Squeeze", {"h"}, "out", {{"axes", Ints{1}}}), 1);
  expect_gradient(scaled({1, 3, 1}, 11).node("Squeeze", {"h"}, "out"), 1);
  expect_gradient(scaled({3}, 11).node("Unsqueeze", {"h"}, "out", {{"axes", Ints{-1}}}), 1);
}

TEST("A transposed batch stays free as long as it comes back to the front") {
  FileBuilder file = scaled({3, 4});
  file.node("Transpose", {"h"}, "t", {{"perm", Ints{1, 0, 2}}})
      .ints("s", {3, -1})
      .node("Reshape", {"t", "s"}, "f");
  file.ints("back", {3, -1, 4}).node("Reshape", {"f", "back"}, "u");
  file.node("Transpose", {"u"}, "out", {{"perm", Ints{1, 0, 2}}});
  expect_gradient(file, 1);
}

TEST("Concat and Split have correct gradients, also for parts that nothing uses") {
  FileBuilder join = scaled({3, 2});
  join.weight("v", {3, 2})
      .node("Mul", {"x", "v"}, "g")
      .node("Concat", {"h", "x", "g"}, "out", {{"axis", std::int64_t{-1}}});
  expect_gradient(join, 2);
  FileBuilder part({6});
  part.weight("scale", {6}, 1).node("Mul", {"x", "scale"}, "h").ints("sizes", {1, 2, 3});
  part.model.nodes.push_back(
      {{"", "Split"}, {"h", "sizes"}, {"a", "b", "out"}, {{"axis", std::int64_t{1}}}, "split"});
  expect_gradient(part, 1, Loss::kMeanSquaredError);
  FileBuilder old({6}, 11);
  old.weight("scale", {6}, 1).node("Mul", {"x", "scale"}, "h");
  old.model.nodes.push_back({{"", "Split"}, {"h"}, {"a", "b"}, {{"axis", std::int64_t{1}}}, "split"});
  old.node("Mul", {"a", "b"}, "out");
  expect_gradient(old, 1);
}

TEST("Slice has correct gradients: from the end, with steps, several axes") {
  FileBuilder file = scaled({8, 7});
  file.ints("starts", {1, -6}).ints("ends", {8, 7}).ints("axes", {1, 2}).ints("steps", {3, 2});
  expect_gradient(file.node("Slice", {"h", "starts", "ends", "axes", "steps"}, "out"), 1);
  FileBuilder old = scaled({8}, 9);
  const std::int64_t end = std::numeric_limits<std::int64_t>::max();
  expect_gradient(old.node("Slice", {"h"}, "out",
                           {{"axes", Ints{0, 1}}, {"starts", Ints{0, 2}}, {"ends", Ints{end, -1}}}),
                  1);
}

TEST("Gather with constant indices has correct gradients") {
  FileBuilder list = scaled({5});
  expect_gradient(list.ints("at", {3, 0, 3}).node("Gather", {"h", "at"}, "out", {{"axis", std::int64_t{1}}}),
                  1);
  FileBuilder one = scaled({5, 2});
  one.model.initializers.push_back({"at", int64_tensor({-1}, {})});
  expect_gradient(one.node("Gather", {"h", "at"}, "out", {{"axis", std::int64_t{1}}}), 1);
}

TEST("Pad has correct gradients for padding and cropping, in its old and new forms") {
  expect_gradient(scaled({3, 4}).ints("p", {0, 1, 2, 0, 0, 3}).node("Pad", {"h", "p"}, "out"), 1);
  expect_gradient(scaled({3, 4}).ints("p", {0, -1, 2, 0, 0, -2}).node("Pad", {"h", "p"}, "out"), 1);
  expect_gradient(
      scaled({3, 4}, 9).node("Pad", {"h"}, "out", {{"pads", Ints{0, 1, 2, 0, 0, 3}}, {"value", 0.5F}}), 1);
  FileBuilder axes = scaled({3, 4}, 18);
  axes.ints("p", {1, 2}).ints("a", {2}).node("Pad", {"h", "p", "", "a"}, "out");
  expect_gradient(axes, 1);
}

TEST("Expand repeats a parameter for every sample and sums its gradient") {
  FileBuilder file({3, 4});
  file.weight("token", {1, 1, 4}).node("Shape", {"x"}, "shape").ints("zero", {0});
  file.node("Gather", {"shape", "zero"}, "batch").ints("rest", {2, 4});
  file.node("Concat", {"batch", "rest"}, "target", {{"axis", std::int64_t{0}}})
      .node("Expand", {"token", "target"}, "tokens");
  file.node("Concat", {"tokens", "x"}, "out", {{"axis", std::int64_t{1}}});
  expect_gradient(file, 1);
}

TEST("Pad with the input's own elements has correct gradients") {
  for (const char* mode : {"reflect", "edge"}) {
    FileBuilder file = scaled({3, 4});
    file.ints("p", {0, 1, 3, 0, 2, 0}).node("Pad", {"h", "p"}, "out", {{"mode", std::string(mode)}});
    expect_gradient(file, 1);
  }
  FileBuilder far = scaled({3, 4});
  far.ints("p", {0, 0, 4, 0, 0, 0}).node("Pad", {"h", "p"}, "out", {{"mode", std::string("reflect")}});
  expect_refusal(far, {"'the_out' (Pad)", "axis 2", "by 4 and 0"});
}

TEST("Tile repeats axes, also a parameter once for every sample") {
  expect_gradient(scaled({2, 3}).ints("r", {1, 3, 2}).node("Tile", {"h", "r"}, "out"), 1);
  FileBuilder file({3, 4});
  file.weight("token", {1, 1, 4}).node("Shape", {"x"}, "shape").ints("zero", {0}).ints("rest", {2, 1});
  file.node("Gather", {"shape", "zero"}, "batch");
  file.node("Concat", {"batch", "rest"}, "repeats", {{"axis", std::int64_t{0}}});
  file.node("Tile", {"token", "repeats"}, "tokens");
  expect_gradient(file.node("Concat", {"tokens", "x"}, "out", {{"axis", std::int64_t{1}}}), 1);
  expect_refusal(scaled({2, 3}).ints("r", {2, 1, 1}).node("Tile", {"h", "r"}, "out"),
                 {"'the_out' (Tile)", "[batch"});
}

TEST("DepthToSpace and SpaceToDepth have correct gradients; a block that does not fit is refused") {
  for (const char* mode : {"DCR", "CRD"}) {
    FileBuilder file = scaled({8, 2, 3});
    expect_gradient(file.node("DepthToSpace", {"h"}, "out",
                              {{"blocksize", std::int64_t{2}}, {"mode", std::string(mode)}}),
                    1);
  }
  FileBuilder back = scaled({2, 4, 6});
  expect_gradient(back.node("SpaceToDepth", {"h"}, "out", {{"blocksize", std::int64_t{2}}}), 1);
  FileBuilder odd = scaled({6, 2, 3});
  expect_refusal(odd.node("DepthToSpace", {"h"}, "out", {{"blocksize", std::int64_t{2}}}),
                 {"'the_out' (DepthToSpace)", "blocksize 2", "[batch, 6, 2, 3]"});
}

TEST("Reductions have correct gradients over any axes") {
  for (const char* op : {"ReduceMean", "ReduceSum", "ReduceSumSquare", "ReduceL2", "ReduceL1", "ReduceMax",
                         "ReduceMin", "ReduceLogSumExp"}) {
    for (const std::int64_t keep : {0, 1}) {
      expect_gradient(scaled({3, 4}, 11).node(op, {"h"}, "out", {{"axes", Ints{-1}}, {"keepdims", keep}}), 1);
      FileBuilder input = scaled({3, 4}, 18);
      expect_gradient(input.ints("axes", {1, 2}).node(op, {"h", "axes"}, "out", {{"keepdims", keep}}), 1);
    }
  }
}

TEST("A mean over the batch divides by the batch size of the run") {
  FileBuilder file = scaled({3});
  file.node("ReduceMean", {"h"}, "m", {{"axes", Ints{0}}}).node("Sub", {"h", "m"}, "out");
  expect_gradient(file, 1, Loss::kMeanSquaredError, 5e-3, {2, 5, 32});
}
