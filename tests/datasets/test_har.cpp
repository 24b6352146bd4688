#include <cstdlib>
#include <lzma.h>

#include "core/learning/data/npy.h"
#include "core/system/atomic_file.h"
#include "datasets/har.h"
#include "datasets/install.h"
#include "datasets/load.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::datasets;
using testing::message_of;
namespace fs = std::filesystem;

namespace {

/// Three training and two test rows of two features, two classes and three subjects.
const DatasetInfo kSmallHar = {"har", "", Layout::kNpy, 3, 2, 2, {2}, 3, "aflguard data import har FOLDER"};

struct HarImport {
  testing::TemporaryFolder folder;
  fs::path source = folder / "source";
  fs::path target = folder / "target";
  SilentProgress progress;
  HarImport() {
    fs::create_directories(source);
    fs::create_directories(target);
  }
  void write(const std::string& name, const std::string& text) {
    fs::create_directories((source / name).parent_path());
    ASSERT_OK(write_file_atomically(source / name, text));
  }
  void write_original(const std::string& prefix = "") {
    write(prefix + "train/X_train.txt",
          "  2.8858451e-001 -2.0294171e-002\n -1.0000000e+000  1.0000000e+000\n 5 6\n");
    write(prefix + "train/y_train.txt", "1\n2\n1\n");
    write(prefix + "train/subject_train.txt", "1\n1\n3\n");
    write(prefix + "test/X_test.txt", "7 8\n9 10\n");
    write(prefix + "test/y_test.txt", "2\n1\n");
    write(prefix + "test/subject_test.txt", "2\n2\n");
  }
  Status run() { return import_har(kSmallHar, source, target, progress); }
};

void write_uint8_npy(const fs::path& path, const std::string& values) {
  std::string header =
      "{'descr': '|u1', 'fortran_order': False, 'shape': (" + std::to_string(values.size()) + ",), }\n";
  std::string text("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(header.size());
  text += '\0';
  ASSERT_OK(write_file_atomically(path, text + header + values));
}

void compress(const fs::path& path) {
  const auto bytes = *read_file(path);
  std::vector<std::byte> packed(bytes.size() + 1000);
  std::size_t size = 0;
  TEST_ASSERT_EQUAL_INT(
      LZMA_OK, lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, nullptr,
                                       reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(),
                                       reinterpret_cast<std::uint8_t*>(packed.data()), &size, packed.size()));
  ASSERT_OK(write_file_atomically(path.string() + ".xz", std::span(packed).first(size)));
  fs::remove(path);
}

void write_numpy(HarImport& import) {
  for (const auto& [part, labels, subjects] :
       {std::tuple<std::string, std::string, std::string>{"train", {"\0\1\0", 3}, "\1\1\3"},
        {"test", {"\1\0", 2}, "\2\2"}}) {
    const std::string prefix = (import.source / ("har-" + part)).string();
    const std::vector<float> features(labels.size() * 2, 0.5F);
    ASSERT_OK(write_npy(prefix + "-features2.npy", features, {labels.size(), 2}));
    compress(prefix + "-features2.npy");
    write_uint8_npy(prefix + "-labels.npy", labels);
    write_uint8_npy(prefix + "-subjects.npy", subjects);
  }
}

fs::path shared_har() {
  const char* shared = std::getenv("AFLGUARD_SHARED");
  return (shared != nullptr ? fs::path(shared) : testing::source_folder() / "../shared") / "data/har";
}

}  // namespace

TEST("The published folder gives classes from zero, subjects as they are and every feature") {
  HarImport import;
  import.write_original();
  ASSERT_OK(import.run());
  const auto split = load_folder(kSmallHar, import.target);
  ASSERT_OK(split);
  TEST_ASSERT_TRUE((split->train.labels == std::vector<std::int64_t>{0, 1, 0}));
  TEST_ASSERT_TRUE((split->train.subjects == std::vector<std::int64_t>{1, 1, 3}));
  TEST_ASSERT_EQUAL_FLOAT(0.28858451F, std::get<std::vector<float>>(split->train.features)[0]);
  TEST_ASSERT_TRUE((std::get<std::vector<float>>(split->test.features) == std::vector<float>{7, 8, 9, 10}));
}

TEST("The folder around the published one is accepted too") {
  HarImport import;
  import.write_original("UCI HAR Dataset/");
  ASSERT_OK(import.run());
  ASSERT_OK(load_folder(kSmallHar, import.target));
}

TEST("Compressed NumPy files are read, and classes and subjects verified") {
  HarImport import;
  write_numpy(import);
  ASSERT_OK(import.run());
  const auto split = load_folder(kSmallHar, import.target);
  ASSERT_OK(split);
  TEST_ASSERT_TRUE((split->test.labels == std::vector<std::int64_t>{1, 0}));
  write_uint8_npy(import.source / "har-test-labels.npy", {"\1\2", 2});
  ASSERT_CONTAINS(message_of(import.run()), "har-test-labels.npy: row 1 is 2, expected 0 to 1");
  write_uint8_npy(import.source / "har-test-labels.npy", "\1");
  ASSERT_CONTAINS(message_of(import.run()), "har-test-labels.npy has shape [1], expected [2]");
}

TEST("A compressed NumPy file that is cut short, or of another shape, is named") {
  HarImport import;
  write_numpy(import);
  const fs::path path = import.source / "har-train-features2.npy.xz";
  fs::resize_file(path, fs::file_size(path) - 1);
  ASSERT_CONTAINS(message_of(import.run()), path.string() + ": the .xz data is cut short");
  ASSERT_OK(write_npy(import.source / "har-train-features2.npy", std::vector<float>(8), {4, 2}));
  ASSERT_CONTAINS(message_of(import.run()), "has shape [4, 2], expected [3, 2]");
}

TEST("Rows too few, too many or of another width are named with file and line") {
  HarImport import;
  import.write_original();
  import.write("train/X_train.txt", "1 2\n3 4\n");
  ASSERT_CONTAINS(message_of(import.run()), "X_train.txt has 2 rows, expected 3");
  import.write("train/X_train.txt", "1 2\n3 4\n5 6\n7 8\n");
  ASSERT_CONTAINS(message_of(import.run()), "X_train.txt: line 4: more than the expected 3 rows");
  import.write("train/X_train.txt", "1 2\n3 4 5\n6 7\n");
  ASSERT_CONTAINS(message_of(import.run()), "X_train.txt: line 2: 3 columns, expected 2");
}

TEST("Labels, subjects and features outside their range are named with file, line and column") {
  HarImport import;
  import.write_original();
  import.write("train/y_train.txt", "1\n3\n1\n");
  ASSERT_CONTAINS(message_of(import.run()), "y_train.txt: line 2, column 1: '3' is outside 1 to 2");
  import.write_original();
  import.write("test/subject_test.txt", "2\n4\n");
  ASSERT_CONTAINS(message_of(import.run()), "subject_test.txt: line 2, column 1: '4' is outside 1 to 3");
  import.write_original();
  import.write("train/X_train.txt", "1 2\n3 NaN\n5 6\n");
  ASSERT_CONTAINS(message_of(import.run()), "X_train.txt: line 2, column 2: 'NaN' is not finite");
}

TEST("A subject that never appears is noticed when the data is loaded") {
  HarImport import;
  import.write_original();
  import.write("test/subject_test.txt", "1\n1\n");
  ASSERT_OK(import.run());
  ASSERT_CONTAINS(message_of(load_folder(kSmallHar, import.target)), "2 subjects, expected 3");
}

TEST("A folder that holds neither layout says what was looked for") {
  HarImport import;
  ASSERT_CONTAINS(message_of(import.run()), "holds neither train/X_train.txt");
  import.write_original();
  fs::remove(import.source / "train/y_train.txt");
  ASSERT_CONTAINS(message_of(import.run()), "y_train.txt: no such file");
}

TEST("The real recordings import with 10299 samples of 30 subjects") {
  if (!fs::exists(shared_har()))
    TEST_IGNORE_MESSAGE("no HAR data beside the source folder (AFLGUARD_SHARED)");
  const testing::TemporaryFolder folder;
  SilentProgress progress;
  const InstallContext context{folder / "data", folder / "cache", progress};
  ASSERT_OK(import_dataset("har", shared_har(), context));
  const auto split = load_dataset("har", folder / "data");
  ASSERT_OK(split);
  TEST_ASSERT_EQUAL_size_t(10299, split->train.size() + split->test.size());
}
