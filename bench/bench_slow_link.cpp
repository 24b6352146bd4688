#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "bench/bench_gateway.h"
#include "bench/bench_publishers.h"
#include "bench/links/slow_link.h"
#include "core/system/file_descriptor.h"
#include "core/system/programs.h"

namespace aflguard::bench {
namespace {

constexpr const char* kName = "slow_link_update_s";

/// Where the bare link's bytes go: takes them, and answers with one.
class Sink final {
 public:
  static Result<Sink> open(const char* host) {
    Sink sink(FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)));
    const int file = sink.file_.get();
    sockaddr_in address{};
    address.sin_family = AF_INET;
    ::inet_pton(AF_INET, host, &address.sin_addr);
    socklen_t size = sizeof address;
    auto* const raw = reinterpret_cast<sockaddr*>(&address);
    const timeval timeout = {30, 0};
    const bool open = file >= 0 && ::bind(file, raw, size) == 0 && ::listen(file, 1) == 0 &&
                      ::getsockname(file, raw, &size) == 0 &&
                      ::setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) == 0;
    if (!open) return unavailable(std::string("cannot listen on ") + host);
    sink.port_ = ntohs(address.sin_port);
    return sink;
  }

  [[nodiscard]] std::uint16_t port() const { return port_; }

  Status take(std::size_t bytes) {
    const FileDescriptor connection(::accept4(file_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!connection.valid()) return unavailable("no client came over the bare link");
    std::vector<char> buffer(64u << 10);
    ssize_t got = 1;
    while (bytes > 0 && got > 0) {
      got = ::recv(connection.get(), buffer.data(), std::min(buffer.size(), bytes), 0);
      bytes -= static_cast<std::size_t>(std::max<ssize_t>(got, 0));
    }
    const bool answered = bytes == 0 && ::send(connection.get(), "!", 1, MSG_NOSIGNAL) == 1;
    if (!answered) return unavailable("the bare link broke");
    return {};
  }

 private:
  explicit Sink(FileDescriptor file) : file_(std::move(file)) {}
  FileDescriptor file_;
  std::uint16_t port_ = 0;
};

/// A board behind the slow link: a publisher and a plain sender.
struct Board {
  Publishers publisher;
  LineProcess sender;
  Sink sink;

  Result<double> update_s() {
    TRY([[maybe_unused]] const std::size_t bytes, publisher.prepare(1));
    TRY_STATUS(publisher.go("verdicts"));
    TRY(const auto answers, publisher.answers());
    return answers.front().done_at.front() - answers.front().begin;
  }

  Result<double> bare_s(std::size_t bytes) {
    TRY_STATUS(sender.send("go " + std::to_string(sink.port()) + " " + std::to_string(bytes)));
    TRY_STATUS(sink.take(bytes));
    TRY(auto words, expect_answer(sender, "done"));
    double seconds = 0;
    words >> seconds;
    return seconds;
  }
};

Result<Board> start_board(const BenchFleet& fleet, const SlowLink& link) {
  TRY(Publishers publisher, Publishers::start(fleet, 1, link.prefix()));
  TRY(const auto peer, program_beside_us("aflguard-bench-peer"));
  std::vector<std::string> command = link.prefix();
  command.insert(command.end(), {peer.string(), "link", SlowLink::address()});
  TRY(LineProcess sender, LineProcess::start(command));
  TRY([[maybe_unused]] const auto ready, expect_answer(sender, "ready"));
  TRY(Sink sink, Sink::open(SlowLink::address()));
  return Board{std::move(publisher), std::move(sender), std::move(sink)};
}

}  // namespace

Result<BenchResult> bench_slow_link(int rounds, Progress& progress) {
  BenchResult result;
  result.name = kName;
  result.unit = "s";
  result.baseline_name = "plain TCP over the same link";
  progress.show(kName, 0, static_cast<std::size_t>(rounds));
  const SlowLinkOptions terms;
  auto link = SlowLink::create(terms);
  if (!link) {
    result.missing = link.error().message;
    return result;
  }
  TRY(const auto fleet, BenchFleet::create(1, SlowLink::address()));
  TRY_STATUS(fleet->start_gateway({}));
  TRY(Board board, start_board(*fleet, **link));
  TRY(const std::size_t bytes, board.publisher.prepare(1));
  std::vector<double> ours, bare;
  for (int round = 0; round < rounds; ++round) {
    progress.show(kName, static_cast<std::size_t>(round), static_cast<std::size_t>(rounds));
    TRY(const double update, board.update_s());
    TRY(const double plain, board.bare_s(bytes));
    ours.push_back(update);
    bare.push_back(plain);
  }
  const auto summary = summarise(std::move(ours));
  result.value = summary.median;
  result.spread = summary.spread;
  result.baseline_value = summarise(std::move(bare)).median;
  result.conditions = {
      {"bytes", bytes},
      {"megabits_per_s", terms.megabits_per_s},
      {"round_trip_ms", terms.round_trip.count()},
      {"tcp_wmem_max_bytes", terms.send_buffer_bytes},
      {"rounds", rounds},
      {"measured", "first piece until the verdict; plain TCP: first byte until one byte back"}};
  return result;
}

}  // namespace aflguard::bench
