#include "bench/offline/offline_bench.h"

#include "bench/offline/scratch_folder.h"

namespace aflguard::bench {
namespace {

constexpr double kHeadroom = 0.7;               // share of a core that is planned with
constexpr double kBrokerBytesPerDevice = 25e3;  // docs/scale.md
constexpr double kHandshakesPerSecond = 400;    // per core; docs/scale.md

/// Figures with the number of devices in their names.
class Figures final {
 public:
  Figures(std::string prefix, std::size_t devices, std::vector<OfflineFigure>& all)
      : prefix_(std::move(prefix)), suffix_("_" + std::to_string(devices)), all_(all) {}

  void add(const std::string& name, double value, const std::string& unit) {
    all_.push_back({prefix_ + name + suffix_, value, unit});
  }
  void add(const std::string& name, double value, const std::string& unit, const std::string& baseline_name,
           double baseline) {
    all_.push_back({prefix_ + name + suffix_, value, unit, baseline_name, baseline});
  }

 private:
  const std::string prefix_;
  const std::string suffix_;
  std::vector<OfflineFigure>& all_;
};

/// `per_second`: 1000 for milliseconds.
void add_waits(Figures& figures, const std::string& name, const Waits& waits, double per_second,
               const std::string& unit) {
  figures.add(name + "_median", waits.median * per_second, unit);
  figures.add(name + "_90", waits.ninth * per_second, unit);
  figures.add(name + "_99", waits.most_99 * per_second, unit);
  figures.add(name + "_longest", waits.longest * per_second, unit);
}

/// What a real fleet of that size and plan needs at its busiest hour.
void add_hardware(Figures& figures, const DayFigures& day, const DayPlan& plan) {
  const auto devices = static_cast<double>(day.devices);
  const double judged = std::max<double>(1, static_cast<double>(day.accepted + day.rejected));
  const double per_second = devices * plan.per_hour(plan.busiest_hour) / 3600;
  const double per_day = devices * (plan.least_per_hour + plan.most_per_hour) / 2 * 24;
  figures.add("needs_updates", per_second, "per second");
  figures.add("needs_gateway_cores", per_second * day.gateway_cpu_seconds / judged / kHeadroom, "cores");
  figures.add("needs_connections", devices, "");
  figures.add("needs_broker_memory", devices * kBrokerBytesPerDevice / 1e6, "MB");
  figures.add("needs_core_minutes_to_reconnect", devices / kHandshakesPerSecond / 60, "core min");
  figures.add("needs_up", per_second * day.update_bytes * 8 / 1e6, "Mbit/s");
  figures.add("needs_down", per_second * day.answer_bytes * 8 / 1e6, "Mbit/s");
  figures.add("needs_up_per_day", per_day * day.update_bytes / 1e9, "GB");
  figures.add("needs_book", devices * day.book_bytes / 1e6, "MB");
}

void add_day(std::vector<OfflineFigure>& all, const DayFigures& day, const DayPlan& plan) {
  Figures figures("day_", day.devices, all);
  const double judged = static_cast<double>(day.accepted + day.rejected);
  figures.add("slice", day.slice_seconds, "s of a day");
  figures.add("senders", static_cast<double>(day.senders), "devices");
  figures.add("begun", static_cast<double>(day.begun), "updates");
  figures.add("accepted", static_cast<double>(day.accepted), "updates");
  figures.add("rejected", static_cast<double>(day.rejected), "updates");
  figures.add("abandoned", static_cast<double>(day.abandoned), "updates");
  figures.add("unanswered", static_cast<double>(day.unanswered), "updates");
  figures.add("updates_per_real_s", judged / day.real_seconds, "/s");
  figures.add("gateway_cpu", day.gateway_cpu_seconds * 1e3 / std::max(judged, 1.0), "ms per update");
  figures.add("memory", day.memory_mb, "MB");
  figures.add("store", day.store_mb, "MB");
  add_waits(figures, "gateway_wait", day.gateway, 1e3, "ms");
  add_waits(figures, "verdict_after", day.whole, 1, "s");
  for (std::size_t i = 0; i < kDayLinkCount; ++i) {
    figures.add("verdict_after_link_" + std::to_string(i + 1), day.by_link[i].median, kDayLinks[i].name);
  }
  figures.add("late_share", day.late_share, "above 5 s");
  std::uint64_t refused = 0;
  for (const auto& [reason, count] : day.refused) {
    refused += count;
    figures.add("refused_" + reason, static_cast<double>(count), "messages");
  }
  figures.add("refused", static_cast<double>(refused), "messages");
  add_hardware(figures, day, plan);
}

}  // namespace

Result<std::vector<OfflineFigure>> bench_scale(const BenchScaleOptions& options, Progress& progress) {
  std::vector<OfflineFigure> all;
  std::optional<ScaleFigures> smallest;
  for (const std::size_t devices : options.devices) {
    TRY(const StagedDirectory folder, scratch_folder());
    TRY(const ScaleFigures scale, run_scale(devices, options.each, folder.path(), progress));
    progress.finish();
    if (!smallest) smallest = scale;
    const std::string beside = "with " + std::to_string(smallest->devices) + " devices";
    Figures figures("scale_", devices, all);
    figures.add("update_cpu", scale.update_cpu_us, "us", beside, smallest->update_cpu_us);
    figures.add("silence", scale.silence_share * 100, "% of a core", beside, smallest->silence_share * 100);
    figures.add("start", scale.start_ms, "ms", beside, smallest->start_ms);
    figures.add("start_cpu", scale.start_cpu_ms, "ms");
    figures.add("start_of_a_new_store", scale.empty_start_ms, "ms");
    figures.add("memory", scale.memory_mb, "MB");
    figures.add("book", scale.book_mb, "MB");
    figures.add("store", scale.store_mb, "MB");
    if (options.stop && options.stop()) return unavailable("stopped");
  }
  return all;
}

Result<std::vector<OfflineFigure>> bench_day(const BenchDayOptions& options, Progress& progress) {
  std::vector<OfflineFigure> all;
  for (const std::size_t devices : options.devices) {
    TRY(const StagedDirectory folder, scratch_folder());
    DayOptions each = options.each;
    each.devices = devices;
    TRY(const DayFigures day, run_day(each, folder.path(), progress));
    progress.finish();
    add_day(all, day, each.plan);
  }
  return all;
}

}  // namespace aflguard::bench
