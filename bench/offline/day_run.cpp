#include "bench/offline/day_run.h"

#include <algorithm>
#include <malloc.h>
#include <queue>
#include <set>
#include <thread>
#include <unordered_map>

#include "bench/offline/cpu_time.h"
#include "bench/offline/parked_fleet.h"
#include "bench/offline/quiet_log.h"
#include "bench/offline/virtual_clock.h"
#include "core/envelope/encoded_messages.h"
#include "core/envelope/piece_sender.h"
#include "core/envelope/refusal_message.h"
#include "gateway_server/pipeline/update_pipeline.h"

namespace aflguard::bench {
namespace fs = std::filesystem;
namespace {

using std::chrono::microseconds;
using Span = VirtualClock::Span;
using Steady = std::chrono::steady_clock;

constexpr double kStep = 0.02;       // seconds, virtual: how exactly a busy gateway's waits are known
constexpr double kResendAfter = 30;  // as aflguard-client has it
constexpr double kRest = 300;        // after the slice, for what is under way
constexpr double kLate = 5;          // seconds of waiting for the gateway
constexpr double kLie = -10;         // times what an honest device sends
constexpr double kSomeWork = 1e-4;   // CPU seconds between two looks, of threads that do not just wake up
constexpr microseconds kPollInterval(200);  // between two looks at the pipeline
constexpr std::chrono::milliseconds kStill(
    3000);  // real time in which nothing comes out of a pipeline that is done

Span span_of(double seconds) {
  return std::chrono::duration_cast<Span>(std::chrono::duration<double>(seconds));
}

Waits waits_of(std::vector<double> seconds) {
  if (seconds.empty()) return {};
  std::sort(seconds.begin(), seconds.end());
  const auto at = [&](double share) {
    return seconds[static_cast<std::size_t>(share * static_cast<double>(seconds.size() - 1))];
  };
  return {at(0.5), at(0.9), at(0.99), seconds.back()};
}

double file_bytes(const fs::path& file) {
  std::error_code error;
  const auto bytes = fs::file_size(file, error);
  return error ? 0 : static_cast<double>(bytes);
}

/// Checks nothing: refusals are the gateway's own.
class TrustingVerifier final : public Verifier {
 public:
  [[nodiscard]] bool verify(const PublicKey&, SignedParts, const EcdsaSignature&) const override {
    return true;
  }
};

class Day final {
 public:
  static Result<std::unique_ptr<Day>> create(const DayOptions& options, const fs::path& folder,
                                             Progress& progress) {
    TRY(auto learning, OfflineGateway::learn(OfflineModel::kCnn));
    // More than begin one: a device that has an update under way begins no other.
    TRY(ParkedFleet fleet, ParkedFleet::create(folder, options.devices,
                                               std::min(options.devices, 3 * options.updates), progress));
    auto day = std::unique_ptr<Day>(new Day(options, folder, std::move(learning), std::move(fleet)));
    TRY_STATUS(day->prepare());
    return day;
  }

  [[nodiscard]] Status run(Progress& progress) {
    const auto begin = Steady::now();
    const double cpu = others_cpu_seconds();
    pipeline_->start();
    plan_next();
    while (!events_.empty() && now_ < figures_.slice_seconds + kRest) {
      if (options_.stop && options_.stop()) return unavailable("stopped");
      now_ = behind_ ? now_ + kStep : std::max(now_, events_.top().at);
      clock_.move_to(span_of(now_));
      pipeline_->tick(clock_.steady());
      while (!events_.empty() && events_.top().at <= now_) {
        const Event event = events_.top();
        events_.pop();
        TRY_STATUS(happen(event));
      }
      let_work();
      progress.show("day: " + std::to_string(options_.devices) + " devices", figures_.begun,
                    options_.updates);
    }
    pipeline_->stop();
    collect(now_);
    figures_.real_seconds = std::chrono::duration<double>(Steady::now() - begin).count();
    figures_.gateway_cpu_seconds = others_cpu_seconds() - cpu;
    finish();
    return {};
  }

  [[nodiscard]] DayFigures take_figures() { return std::move(figures_); }

 private:
  enum class What : std::uint8_t { kBegin, kPiece, kAgain, kTimeout };
  struct Event {
    double at = 0;
    What what = What::kBegin;
    std::size_t sender = 0;
    std::uint64_t attempt = 0;  ///< of the sender; older events mean nothing
    friend bool operator<(const Event& a, const Event& b) { return a.at > b.at; }
  };
  struct Board {
    std::size_t link = 0;
    bool malicious = false;
    std::optional<PieceSender> pieces;  ///< of the update under way
    double begun = 0;
    double delivered = -1;  ///< its last piece; below 0: not yet
    std::uint64_t attempt = 0;
    std::size_t vanishes_after = SIZE_MAX;  ///< pieces
    bool for_good = false;
  };

  Day(DayOptions options, fs::path folder, OfflineGateway::Learning learning, ParkedFleet fleet)
      : options_(std::move(options)),
        folder_(std::move(folder)),
        learning_(std::move(learning)),
        fleet_(std::move(fleet)),
        clock_(std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()) +
               std::chrono::minutes(static_cast<int>(options_.plan.busiest_hour * 60))) {}

  [[nodiscard]] Status prepare() {
    ::malloc_trim(0);
    memory_ = resident_mb();
    TRY(gateway_, OfflineGateway::start(learning_, fleet_.book(), folder_ / "gateway.db", clock_, log_));
    TRY(honest_, encoded(learning_.honest));
    std::vector<float> lie = learning_.honest;
    for (float& number : lie) number *= static_cast<float>(kLie);
    TRY(lie_, encoded(lie));
    pipeline_.emplace(gateway::PipelineParts{.settings = gateway_->settings,
                                             .terms = learning_.terms,
                                             .dimension = learning_.dimension,
                                             .registry = *gateway_->registry,
                                             .verifier = gateway_->verifier,
                                             .signer = gateway_->signer,
                                             .judge = *gateway_->judge,
                                             .reference = learning_.reference.get(),
                                             .counters = counters_,
                                             .refusals = refusals_,
                                             .wake = [] {},
                                             .clock = clock_,
                                             .log = log_});
    boards_.resize(fleet_.senders().size());
    for (std::size_t i = 0; i < boards_.size(); ++i) {
      boards_[i].link = draw_link(random_);
      boards_[i].malicious = random_.uniform() < options_.plan.malicious_share;
      by_name_.emplace(fleet_.senders()[i].name, i);
    }
    TRY_STATUS(gateways_.add("gateway", gateway_->signer.public_key()));
    figures_.devices = options_.devices;
    figures_.slice_seconds = static_cast<double>(options_.updates) / rate(0);
    return {};
  }

  /// As a device with [training] encoding = "auto" sends it.
  [[nodiscard]] Result<EncodedVector> encoded(const std::vector<float>& vector) const {
    TRY(auto chosen,
        choose_encoding(vector, gateway_->settings.training.taken, kMostRelativeError, /*seed=*/1));
    return packed(std::move(chosen.vector));
  }

  /// Updates per second that the fleet begins, so many seconds after the slice's begin.
  [[nodiscard]] double rate(double at) const {
    const DayPlan& plan = options_.plan;
    return static_cast<double>(options_.devices) * plan.per_hour(plan.busiest_hour + at / 3600) / 3600;
  }

  void plan_next() {
    next_begin_ += draw_wait(random_, 1 / rate(next_begin_));
    if (next_begin_ > figures_.slice_seconds) return;
    events_.push({next_begin_, What::kBegin, random_.below(boards_.size()), 0});
  }

  [[nodiscard]] Status happen(const Event& event) {
    if (event.what == What::kBegin) {
      plan_next();
      return begin(event.sender);
    }
    Board& board = boards_[event.sender];
    if (event.attempt != board.attempt || !board.pieces) return {};
    if (event.what == What::kPiece) return piece(event.sender);
    if (std::exchange(board.delivered, -1) >= 0 && outstanding_ > 0) --outstanding_;
    board.pieces->start_over();
    ++board.attempt;
    schedule_piece(event.sender);
    return {};
  }

  [[nodiscard]] Status begin(std::size_t number) {
    Board& board = boards_[number];
    if (board.pieces) return {};  // its last one is under way still: one at a time
    Sender& sender = fleet_.senders()[number];
    UpdateMessage update;
    update.fleet = kOfflineFleet;
    update.model_hash = learning_.terms.model_hash;
    update.base_version = pipeline_->model()->version;
    update.sequence = ++sender.sequence;
    update.samples = 32;
    TRY(const Payload payload, encode_compact(update, board.malicious ? lie_ : honest_));
    TRY(SealedEnvelope sealed, EnvelopeSealer(sender.signer).seal(payload));
    TRY(board.pieces, PieceSender::create(std::move(sealed).release()));
    figures_.update_bytes = static_cast<double>(board.pieces->envelope().size());
    board.begun = now_;
    board.delivered = -1;
    ++board.attempt;
    const double fate = random_.uniform();
    board.for_good = fate < options_.plan.abandoned;
    const bool vanishes = fate < options_.plan.abandoned + options_.plan.interrupted;
    board.vanishes_after = vanishes ? random_.below(board.pieces->piece_count()) : SIZE_MAX;
    ++figures_.begun;
    begun_by_.insert(number);
    schedule_piece(number);
    return {};
  }

  void schedule_piece(std::size_t number) {
    const Board& board = boards_[number];
    const double bytes = static_cast<double>(board.pieces->envelope().size()) /
                         static_cast<double>(board.pieces->piece_count());
    events_.push({now_ + bytes * 8 / kDayLinks[board.link].up, What::kPiece, number, board.attempt});
  }

  [[nodiscard]] Status piece(std::size_t number) {
    Board& board = boards_[number];
    if (board.vanishes_after == 0) {
      board.vanishes_after = SIZE_MAX;
      if (board.for_good) {
        ++figures_.abandoned;
        board.pieces.reset();
      } else {
        events_.push({now_ + random_.uniform(30, 120), What::kAgain, number, board.attempt});
      }
      return {};
    }
    if (board.vanishes_after != SIZE_MAX) --board.vanishes_after;
    const auto next = board.pieces->next();
    if (!next) return {};
    board.pieces->acknowledged(next->index);
    pipeline_->accept(fleet_.senders()[number].name, next->message);
    if (board.pieces->any_waiting()) {
      schedule_piece(number);
      return {};
    }
    board.delivered = now_;
    ++outstanding_;
    events_.push({now_ + kResendAfter, What::kTimeout, number, board.attempt});
    return {};
  }

  /// The gateway works: until it has answered everything, or for one step of the machine's time.
  void let_work() {
    const double cpu = others_cpu_seconds();
    auto moved = Steady::now();
    double last_spent = 0;
    behind_ = false;
    collect(now_);
    while (outstanding_ > 0) {
      std::this_thread::sleep_for(kPollInterval);
      const double spent = others_cpu_seconds() - cpu;
      const double used = spent / options_.cores;
      if (collect(now_ + used) > 0 || spent > last_spent + kSomeWork) moved = Steady::now();
      last_spent = std::max(last_spent, spent);
      behind_ = used > kStep;
      if (behind_) return;
      if (pipeline_->waiting() == 0 && Steady::now() - moved > kStill) {
        outstanding_ = 0;  // these are not answered: their devices will ask again
        return;
      }
    }
  }

  /// Answers that have come out, at that moment.
  std::size_t collect(double at) {
    std::size_t count = 0;
    while (pipeline_->next_judged()) continue;
    while (auto sealed = pipeline_->next_sealed()) {
      const auto found = by_name_.find(sealed->device);
      if (found == by_name_.end()) continue;
      ++count;
      answer(found->second, std::move(*sealed), at);
    }
    return count;
  }

  void answer(std::size_t number, gateway::SealedReply sealed, double at) {
    Board& board = boards_[number];
    const double bytes = static_cast<double>(sealed.envelope.size() + sealed.before.size());
    auto envelope = UnverifiedEnvelope::parse(std::move(sealed.envelope));
    if (!envelope || !board.pieces) return;
    const double delivered = std::exchange(board.delivered, -1);
    const bool was_whole = delivered >= 0;
    if (was_whole && outstanding_ > 0) --outstanding_;
    if (envelope->claimed_type() == PayloadType::kRefusal) {
      const auto refusal = EnvelopeOpener(gateways_, trusting_).open(std::move(*envelope));
      const auto message = refusal ? decode_refusal(*refusal) : Admitted<RefusalMessage>(refusal.error());
      const double wait = message ? std::chrono::duration<double>(message->come_back).count() : 0;
      events_.push({at + (wait > 0 ? wait : kResendAfter), What::kAgain, number, ++board.attempt});
      return;
    }
    const double down = bytes * 8 / kDayLinks[board.link].down;
    gateway_waits_.push_back(at - delivered);
    whole_waits_.push_back(at - board.begun + down);
    link_waits_[board.link].push_back(whole_waits_.back());
    answer_bytes_ += bytes;
    board.pieces.reset();
  }

  void finish();

  const DayOptions options_;
  const fs::path folder_;
  OfflineGateway::Learning learning_;
  ParkedFleet fleet_;
  VirtualClock clock_;
  QuietLog log_;
  Random random_{23};
  KeyTable gateways_;
  TrustingVerifier trusting_;
  gateway::GatewayCounters counters_;
  gateway::RefusalLog refusals_{log_};
  std::unique_ptr<OfflineGateway> gateway_;
  std::optional<gateway::UpdatePipeline> pipeline_;
  EncodedVector honest_;
  EncodedVector lie_;
  std::vector<Board> boards_;
  std::unordered_map<std::string, std::size_t> by_name_;
  std::set<std::size_t> begun_by_;
  std::priority_queue<Event> events_;
  double now_ = 0;  ///< virtual seconds since the slice began
  double next_begin_ = 0;
  bool behind_ = false;  ///< the gateway has not answered everything that it could have
  std::size_t outstanding_ = 0;
  double memory_ = 0;
  double answer_bytes_ = 0;
  std::vector<double> gateway_waits_;
  std::vector<double> whole_waits_;
  std::array<std::vector<double>, kDayLinkCount> link_waits_;
  DayFigures figures_;
};

void Day::finish() {
  figures_.senders = begun_by_.size();
  figures_.accepted = counters_.accepted;
  figures_.rejected = counters_.rejected;
  figures_.refused = refusals_.counts();
  for (const Board& board : boards_) figures_.unanswered += board.pieces.has_value() ? 1 : 0;
  const auto late =
      std::count_if(gateway_waits_.begin(), gateway_waits_.end(), [](double wait) { return wait > kLate; });
  const double answered = std::max<double>(1, static_cast<double>(gateway_waits_.size()));
  figures_.late_share = static_cast<double>(late) / answered;
  figures_.answer_bytes = answer_bytes_ / answered;
  figures_.gateway = waits_of(std::move(gateway_waits_));
  figures_.whole = waits_of(std::move(whole_waits_));
  for (std::size_t i = 0; i < kDayLinkCount; ++i) figures_.by_link[i] = waits_of(std::move(link_waits_[i]));
  figures_.memory_mb = resident_mb() - memory_;
  figures_.book_bytes = file_bytes(fleet_.book()) / static_cast<double>(options_.devices);
  const fs::path store = folder_ / "gateway.db";
  figures_.store_mb = (file_bytes(store) + file_bytes(store.string() + "-wal")) / 1e6;
}

}  // namespace

Result<DayFigures> run_day(const DayOptions& options, const fs::path& folder, Progress& progress) {
  TRY(const auto day, Day::create(options, folder, progress));
  TRY_STATUS(day->run(progress));
  return day->take_figures();
}

}  // namespace aflguard::bench
