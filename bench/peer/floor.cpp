#include "bench/peer/floor.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <fcntl.h>
#include <memory>
#include <openssl/evp.h>
#include <unistd.h>
#include <vector>

namespace aflguard::bench {
namespace {

constexpr int kRounds = 51;
constexpr std::size_t kRecord = 16u << 10;  // of TLS
constexpr std::size_t kTag = 16;
constexpr std::size_t kNonce = 12;

using Cipher = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;
using Octets = std::vector<unsigned char>;

double thread_ms() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) * 1e-6;
}

/// One received update: encrypted in records, as it comes from the broker.
class Records final {
 public:
  explicit Records(std::size_t bytes) : plain_(bytes, 0x5a), sealed_(bytes) {
    tags_.resize((bytes + kRecord - 1) / kRecord);
    works_ = pass(true);
  }

  /// False when the library fails, or a record does not match its tag.
  [[nodiscard]] bool open() { return works_ && pass(false); }
  [[nodiscard]] const Octets& plain() const { return plain_; }

 private:
  bool pass(bool encrypt) {
    if (EVP_CipherInit_ex(cipher_.get(), EVP_aes_256_gcm(), nullptr, key_.data(), nullptr, encrypt ? 1 : 0) !=
        1) {
      return false;
    }
    for (std::size_t at = 0; at < plain_.size(); at += kRecord) {
      if (!pass_record(at, encrypt)) return false;
    }
    return true;
  }
  bool pass_record(std::size_t at, bool encrypt) {
    std::array<unsigned char, kTag>& tag = tags_[at / kRecord];
    const auto size = static_cast<int>(std::min(kRecord, plain_.size() - at));
    const Octets& from = encrypt ? plain_ : sealed_;
    Octets& to = encrypt ? sealed_ : plain_;
    int written = 0;
    EVP_CIPHER_CTX* cipher = cipher_.get();
    if (EVP_CipherInit_ex(cipher, nullptr, nullptr, nullptr, nonce_.data(), -1) != 1 ||
        EVP_CipherUpdate(cipher, to.data() + at, &written, from.data() + at, size) != 1) {
      return false;
    }
    if (!encrypt && EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, kTag, tag.data()) != 1) return false;
    int rest = 0;
    if (EVP_CipherFinal_ex(cipher, to.data() + at + written, &rest) != 1) return false;
    return !encrypt || EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, kTag, tag.data()) == 1;
  }

  Cipher cipher_{EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free};
  std::array<unsigned char, 32> key_{1};
  std::array<unsigned char, kNonce> nonce_{};
  Octets plain_;
  Octets sealed_;
  std::vector<std::array<unsigned char, kTag>> tags_;
  bool works_ = true;
};

bool write_whole(int file, const Octets& bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const ::ssize_t written = ::pwrite(file, bytes.data() + at, bytes.size() - at, static_cast<::off_t>(at));
    if (written <= 0) return false;
    at += static_cast<std::size_t>(written);
  }
  return true;
}

}  // namespace

Result<double> floor_ms(std::size_t bytes, const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) return io_error(file.string() + ": cannot be written");
  Records records(bytes);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  std::vector<double> times;
  bool works = true;
  for (int round = 0; works && round < kRounds; ++round) {
    const double begin = thread_ms();
    works = records.open() &&
            EVP_Digest(records.plain().data(), bytes, digest.data(), nullptr, EVP_sha256(), nullptr) == 1 &&
            write_whole(descriptor, records.plain());
    times.push_back(thread_ms() - begin);
    ::fdatasync(descriptor);  // or the kernel would wait for the disk in some rounds and not in others
  }
  ::close(descriptor);
  if (!works) return internal_error("the floor could not be measured with " + file.string());
  std::nth_element(times.begin(), times.begin() + kRounds / 2, times.end());
  return times[kRounds / 2];
}

}  // namespace aflguard::bench
