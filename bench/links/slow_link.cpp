#include "bench/links/slow_link.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sstream>
#include <sys/ioctl.h>
#include <unistd.h>

#include "bench/links/delay_line.h"
#include "core/system/child_process.h"

namespace aflguard::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kBoardAddress = "198.18.147.2";  // of the range that is set aside for benchmarks
constexpr const char* kHereDevice = "aflguard-here";   // at most 15 letters
constexpr const char* kBoardDevice = "aflguard-board";
constexpr std::size_t kMaxPackets = 1000;
constexpr std::size_t kLargestPacket = 2048;
constexpr std::chrono::milliseconds kPollInterval(100);

Status run(const std::vector<std::string>& prefix, const std::string& command) {
  std::vector<std::string> words = prefix;
  std::istringstream split(command);
  for (std::string word; split >> word;) words.push_back(word);
  auto outcome = run_program(words, "/");
  if (!outcome) return unavailable("the slow link needs iproute2: " + outcome.error().message);
  if (outcome->exit_code == 0) return {};
  return unavailable("'" + command + "' failed: " + outcome->last_line());
}

Result<FileDescriptor> open_tun(const char* name) {
  FileDescriptor file(::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!file.valid()) return unavailable(std::string("/dev/net/tun: ") + std::strerror(errno));
  ifreq request{};
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  std::strncpy(request.ifr_name, name, IFNAMSIZ - 1);
  if (::ioctl(file.get(), TUNSETIFF, &request) != 0) {
    return unavailable(std::string("network device ") + name + ": " + std::strerror(errno));
  }
  return file;
}

void take_packets(int from, DelayLine& line) {
  std::array<std::byte, kLargestPacket> buffer;
  while (true) {
    const ssize_t size = ::read(from, buffer.data(), buffer.size());
    if (size <= 0) return;
    line.push(Bytes(buffer.begin(), buffer.begin() + size), Clock::now());
  }
}

void deliver_packets(DelayLine& line, int to) {
  while (auto packet = line.pop(Clock::now())) {
    // A device that takes no packet has lost one, as networks do.
    [[maybe_unused]] const ssize_t written = ::write(to, packet->data(), packet->size());
  }
}

}  // namespace

Result<std::unique_ptr<SlowLink>> SlowLink::create(const SlowLinkOptions& terms) {
  if (::geteuid() != 0) return unavailable("a network namespace needs root");
  auto link = std::unique_ptr<SlowLink>(new SlowLink(terms));
  TRY_STATUS(link->set_up());
  link->carrier_ = std::thread([raw = link.get()] { raw->carry(); });
  return link;
}

SlowLink::SlowLink(const SlowLinkOptions& terms)
    : terms_(terms), name_("aflguard-bench-" + std::to_string(::getpid())) {}

Status SlowLink::set_up() {
  TRY_STATUS(run({}, "ip netns add " + name_));
  has_namespace_ = true;
  TRY(here_, open_tun(kHereDevice));
  TRY(board_, open_tun(kBoardDevice));
  const std::string here = kHereDevice;
  const std::string board = kBoardDevice;
  TRY_STATUS(run({}, "ip link set " + board + " netns " + name_));
  TRY_STATUS(run({}, std::string("ip address add ") + address() + " peer " + kBoardAddress + " dev " + here));
  TRY_STATUS(run({}, "ip link set " + here + " up"));
  TRY_STATUS(
      run(prefix(), std::string("ip address add ") + kBoardAddress + " peer " + address() + " dev " + board));
  TRY_STATUS(run(prefix(), "ip link set " + board + " up"));
  auto command = prefix();
  const std::string sizes = "4096 16384 " + std::to_string(terms_.send_buffer_bytes);
  command.insert(command.end(), {"sh", "-c", "echo " + sizes + " > /proc/sys/net/ipv4/tcp_wmem"});
  return run(command, "");
}

SlowLink::~SlowLink() {
  stopping_ = true;
  if (carrier_.joinable()) carrier_.join();
  here_.close();  // which removes the device
  board_.close();
  if (has_namespace_) (void)run({}, "ip netns delete " + name_);
}

void SlowLink::carry() const {
  const double rate = terms_.megabits_per_s * 1e6;
  DelayLine up(rate, terms_.round_trip / 2, kMaxPackets);
  DelayLine down(rate, terms_.round_trip / 2, kMaxPackets);
  while (!stopping_) {
    const auto now = Clock::now();
    auto wake = now + kPollInterval;
    for (const auto& due : {up.next_arrival(), down.next_arrival()}) {
      if (due) wake = std::min(wake, *due);
    }
    const auto wait = std::max<std::chrono::nanoseconds>(wake - now, std::chrono::nanoseconds(0));
    const timespec timeout = {static_cast<time_t>(wait.count() / 1'000'000'000),
                              wait.count() % 1'000'000'000};
    std::array<pollfd, 2> files = {pollfd{board_.get(), POLLIN, 0}, pollfd{here_.get(), POLLIN, 0}};
    (void)::ppoll(files.data(), files.size(), &timeout, nullptr);
    take_packets(board_.get(), up);
    take_packets(here_.get(), down);
    deliver_packets(up, here_.get());
    deliver_packets(down, board_.get());
  }
}

}  // namespace aflguard::bench
