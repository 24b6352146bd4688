#include "datasets/xz_lzma.h"

#include <algorithm>
#include <lzma.h>
#include <string>

namespace aflguard::datasets {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20;
// Enough for the largest preset (xz -9 needs 65 MiB to decompress).
constexpr std::uint64_t kMemoryLimit = std::uint64_t{256} << 20;

class Decoder final {
 public:
  Decoder() { ready_ = ::lzma_stream_decoder(&stream, kMemoryLimit, 0) == LZMA_OK; }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder() { ::lzma_end(&stream); }
  [[nodiscard]] bool ready() const { return ready_; }
  lzma_stream stream = LZMA_STREAM_INIT;

 private:
  bool ready_;
};

Error explain(lzma_ret state, std::size_t size) {
  switch (state) {
    case LZMA_FORMAT_ERROR:
      return corrupt("not an .xz file");
    case LZMA_BUF_ERROR:
      return corrupt("the .xz data is cut short after " + std::to_string(size) + " bytes");
    case LZMA_MEMLIMIT_ERROR:
      return unsupported("the .xz data needs more than 256 MiB of memory to decompress");
    default:
      return corrupt("the .xz data is damaged (code " + std::to_string(state) + ")");
  }
}

}  // namespace

Result<std::vector<std::byte>> unxz(std::span<const std::byte> compressed, std::uint64_t limit) {
  Decoder decoder;
  if (!decoder.ready()) return internal_error("liblzma could not be initialised");
  lzma_stream& stream = decoder.stream;
  stream.next_in = reinterpret_cast<const std::uint8_t*>(compressed.data());
  stream.avail_in = compressed.size();
  std::vector<std::byte> content;
  lzma_ret state = LZMA_OK;
  while (state == LZMA_OK) {
    const std::size_t done = content.size();
    // One byte more than allowed is enough to notice that there is more.
    content.resize(std::min<std::uint64_t>(done + kChunk, limit + 1));
    stream.next_out = reinterpret_cast<std::uint8_t*>(content.data() + done);
    stream.avail_out = content.size() - done;
    state = ::lzma_code(&stream, LZMA_FINISH);
    content.resize(content.size() - stream.avail_out);
    if (content.size() > limit) {
      return corrupt("the .xz data holds more than the expected " + std::to_string(limit) + " bytes");
    }
  }
  if (state != LZMA_STREAM_END) return explain(state, compressed.size());
  if (stream.avail_in != 0) return corrupt("other bytes follow the .xz data");
  return content;
}

}  // namespace aflguard::datasets
