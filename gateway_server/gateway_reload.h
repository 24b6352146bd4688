#pragma once

#include <functional>
#include <optional>
#include <span>

#include "core/config/running_config.h"
#include "gateway_server/gateway.h"
#include "gateway_server/settings/gateway_inputs.h"

namespace aflguard::gateway {

/// Reads gateway.toml again and prepares what it changes. Everything is checked before anything changes.
class GatewayReload final {
 public:
  /// What a change is made from. References are borrowed.
  struct Parts {
    std::filesystem::path file;
    RunningConfig& running;    ///< what of the file the gateway works with, and ...
    GatewaySettings settings;  ///< ... as values: limits fitted, the guard's options written out
    std::span<const GuardKind> kinds;
    const ModelDescription& model;
    bool has_trusted = false;  ///< reference updates are computed,
    bool has_classes = false;  ///< ... for each class, too
    EvaluationThread::Measure measure;
    VoterRules voters;
    std::function<std::uint64_t()> enrolled;  ///< devices
    std::function<Result<EvaluationThread::Measure>(const GatewaySettings&)> make_measure;
    std::function<Result<std::unique_ptr<RecordingWriter>>(const GatewaySettings&, const GuardSettings&,
                                                           const AggregatorOptions&, const Aggregator&)>
        record;
    LogSink& log;
  };

  explicit GatewayReload(Parts parts);

  /// None when nothing changes now: the log says why. One thread.
  [[nodiscard]] std::optional<GatewayChange> read();
  /// What the gateway works with now.
  [[nodiscard]] const GatewaySettings& settings() const { return parts_.settings; }

 private:
  [[nodiscard]] Result<GatewayChange> prepare(GatewaySettings fresh);
  [[nodiscard]] Result<JudgeChange> judge_change(const GatewaySettings& settings) const;
  [[nodiscard]] Status check_needs(const std::string& guard, const GuardNeeds& needs) const;

  Parts parts_;
};

}  // namespace aflguard::gateway
