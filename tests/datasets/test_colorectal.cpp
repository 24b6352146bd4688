#include <algorithm>

#include "core/system/atomic_file.h"
#include "datasets/colorectal.h"
#include "datasets/load.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::datasets;
using testing::message_of;
namespace fs = std::filesystem;

namespace {

/// Eight images of 2 x 2 pixels in two classes.
const DatasetInfo kSmallColorectal = {"colorectal", "", Layout::kIdx, 6, 2, 2, {1, 2, 2}, 0, ""};

/// Pixel values of image i are 4i ... 4i + 3; classes alternate.
std::string table(int images) {
  std::string text = "pixel0000,pixel0001,pixel0002,pixel0003,label\n";
  for (int i = 0; i < images; ++i) {
    for (int p = 0; p < 4; ++p) text += std::to_string(4 * i + p) + ",";
    text += std::to_string(1 + i % 2) + "\n";
  }
  return text;
}

struct ColorectalImport {
  testing::TemporaryFolder folder;
  fs::path csv = folder / "hmnist_64_64_L.csv";
  fs::path target = folder / "target";
  SilentProgress progress;
  explicit ColorectalImport(const std::string& text) {
    fs::create_directories(target);
    ASSERT_OK(write_file_atomically(csv, text));
  }
  Status run() { return import_colorectal(kSmallColorectal, csv, target, progress); }
};

}  // namespace

TEST("Every image is in exactly one part, with its own label") {
  ColorectalImport import(table(8));
  ASSERT_OK(import.run());
  const auto split = load_folder(kSmallColorectal, import.target);
  ASSERT_OK(split);
  std::vector<int> seen;
  for (const Dataset* part : {&split->train, &split->test}) {
    const auto& pixels = std::get<std::vector<std::uint8_t>>(part->features);
    for (std::size_t i = 0; i < part->size(); ++i) {
      const int image = pixels[4 * i] / 4;
      TEST_ASSERT_EQUAL_UINT8(4 * image + 3, pixels[4 * i + 3]);
      TEST_ASSERT_EQUAL_INT64(image % 2, part->labels[i]);
      seen.push_back(image);
    }
  }
  TEST_ASSERT_FALSE(std::is_sorted(seen.begin(), seen.end()));
  std::sort(seen.begin(), seen.end());
  TEST_ASSERT_TRUE((seen == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST("The split is the same every time") {
  ColorectalImport one(table(8));
  ColorectalImport two(table(8));
  ASSERT_OK(one.run());
  ASSERT_OK(two.run());
  TEST_ASSERT_TRUE(*read_file(one.target / "train-images-idx3-ubyte") ==
                   *read_file(two.target / "train-images-idx3-ubyte"));
}

TEST("The folder with the published file is accepted too") {
  ColorectalImport import(table(8));
  import.csv = import.folder.path();
  ASSERT_OK(import.run());
}

TEST("Images too few or too many, and labels or pixels outside their range, are refused") {
  ASSERT_CONTAINS(message_of(ColorectalImport(table(7)).run()),
                  "hmnist_64_64_L.csv has 7 images, expected 8");
  ASSERT_CONTAINS(message_of(ColorectalImport(table(9)).run()), "line 10: more than 9 rows");
  ASSERT_CONTAINS(message_of(ColorectalImport(table(7) + "1,2,3,4,3\n").run()),
                  "line 9, column 5: label: '3' is outside 1 to 2");
  ASSERT_CONTAINS(message_of(ColorectalImport(table(7) + "1,2,3,256,1\n").run()),
                  "line 9, column 4: '256' is outside 0 to 255");
  ASSERT_CONTAINS(message_of(ColorectalImport(table(7) + "1,2,3,1\n").run()),
                  "line 9: 4 columns, expected 5");
  ASSERT_CONTAINS(message_of(ColorectalImport("a,b,label\n1,2,1\n").run()),
                  "2 features, shape [1, 2, 2] needs 4");
  ASSERT_CONTAINS(message_of(ColorectalImport("1,2,3,4,1\n").run()), "no column 'label'");
}
