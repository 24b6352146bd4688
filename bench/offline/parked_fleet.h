#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/identity_openssl/openssl_signer.h"
#include "gateway_server/judging/gateway_store.h"

namespace aflguard::bench {

/// A device that can send.
struct Sender {
  std::string name;
  OpensslSigner signer;
  std::uint64_t sequence = 0;  ///< of its last update
};

/// A fleet's device book with very many devices. Some of them, evenly spread over it, have keys that can
/// sign; the keys of the others are random bytes, which costs a book and its readers the same.
class ParkedFleet final {
 public:
  /// In `folder`, which exists. kInvalidInput when there are more senders than devices.
  [[nodiscard]] static Result<ParkedFleet> create(const std::filesystem::path& folder, std::size_t devices,
                                                  std::size_t senders, Progress& progress);

  [[nodiscard]] const std::filesystem::path& book() const { return book_; }
  [[nodiscard]] std::size_t devices() const { return devices_; }
  [[nodiscard]] std::vector<Sender>& senders() { return senders_; }
  /// `store`, which is new, then knows each device as one that has sent.
  [[nodiscard]] Status remember(gateway::GatewayStore& store, Progress& progress) const;

 private:
  ParkedFleet(std::filesystem::path book, std::size_t devices) : book_(std::move(book)), devices_(devices) {}
  std::filesystem::path book_;
  std::size_t devices_;
  std::vector<Sender> senders_;
};

}  // namespace aflguard::bench
