#include "models/resampling.h"
#include "tests/models/gradient_cases.h"

using namespace aflguard;
using namespace aflguard::models;
using namespace aflguard::models::testing;

namespace {

using Ints = std::vector<std::int64_t>;

/// [2, 5, 3] channels and extents, scaled by trained values.
FileBuilder image(int opset = 13, const Ints& sample = {2, 5, 3}) {
  FileBuilder file(sample, opset);
  file.weight("scale", sample, 1).node("Mul", {"x", "scale"}, "h");
  return file;
}

FileBuilder& constant(FileBuilder& file, const std::string& name, const std::vector<float>& values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return file.node("Constant", {}, name, {{"value", float_tensor(values, {count})}});
}

Attributes modes(const std::string& mode, const std::string& coordinates,
                 const std::string& nearest = "floor") {
  return {{"mode", mode}, {"coordinate_transformation_mode", coordinates}, {"nearest_mode", nearest}};
}

}  // namespace

TEST("Resize has correct gradients in every mode, for scales that are whole, broken and shrinking") {
  for (const char* coordinates : {"half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"}) {
    for (const float scale : {2.0F, 1.7F, 0.6F, 1.05F}) {
      FileBuilder linear = image();
      constant(linear, "s", {1, 1, scale, 3});
      expect_gradient(linear.node("Resize", {"h", "", "s"}, "out", modes("linear", coordinates)), 1);
      for (const char* nearest : {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"}) {
        FileBuilder file = image();
        constant(file, "s", {1, 1, scale, 3});
        file.node("Resize", {"h", "", "s"}, "out", modes("nearest", coordinates, nearest));
        expect_gradient(file, 1, Loss::kMeanSquaredError, 5e-3, {2});
      }
    }
  }
}

TEST("Resize to sizes has correct gradients, with the batch free and with that of the file") {
  FileBuilder file = image();
  file.node("Shape", {"h"}, "all").ints("from", {0}).ints("to", {2}).ints("axis", {0});
  file.node("Slice", {"all", "from", "to", "axis"}, "front").ints("extents", {7, 4});
  file.node("Concat", {"front", "extents"}, "sizes", {{"axis", std::int64_t{0}}});
  expect_gradient(file.node("Resize", {"h", "", "", "sizes"}, "out", modes("linear", "align_corners")), 1);
  FileBuilder fixed = image();
  fixed.model.inputs[0].dims[0] = {6, ""};
  fixed.ints("sizes", {6, 2, 7, 1});
  expect_gradient(fixed.node("Resize", {"h", "", "", "sizes"}, "out", modes("linear", "half_pixel")), 1);
}

TEST("Resize has correct gradients for one and for three extents") {
  FileBuilder line = image(13, {2, 5});
  constant(line, "s", {1, 1, 1.5F});
  expect_gradient(line.node("Resize", {"h", "", "s"}, "out", modes("linear", "half_pixel")), 1);
  FileBuilder repeated = image(13, {2, 5});
  constant(repeated, "s", {1, 1, 3});
  expect_gradient(repeated.node("Resize", {"h", "", "s"}, "out", modes("nearest", "asymmetric")), 1);
  FileBuilder volume = image(13, {2, 3, 2, 4});
  constant(volume, "s", {1, 1, 2, 1.5F, 0.75F});
  expect_gradient(volume.node("Resize", {"h", "", "s"}, "out", modes("linear", "align_corners")), 1);
}

TEST("The forms of older and newer operator sets have correct gradients") {
  const std::vector<float> scales{1, 1, 2, 1.5F};
  FileBuilder seven = image(7);
  seven.node("Upsample", {"h"}, "out", {{"mode", std::string("nearest")}, {"scales", scales}});
  expect_gradient(seven, 1);
  FileBuilder nine = image(9);
  constant(nine, "s", scales).node("Upsample", {"h", "s"}, "out", {{"mode", std::string("linear")}});
  expect_gradient(nine, 1);
  FileBuilder ten = image(10);
  constant(ten, "s", scales).node("Resize", {"h", "s"}, "out", {{"mode", std::string("linear")}});
  expect_gradient(ten, 1);
  FileBuilder eleven = image(11);
  constant(eleven, "roi", {});
  constant(eleven, "none", {}).ints("sizes", {1, 2, 10, 6}).model.inputs[0].dims[0] = {1, ""};
  expect_gradient(eleven.node("Resize", {"h", "roi", "none", "sizes"}, "out", modes("nearest", "asymmetric")),
                  1);
  FileBuilder eighteen = image(18);
  constant(eighteen, "s", {2});
  Attributes last_axis = modes("linear", "half_pixel");
  last_axis["axes"] = Ints{-1};
  expect_gradient(eighteen.node("Resize", {"h", "", "s"}, "out", last_axis), 1);
}

TEST("Settings of Resize without a rule are refused with node and setting") {
  const auto refused = [](Attributes attributes, const std::vector<float>& scales, const std::string& part) {
    FileBuilder file = image(18);
    constant(file, "s", scales);
    expect_refusal(file.node("Resize", {"h", "", "s"}, "out", std::move(attributes)),
                   {"'the_out' (Resize)", part});
  };
  const std::vector<float> twice{1, 1, 2, 2};
  refused(modes("cubic", "half_pixel"), twice, "'cubic'; supported are nearest, linear");
  refused(modes("linear", "tf_crop_and_resize"), twice, "'tf_crop_and_resize'");
  refused(modes("nearest", "half_pixel", "coin"), twice, "'coin'");
  refused({{"antialias", std::int64_t{1}}}, twice, "antialias");
  refused({{"keep_aspect_ratio_policy", std::string("not_larger")}}, twice, "'not_larger'");
  refused({}, {1, 2, 2, 2}, "channels");
  refused({}, {1, 1, 2}, "3 scales");
  refused({}, {1, 1, -1, 2}, "impossible");
  refused({}, {1, 1, 0.01F, 2}, "impossible");
  refused({}, {1, 1, 1e30F, 2}, "impossible");
  FileBuilder runtime = image();
  runtime.ints("a", {0, 2, 3}).node("ReduceSum", {"h", "a"}, "s", {{"keepdims", std::int64_t{0}}});
  expect_refusal(runtime.node("Resize", {"h", "", "s"}, "out"), {"'the_out' (Resize)", "run time"});
}

TEST("The largest table of weights is taken, a larger one is refused") {
  FileBuilder fits({1, 1024}, 13);
  fits.weight("scale", {1}).node("Mul", {"x", "scale"}, "h");
  constant(fits, "s", {1, 1, 1.0001F});  // as many elements as before, at other places
  ASSERT_OK(build(fits.node("Resize", {"h", "", "s"}, "out", modes("linear", "half_pixel")).model,
                  Loss::kMeanSquaredError));
  FileBuilder larger({1, 1024}, 13);
  larger.weight("scale", {1}).node("Mul", {"x", "scale"}, "h");
  constant(larger, "s", {1, 1, 1.001F});
  expect_refusal(larger.node("Resize", {"h", "", "s"}, "out", modes("linear", "half_pixel")),
                 {"'the_out' (Resize)", "from 1024 to 1025", std::to_string(kMaxResampling)});
}
