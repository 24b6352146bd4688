// What a board's export is for those who read it while power goes and comes: always a whole model, number by
// number one that the gateway signed. A kill hits either the moment at which the next file is being written,
// or any other. `./run check faults` has more rounds:
//   AFLGUARD_ROUNDS  kills
//   AFLGUARD_SEED    of the moments
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "core/base/random.h"
#include "core/learning/inference_file.h"
#include "core/system/atomic_file.h"
#include "tests/scenarios/device_rig.h"

using namespace aflguard;
using namespace aflguard::testing;
namespace fs = std::filesystem;

namespace {

std::uint64_t number_from(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// Reads the file without a pause, and kills the board where it is asked to.
class Reader final {
 public:
  Reader(fs::path file, const ModelPackage& package, std::vector<float> first, std::uint64_t first_version)
      : file_(std::move(file)),
        package_(package),
        theta_(std::move(first)),
        version_(first_version),
        thread_([this](const std::stop_token& stop) {
          while (!stop.stop_requested() && problem_.empty()) look();
        }) {}
  ~Reader() { (void)end(); }

  /// Kills `board` in the middle of its next export.
  void kill_while_writing(pid_t board) { victim_ = board; }
  [[nodiscard]] bool has_killed() const { return victim_ == 0; }
  [[nodiscard]] std::uint64_t versions() const { return versions_; }
  [[nodiscard]] std::uint64_t reads() const { return reads_; }
  /// What was wrong with what it read; empty when nothing was.
  [[nodiscard]] const std::string& end() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
    return problem_;
  }

 private:
  void look() {
    const pid_t board = victim_;
    if (board != 0 && fs::exists(file_.string() + ".new")) {
      ::kill(board, SIGKILL);
      victim_ = 0;
    }
    const auto file = read_file(file_);
    ++reads_;
    if (!file.ok()) {
      if (versions_ > 0) problem_ = "the file is gone: " + file.error().message;
      return;
    }
    if (*file == last_) return;
    const auto notes = read_file_notes(*file);
    problem_ = notes.ok() ? compare(*file, *notes) : notes.error().message;
    last_ = *file;
    ++versions_;
  }

  std::string compare(const Bytes& file, const FileNotes& notes) {
    std::uint64_t version = 0;
    for (const auto& [key, value] : notes) {
      if (key == kNoteVersion) version = std::strtoull(value.c_str(), nullptr, 10);
    }
    if (version < version_)
      return "version " + std::to_string(version) + " after " + std::to_string(version_);
    // As the gateway's stand-in moves its model from version to version.
    while (version_ < version) theta_[++version_ % theta_.size()] += 0.5F;
    const auto wanted = make_inference_file(package_, theta_, {}, notes);
    if (!wanted.ok()) return wanted.error().message;
    Bytes whole;
    for (const auto part : wanted->parts) whole.insert(whole.end(), part.begin(), part.end());
    return file == whole ? "" : "version " + std::to_string(version) + " is not what the gateway signed";
  }

  const fs::path file_;
  const ModelPackage& package_;
  std::vector<float> theta_;
  std::uint64_t version_;
  Bytes last_;
  std::string problem_;
  std::atomic<pid_t> victim_{0};
  std::atomic<std::uint64_t> versions_{0};
  std::atomic<std::uint64_t> reads_{0};
  std::jthread thread_;  // the last one: it uses all others
};

}  // namespace

TEST(
    "Whenever it is read, through kills at every moment, the exported model is a whole one that was signed") {
  const std::uint64_t rounds = number_from("AFLGUARD_ROUNDS", 6);
  Random random(number_from("AFLGUARD_SEED", 1));
  const ModelPackage package = wide_package();
  DeviceRig rig(package);
  write_wide_samples(rig.folder.path());
  rig.write_config(kWideData, "[model]\nexport = \"current.onnx\"\nexport_interval_seconds = 0\n");
  rig.gateway->change = [&rig](VerdictMessage& verdict) {
    ModelMessage& model = rig.gateway->model();
    model.vector[model.version % model.vector.size()] += 0.5F;
    verdict.model = model;
    rig.gateway->publish_model();  // what a board begins with after its restart
  };
  rig.gateway->publish_model();
  Reader reader(rig.folder / "current.onnx", package, rig.gateway->model().vector,
                rig.gateway->model().version);
  std::uint64_t while_writing = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    rig.start_client();
    const auto versions = reader.versions() + 1;
    rig.until([&] { return reader.versions() >= versions; }, "an export");
    if (round % 2 == 0) {
      reader.kill_while_writing(rig.client->pid());
      rig.until([&] { return reader.has_killed(); }, "the moment of an export");
      ++while_writing;
    } else {
      const auto pieces = rig.gateway->pieces + 1 + random.below(60);
      rig.until([&] { return rig.gateway->pieces >= pieces; }, "pieces of updates");
    }
    (void)rig.end_client(SIGKILL);
  }
  TEST_ASSERT_EQUAL_STRING("", reader.end().c_str());
  // What a kill left is in the place of the next one, not beside it.
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(rig.folder.path())) {
    if (entry.path().filename().string().starts_with("current.onnx")) ++files;
  }
  TEST_ASSERT_TRUE(files <= 2);
  std::printf("%llu kills, %llu of them while a file was written; %llu versions read in %llu reads\n",
              static_cast<unsigned long long>(rounds), static_cast<unsigned long long>(while_writing),
              static_cast<unsigned long long>(reader.versions()),
              static_cast<unsigned long long>(reader.reads()));
}
