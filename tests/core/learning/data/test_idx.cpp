#include "core/learning/data/idx.h"
#include "core/system/atomic_file.h"
#include "tests/support/test.h"

using namespace aflguard;
using testing::message_of;

namespace {

std::vector<std::byte> bytes_of(std::initializer_list<int> numbers) {
  std::vector<std::byte> bytes;
  for (const int number : numbers) bytes.push_back(static_cast<std::byte>(number));
  return bytes;
}

const std::vector<std::byte> kTwoByThree =
    bytes_of({0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 10, 11, 12, 13, 14, 255});

struct TwoImages {
  testing::TemporaryFolder folder;
  std::filesystem::path images = folder / "images";
  std::filesystem::path labels = folder / "labels";
  TwoImages() {
    ASSERT_OK(
        write_idx(images, {2, 2, 3}, std::vector<std::uint8_t>{0, 1, 2, 3, 4, 255, 6, 7, 8, 9, 10, 11}));
    ASSERT_OK(write_idx(labels, {2}, std::vector<std::uint8_t>{1, 0}));
  }
};

}  // namespace

TEST("An IDX array gives its shape and its bytes") {
  const auto array = parse_idx(kTwoByThree);
  ASSERT_OK(array);
  TEST_ASSERT_TRUE((array->shape == std::vector<std::size_t>{2, 3}));
  TEST_ASSERT_TRUE((array->data == std::vector<std::uint8_t>{10, 11, 12, 13, 14, 255}));
}

TEST("A written IDX file reads back from disk, byte for byte") {
  const testing::TemporaryFolder folder;
  ASSERT_OK(write_idx(folder / "a", {2, 3}, std::vector<std::uint8_t>{10, 11, 12, 13, 14, 255}));
  TEST_ASSERT_TRUE(*read_file(folder / "a") == kTwoByThree);
  TEST_ASSERT_TRUE(read_idx(folder / "a")->data == parse_idx(kTwoByThree)->data);
}

TEST("Every truncation of an IDX file and every longer one is refused") {
  for (std::size_t length = 0; length < kTwoByThree.size(); ++length) {
    TEST_ASSERT_FALSE(parse_idx(std::span(kTwoByThree).first(length)).ok());
  }
  auto longer = kTwoByThree;
  longer.push_back(std::byte{0});
  ASSERT_CONTAINS(message_of(parse_idx(longer)), "the file has 19 bytes, its IDX shape [2, 3] needs 18");
}

TEST("A truncated file on disk is named with the size found and the size needed") {
  const testing::TemporaryFolder folder;
  ASSERT_OK(write_file_atomically(folder / "cut", std::span(kTwoByThree).first(17)));
  const std::string message = message_of(read_idx(folder / "cut"));
  ASSERT_CONTAINS(message, (folder / "cut").string());
  ASSERT_CONTAINS(message, "has 17 bytes, its IDX shape [2, 3] needs 18");
  ASSERT_OK(write_file_atomically(folder / "empty", ""));
  TEST_ASSERT_FALSE(read_idx(folder / "empty").ok());
  TEST_ASSERT_TRUE(read_idx(folder / "none").error().kind == ErrorKind::kNotFound);
  ASSERT_CONTAINS(message_of(read_idx(folder.path())), "not a regular file");
}

TEST("A wrong magic, another element type and a wrong number of dimensions are refused") {
  ASSERT_CONTAINS(message_of(parse_idx(bytes_of({0, 1, 8, 1, 0, 0, 0, 0}))), "two zero bytes");
  ASSERT_CONTAINS(message_of(parse_idx(bytes_of({0, 0, 13, 1, 0, 0, 0, 0}))), "element type 13");
  ASSERT_CONTAINS(message_of(parse_idx(bytes_of({0, 0, 8, 0}))), "0 dimensions");
  ASSERT_CONTAINS(message_of(parse_idx(bytes_of({0, 0, 8, 5, 0, 0, 0, 0}))), "5 dimensions, expected 1 to 4");
}

TEST("One element above the limit is refused and the limit itself is not") {
  ASSERT_OK(parse_idx(kTwoByThree, {.dimensions = 2, .elements = 6}));
  ASSERT_CONTAINS(message_of(parse_idx(kTwoByThree, {.dimensions = 2, .elements = 5})),
                  "limit of 5 elements");
  ASSERT_CONTAINS(message_of(parse_idx(kTwoByThree, {.dimensions = 1, .elements = 6})), "2 dimensions");
}

TEST("Extents whose product overflows are refused before anything is allocated") {
  ASSERT_CONTAINS(message_of(parse_idx(bytes_of({0, 0, 8, 3, 255, 255, 255, 255, 255, 255, 255, 255,  //
                                                 255, 255, 255, 255}))),
                  "exceeds the limit");
}

TEST("Images and labels become a data set of one-channel images") {
  const TwoImages files;
  const auto data = read_idx_dataset("tiny", 2, files.images, files.labels);
  ASSERT_OK(data);
  TEST_ASSERT_TRUE((data->sample_shape == std::vector<std::size_t>{1, 2, 3}));
  TEST_ASSERT_TRUE((data->labels == std::vector<std::int64_t>{1, 0}));
  std::vector<float> pixels(6);
  data->copy_features(0, pixels);
  TEST_ASSERT_EQUAL_FLOAT(1.0F, pixels[5]);
}

TEST("Labels that are not a class, and another number of labels than images, are refused") {
  const TwoImages files;
  ASSERT_CONTAINS(message_of(read_idx_dataset("tiny", 1, files.images, files.labels)), "has label 1");
  ASSERT_OK(write_idx(files.labels, {3}, std::vector<std::uint8_t>{0, 0, 0}));
  ASSERT_CONTAINS(message_of(read_idx_dataset("tiny", 2, files.images, files.labels)),
                  "has shape [2, 2, 3], expected [3, height, width]");
  ASSERT_CONTAINS(message_of(read_idx_dataset("tiny", 2, files.images, files.images)),
                  "expected one label per image");
}
