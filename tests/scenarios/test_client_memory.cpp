#include <cstdio>
#include <fstream>
#include <sstream>

#include "core/base/random.h"
#include "core/learning/data/idx.h"
#include "core/learning/data/npy.h"
#include "models/zoo/zoo_package.h"
#include "tests/scenarios/device_rig.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

/// What a small board can spare for a client that trains the paper's network.
constexpr double kMegabytes = 45;

/// Megabytes of a line of /proc/PID/status: VmRSS now, VmHWM the most there ever was.
double megabytes(pid_t pid, const std::string& name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name + ":")) return std::stod(line.substr(name.size() + 1)) / 1024;
  }
  return 0;
}

/// The most that a client takes until it has had `verdicts` on updates of a linear model, each as large as
/// the model.
double most_for(std::size_t features, std::size_t classes, std::size_t verdicts) {
  DeviceRig rig(
      models::build_zoo_package("logistic-regression", {.features = features, .classes = classes}).value());
  std::vector<float> samples(8 * features, 0.5F);
  ASSERT_OK(write_npy(rig.folder / "x.npy", samples, {8, features}));
  ASSERT_OK(write_npy(rig.folder / "y.npy", std::vector<std::int64_t>{0, 1, 0, 1, 0, 1, 0, 1}, {8}));
  rig.write_config(kWideData, "[model]\nexport = \"current.onnx\"\n");
  rig.gateway->publish_model();
  rig.start_client();
  rig.until([&] { return rig.gateway->applied() >= verdicts; }, "verdicts");
  return megabytes(rig.client->pid(), "VmHWM");
}

void write_images(const std::filesystem::path& folder, std::size_t count) {
  Random random(1);
  std::vector<std::uint8_t> pixels(count * 28 * 28);
  for (auto& pixel : pixels) pixel = static_cast<std::uint8_t>(random.below(256));
  std::vector<std::uint8_t> labels(count);
  for (auto& label : labels) label = static_cast<std::uint8_t>(random.below(10));
  ASSERT_OK(write_idx(folder / "images", {count, 28, 28}, pixels));
  ASSERT_OK(write_idx(folder / "labels", {count}, labels));
}

}  // namespace

TEST("A client that trains the paper's network on thousands of images stays within 45 MB") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  TEST_IGNORE_MESSAGE("a sanitizer takes memory too");
#endif
  for (const std::size_t samples : {2000, 6000}) {
    DeviceRig rig(models::build_zoo_package("cnn").value());
    rig.gateway->model().batch_size = 32;
    write_images(rig.folder.path(), samples);
    rig.write_config("format = \"idx\"\nimages = \"images\"\nlabels = \"labels\"\n");
    rig.gateway->publish_model();
    rig.start_client();
    rig.until([&] { return rig.gateway->applied() >= 30; }, "thirty updates");
    const double now = megabytes(rig.client->pid(), "VmRSS");
    const double most = megabytes(rig.client->pid(), "VmHWM");
    std::printf("%zu samples: %.1f MB resident, %.1f MB at most\n", samples, now, most);
    TEST_ASSERT_TRUE_MESSAGE(now > 1, "the client's memory was not found");
    TEST_ASSERT_TRUE(now <= kMegabytes && most <= kMegabytes);
  }
}

TEST("A large model takes at most six times its size, sent and received as a whole, and exported") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  TEST_IGNORE_MESSAGE("a sanitizer takes memory too");
#endif
  constexpr std::size_t kFeatures = 3000;
  constexpr std::size_t kClasses = 1200;
  const double model = kClasses * (kFeatures + 1) * sizeof(float) / 1048576.0;
  const double small = most_for(2, 2, 3);
  const double large = most_for(kFeatures, kClasses, 6);
  std::printf("%.1f MB of parameters: %.1f MB at most, %.1f MB with next to none\n", model, large, small);
  TEST_ASSERT_TRUE_MESSAGE(small > 1 && large > small + model, "the client's memory was not found");
  TEST_ASSERT_TRUE(large <= small + 6 * model);
}
