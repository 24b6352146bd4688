#pragma once

#include <algorithm>
#include <map>

#include "gateway_server/judging/gateway_store.h"

namespace aflguard::testing {
using namespace gateway;

/// A store in memory that does what it is told: it works, or its disk is full, or it cannot be read.
class FailingStore final : public GatewayStore {
 public:
  [[nodiscard]] Result<StoredState> load() override { return StoredState{}; }

  [[nodiscard]] Status commit(const StoreCommit& commit) override {
    ++attempts;
    if (disk_full) return io_error("the disk is full");
    ++commits;
    verdicts.insert(verdicts.end(), commit.verdicts.begin(), commit.verdicts.end());
    for (const DeviceRecord& device : commit.devices) devices[device.name] = device;
    aggregator.assign(commit.aggregator.begin(), commit.aggregator.end());
    if (!commit.reference.empty()) reference.assign(commit.reference.begin(), commit.reference.end());
    version = commit.version;
    return {};
  }

  [[nodiscard]] Result<std::optional<VerdictRecord>> find_verdict(ClientId device,
                                                                  std::uint64_t sequence) override {
    if (unreadable) return io_error("a bad block");
    const auto found = std::find_if(verdicts.begin(), verdicts.end(), [&](const VerdictRecord& record) {
      return record.device == device && record.sequence == sequence;
    });
    if (found == verdicts.end()) return std::optional<VerdictRecord>();
    return std::optional<VerdictRecord>(*found);
  }

  [[nodiscard]] Status add_evaluation(const EvaluationRecord&) override { return {}; }

  bool disk_full = false;
  bool unreadable = false;
  std::size_t attempts = 0;
  std::size_t commits = 0;
  std::vector<VerdictRecord> verdicts;
  std::map<std::string, DeviceRecord> devices;
  Bytes aggregator;
  Bytes reference;
  std::uint64_t version = 0;
};

}  // namespace aflguard::testing
