#include "bench/peer/flood.h"

#include <atomic>
#include <iostream>
#include <thread>

#include "core/envelope/piece.h"
#include "core/transport/topics.h"

namespace aflguard::bench {

Result<std::uint64_t> flood(const Identity& identity, LogSink& log) {
  TRY(const FleetTopics topics, FleetTopics::create(identity.fleet));
  MqttOptions options = mqtt_options(identity);
  options.max_publishes = 1000;
  TRY(auto bus, connect(options, topics.verdict(identity.name), log));
  std::printf("ready\n");
  std::fflush(stdout);
  std::string line;
  if (!std::getline(std::cin, line)) return std::uint64_t{0};
  std::atomic<bool> stop{false};
  std::thread listening([&stop] {
    std::string end;
    std::getline(std::cin, end);
    stop = true;
  });
  std::uint64_t sent = 0;
  PieceHeader header{.count = 2, .total = 200};  // transfers that are begun and never ended
  while (!stop) {
    ++header.transfer;
    const bool piece = sent % 2 == 0;
    Message message{.topic = topics.update(identity.name),
                    .payload = piece ? write_piece(header, Bytes(100)) : Bytes(32, std::byte{7})};
    if (bus->publish(message)) {
      ++sent;
      while (bus->next_event({})) {
      }
    } else {
      (void)bus->next_event(std::chrono::steady_clock::now() + std::chrono::milliseconds(5));
    }
  }
  listening.join();
  return sent;
}

}  // namespace aflguard::bench
