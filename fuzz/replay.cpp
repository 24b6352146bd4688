// Runs a fuzz target over a corpus without a fuzzer: every file, every prefix of it, every change of one
// byte.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <vector>

#include "core/system/atomic_file.h"
#include "fuzz/target.h"

namespace {

using Input = std::vector<std::uint8_t>;

/// A copy that ends where its allocation ends, so that a sanitizer sees each byte read too far.
void run_exactly(const Input& input, std::size_t size) {
  const auto copy = std::make_unique<std::uint8_t[]>(size);
  std::copy_n(input.begin(), size, copy.get());
  LLVMFuzzerTestOneInput(copy.get(), size);
}

std::size_t replay(const Input& input) {
  std::size_t runs = 0;
  for (std::size_t size = 0; size <= input.size(); ++size, ++runs) run_exactly(input, size);
  Input changed = input;
  for (std::size_t i = 0; i < input.size(); ++i) {
    const std::uint8_t byte = input[i];
    for (const int other : {byte ^ 1, byte ^ 0x80, byte + 1, byte - 1, 0, 0x7f, 0xff}) {
      changed[i] = static_cast<std::uint8_t>(other);
      run_exactly(changed, changed.size());
      ++runs;
    }
    changed[i] = byte;
  }
  return runs;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 || !std::filesystem::is_directory(argv[1])) {
    std::fprintf(stderr, "usage: %s CORPUS-DIRECTORY\n", argv[0]);
    return 2;
  }
  std::size_t files = 0;
  std::size_t runs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    const auto bytes = aflguard::read_file(entry.path());
    if (!bytes.ok()) {
      std::fprintf(stderr, "%s\n", bytes.error().message.c_str());
      return 1;
    }
    Input input(bytes->size());
    std::transform(bytes->begin(), bytes->end(), input.begin(),
                   [](std::byte byte) { return std::to_integer<std::uint8_t>(byte); });
    runs += replay(input);
    ++files;
  }
  std::printf("%zu files, %zu inputs\n", files, runs);
  return files > 0 ? 0 : 1;
}
