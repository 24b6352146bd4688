#include "datasets/gzip_zlib.h"

#include <algorithm>
#include <limits>
#include <string>
#include <zlib.h>

namespace aflguard::datasets {
namespace {

constexpr int kGzipOnly = 16;  // added to the window size: zlib then expects gzip's header and checksum
constexpr std::size_t kChunk = std::size_t{1} << 20;

class Inflater final {
 public:
  Inflater() { ready_ = ::inflateInit2(&stream, kGzipOnly + MAX_WBITS) == Z_OK; }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { ::inflateEnd(&stream); }
  [[nodiscard]] bool ready() const { return ready_; }
  z_stream stream{};

 private:
  bool ready_;
};

}  // namespace

Result<std::vector<std::byte>> gunzip(std::span<const std::byte> compressed, std::uint64_t limit) {
  if (compressed.size() > std::numeric_limits<uInt>::max()) return unsupported("gzip data of 4 GiB or more");
  Inflater inflater;
  if (!inflater.ready()) return internal_error("zlib could not be initialised");
  z_stream& stream = inflater.stream;
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(compressed.data()));
  stream.avail_in = static_cast<uInt>(compressed.size());
  std::vector<std::byte> content;
  int state = Z_OK;
  while (state == Z_OK) {
    const std::size_t done = content.size();
    // One byte more than allowed is enough to notice that there is more.
    content.resize(std::min<std::uint64_t>(done + kChunk, limit + 1));
    stream.next_out = reinterpret_cast<Bytef*>(content.data() + done);
    stream.avail_out = static_cast<uInt>(content.size() - done);
    state = ::inflate(&stream, Z_NO_FLUSH);
    content.resize(content.size() - stream.avail_out);
    if (content.size() > limit) {
      return corrupt("the gzip data holds more than the expected " + std::to_string(limit) + " bytes");
    }
  }
  if (state == Z_BUF_ERROR) {
    return corrupt("the gzip data is cut short after " + std::to_string(compressed.size()) + " bytes");
  }
  if (state != Z_STREAM_END) {
    return corrupt(std::string("the gzip data is damaged: ") +
                   (stream.msg != nullptr ? stream.msg : "unknown reason"));
  }
  if (stream.avail_in != 0) return corrupt("other bytes follow the gzip data");
  return content;
}

}  // namespace aflguard::datasets
