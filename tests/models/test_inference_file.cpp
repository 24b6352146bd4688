// Exported models: the same prediction for a sample alone and in a batch, in a stock ONNX Runtime.
#include <cmath>
#include <cstring>

#include "core/learning/inference_file.h"
#include "core/learning/normalisation_statistics.h"
#include "core/learning_onnx/onnx_predictor.h"
#include "models/onnx_file/onnx_file.h"
#include "models/zoo/zoo.h"
#include "models/zoo/zoo_package.h"
#include "tests/models/gradient_cases.h"

using namespace aflguard;
using namespace aflguard::models;
using namespace aflguard::models::testing;

namespace {

constexpr std::size_t kSamples = 40;

std::vector<float> waves(std::size_t size, float step = 0.7F) {
  std::vector<float> values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = std::sin(static_cast<float>(i) * step);
  return values;
}

std::string joined(const InferenceFile& file) {
  std::string bytes;
  for (const auto part : file.parts) bytes.append(reinterpret_cast<const char*>(part.data()), part.size());
  TEST_ASSERT_EQUAL_size_t(file.size(), bytes.size());
  return bytes;
}

std::vector<float> run(const std::string& file, const ModelDescription& model, std::span<const float> x,
                       std::size_t at_once) {
  auto predictor = OnnxPredictor::create(OnnxRuntime::load().value(), std::as_bytes(std::span(file)), model);
  ASSERT_OK(predictor);
  const std::size_t count = x.size() / model.input_size();
  std::vector<float> outputs(count * model.output_size());
  for (std::size_t i = 0; i < count; i += at_once) {
    const std::size_t some = std::min(at_once, count - i);
    ASSERT_OK(
        predictor->predict(x.subspan(i * model.input_size(), some * model.input_size()), some,
                           std::span(outputs).subspan(i * model.output_size(), some * model.output_size())));
  }
  return outputs;
}

void assert_close(std::span<const float> expected, std::span<const float> found, float limit) {
  TEST_ASSERT_EQUAL_size_t(expected.size(), found.size());
  for (std::size_t i = 0; i < expected.size(); ++i) TEST_ASSERT_FLOAT_WITHIN(limit, expected[i], found[i]);
}

ModelPackage small_resnet() {
  return build_zoo_package("resnet20", {.classes = 4, .input_shape = {1, 8, 8}}).value();
}

std::vector<float> moved_theta(const ModelPackage& package) {
  auto theta = initial_theta(package, 5).value();
  for (std::size_t i = 0; i < theta.size(); ++i) theta[i] += 0.05F * std::cos(static_cast<float>(i));
  return theta;
}

}  // namespace

TEST("A file holds the parameters under their names and is a model that anybody can read") {
  const std::vector<std::pair<const char*, ZooOptions>> cases = {
      {"linear-regression", {.features = 5}},
      {"logistic-regression", {.features = 6, .classes = 3}},
      {"cnn", {}},
      {"resnet20-gn", {.classes = 4, .input_shape = {1, 8, 8}}}};
  for (const auto& [name, options] : cases) {
    const ModelPackage package = build_zoo_package(name, options).value();
    const auto theta = moved_theta(package);
    const auto file = make_inference_file(package, theta, {}, {{"a", "b"}, {"c", ""}});
    ASSERT_OK(file);
    const std::string bytes = joined(*file);
    const auto read = parse_onnx(bytes);
    ASSERT_OK(read);
    TEST_ASSERT_EQUAL_size_t(1, read->inputs.size());
    for (const Parameter& parameter : package.description.parameters) {
      const auto found = std::find_if(read->initializers.begin(), read->initializers.end(),
                                      [&](const auto& item) { return item.name == parameter.name; });
      TEST_ASSERT_TRUE_MESSAGE(found != read->initializers.end(), parameter.name.c_str());
      TEST_ASSERT_EQUAL_size_t(parameter.size(), found->tensor.size());
    }
    const auto x = waves(3 * package.description.input_size());
    std::vector<float> expected(3 * package.description.output_size());
    ASSERT_OK(trainer_of(package)->predict(theta, x, 3, expected));
    assert_close(expected, run(bytes, package.description, x, 3), 1e-4F);
    const auto notes = read_file_notes(std::as_bytes(std::span(bytes)));
    ASSERT_OK(notes);
    TEST_ASSERT_TRUE((*notes == FileNotes{{"a", "b"}, {"c", ""}}));
  }
}

TEST("With batch normalisation a sample alone gets the prediction that it gets in a batch") {
  const ModelPackage package = small_resnet();
  TEST_ASSERT_GREATER_THAN_size_t(0, package.description.statistics);
  const auto theta = moved_theta(package);
  const auto x = waves(kSamples * package.description.input_size());
  const auto trainer = trainer_of(package);
  const auto statistics = measure_statistics(*trainer, theta, x);
  ASSERT_OK(statistics);
  TEST_ASSERT_EQUAL_size_t(package.description.statistics, statistics->size());
  const auto file = make_inference_file(package, theta, *statistics);
  ASSERT_OK(file);
  const std::string bytes = joined(*file);
  const auto alone = run(bytes, package.description, x, 1);
  assert_close(run(bytes, package.description, x, kSamples), alone, 1e-4F);
  // On the very samples that the statistics are of, that is what the batch gives.
  std::vector<float> batch(alone.size());
  ASSERT_OK(trainer->predict(theta, x, kSamples, batch));
  assert_close(batch, alone, 2e-3F);
  // And what the gateway evaluates with is what the file does.
  std::vector<float> given(alone.size());
  ASSERT_OK(trainer->predict_with(theta, *statistics, x, kSamples, given));
  assert_close(given, alone, 1e-4F);
  // One sample in the old way is something else altogether: this is why there are statistics.
  std::vector<float> single(package.description.output_size());
  ASSERT_OK(trainer->predict(theta, std::span(x).first(package.description.input_size()), 1, single));
  float largest = 0;
  for (std::size_t i = 0; i < single.size(); ++i) largest = std::max(largest, std::abs(single[i] - alone[i]));
  TEST_ASSERT_TRUE(largest > 0.01F);
}

TEST("Statistics over many samples are those of all of them") {
  const ModelPackage package = small_resnet();
  const auto theta = moved_theta(package);
  const auto x = waves(600 * package.description.input_size(), 0.37F);
  const auto trainer = trainer_of(package);
  const auto chunks = measure_statistics(*trainer, theta, x);
  ASSERT_OK(chunks);
  std::vector<float> whole(package.description.statistics);
  ASSERT_OK(trainer->measure_statistics(theta, x, 600, whole));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    TEST_ASSERT_FLOAT_WITHIN(0.05F * std::abs(whole[i]) + 0.02F, whole[i], (*chunks)[i]);
  }
  ASSERT_CONTAINS(message_of(measure_statistics(*trainer, theta, std::span(x).first(64))), "1 were given");
}

TEST("Scaling lies inside every graph, so that files take what sensors write") {
  const auto forward = build_zoo_model("logistic-regression", {.features = 2, .classes = 3}).value();
  PackageOptions options;
  options.scaling = {{100, -5}, {10, 0.5F}};
  options.class_names = {"a", "b", "c"};
  const auto scaled = build_package(forward, options);
  ASSERT_OK(scaled);
  const auto plain = build_package(forward, {});
  ASSERT_OK(plain);
  const std::vector<float> theta = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const std::vector<float> raw = {110, -4, 95, -6};
  const std::vector<float> standardised = {1, 2, -0.5F, -2};
  std::vector<float> expected(6);
  std::vector<float> found(6);
  ASSERT_OK(trainer_of(plain->package)->predict(theta, standardised, 2, expected));
  ASSERT_OK(trainer_of(scaled->package)->predict(theta, raw, 2, found));
  assert_close(expected, found, 1e-4F);
  const auto file = make_inference_file(scaled->package, theta, {});
  ASSERT_OK(file);
  assert_close(expected, run(joined(*file), scaled->package.description, raw, 1), 1e-4F);
  const std::vector<std::int64_t> labels = {0, 2};
  for (const GraphChoice graph : {GraphChoice::kStandard, GraphChoice::kFused}) {
    std::vector<float> gradient(9);
    std::vector<float> scaled_gradient(9);
    ASSERT_OK(trainer_of(plain->package, graph)->gradient(theta, {2, standardised, labels, {}}, gradient));
    ASSERT_OK(trainer_of(scaled->package, graph)->gradient(theta, {2, raw, labels, {}}, scaled_gradient));
    assert_close(gradient, scaled_gradient, 1e-5F);
  }
  TEST_ASSERT_FALSE(plain->package.description.hash == scaled->package.description.hash);
  options.scaling.means.push_back(1);
  TEST_ASSERT_FALSE(build_package(forward, options).ok());
  options.scaling = {};
  options.class_names = {"a"};
  ASSERT_CONTAINS(message_of(build_package(forward, options)), "1 class names, the model has 3");
}

TEST("What does not fit is refused before anything is written") {
  const ModelPackage package = small_resnet();
  auto theta = moved_theta(package);
  const std::vector<float> statistics(package.description.statistics, 1);
  ASSERT_CONTAINS(message_of(make_inference_file(package, theta, {})), "statistics are 0 numbers");
  ASSERT_CONTAINS(message_of(make_inference_file(package, std::span(theta).first(3), statistics)),
                  "3 numbers");
  theta[7] = std::nanf("");
  ASSERT_CONTAINS(message_of(make_inference_file(package, theta, statistics)),
                  "number 7 of the parameters is not finite");
  ModelPackage old = package;
  old.inference_graph.clear();
  ASSERT_CONTAINS(message_of(make_inference_file(old, theta, statistics)), "build it again");
}

TEST("A graph that is cut off or damaged anywhere is refused or read, and never crashes") {
  ModelPackage package = build_zoo_package("logistic-regression", {.features = 2, .classes = 3}).value();
  const std::string graph = package.inference_graph;
  const std::vector<float> theta(9, 0.5F);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    package.inference_graph = graph.substr(0, i);
    const auto cut = make_inference_file(package, theta, {});
    if (cut.ok()) (void)joined(*cut);
    package.inference_graph = graph;
    package.inference_graph[i] = static_cast<char>(package.inference_graph[i] ^ 0x55);
    const auto damaged = make_inference_file(package, theta, {});
    if (damaged.ok()) (void)joined(*damaged);
  }
}
