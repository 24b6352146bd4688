#include "core/learning/data/npy.h"
#include "core/system/atomic_file.h"
#include "tests/support/test.h"

using namespace aflguard;

namespace {

std::vector<std::byte> file_with_header(const std::string& dictionary, std::size_t data_bytes) {
  std::string text("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(dictionary.size() & 0xff);
  text += static_cast<char>(dictionary.size() >> 8);
  text += dictionary;
  text.append(data_bytes, '\0');
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

TEST("A float array written and read keeps values, shape and the layout it was made for") {
  const testing::TemporaryFolder folder;
  const std::vector<float> values = {1, -2.5F, 3, 4, 5, 6};
  ASSERT_OK(write_npy(folder / "a.npy", values, {2, 3}, "abc123"));
  const auto array = read_npy(folder / "a.npy");
  ASSERT_OK(array);
  TEST_ASSERT_TRUE((array->shape == std::vector<std::size_t>{2, 3}));
  TEST_ASSERT_EQUAL_STRING("abc123", array->layout_hash.c_str());
  TEST_ASSERT_TRUE(*array->as_float32("a") == values);
}

TEST("The data of a written file starts at a multiple of 64, as NumPy aligns it") {
  const testing::TemporaryFolder folder;
  const std::vector<std::int64_t> values = {7};
  ASSERT_OK(write_npy(folder / "a.npy", values, {1}));
  const auto bytes = read_file(folder / "a.npy");
  TEST_ASSERT_EQUAL_size_t(0, (bytes->size() - 8) % 64);
  TEST_ASSERT_EQUAL_INT64(7, read_npy(folder / "a.npy")->as_int64("a")->front());
}

TEST("A wrong dtype is refused with the one found and the one wanted") {
  const auto array =
      parse_npy(file_with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }\n", 16));
  ASSERT_OK(array);
  ASSERT_CONTAINS(testing::message_of(array->as_float32("x.npy")), "x.npy has dtype '<f8', expected '<f4'");
}

TEST("A file that is shorter or longer than its shape says is refused with both sizes") {
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";
  ASSERT_CONTAINS(testing::message_of(parse_npy(file_with_header(header, 23))),
                  "needs 24 bytes of data, the file has 23");
  ASSERT_CONTAINS(testing::message_of(parse_npy(file_with_header(header, 25))), "the file has 25");
  ASSERT_OK(parse_npy(file_with_header(header, 24)));
}

TEST("Fortran order, big-endian and structured arrays are refused") {
  ASSERT_CONTAINS(testing::message_of(parse_npy(
                      file_with_header("{'descr': '<f4', 'fortran_order': True, 'shape': (1,)}\n", 4))),
                  "Fortran order");
  ASSERT_CONTAINS(testing::message_of(parse_npy(
                      file_with_header("{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}\n", 4))),
                  "'>f4' is not supported");
}

TEST("A shape whose product overflows is refused before anything is allocated") {
  ASSERT_CONTAINS(testing::message_of(parse_npy(file_with_header(
                      "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}\n", 4))),
                  "impossible shape");
}

TEST("Every truncation of a valid file is an error, never a crash") {
  const auto whole = file_with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", 8);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    TEST_ASSERT_FALSE(parse_npy(std::span(whole).first(length)).ok());
  }
}
