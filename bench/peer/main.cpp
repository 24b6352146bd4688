#include <cstdio>
#include <iostream>
#include <span>
#include <sstream>

#include "bench/peer/bare_link.h"
#include "bench/peer/counter.h"
#include "bench/peer/crowd.h"
#include "bench/peer/flood.h"
#include "bench/peer/floor.h"
#include "bench/peer/message_counter.h"
#include "bench/peer/publisher.h"
#include "core/learning/data/npy.h"

namespace aflguard::bench {

MqttOptions mqtt_options(const Identity& identity) {
  MqttOptions options;
  options.host = identity.host;
  options.port = identity.port;
  options.client_id = identity.name;
  options.tls = TlsFiles{identity.folder / "ca.crt", identity.folder / (identity.role + ".crt"),
                         identity.folder / (identity.role + ".key")};
  options.protocol = MqttProtocol::kMqtt5;
  options.max_queued_messages = 65'536;
  options.max_queued_bytes = 256u << 20;
  return options;
}

Result<std::unique_ptr<MqttBus>> connect(const MqttOptions& options, const std::string& filter,
                                         LogSink& log) {
  TRY(auto bus, MqttBus::create(options, log));
  TRY_STATUS(bus->subscribe(filter));
  TRY_STATUS(bus->start());
  while (auto event = bus->next_event(std::chrono::steady_clock::now() + std::chrono::seconds(20))) {
    if (std::holds_alternative<BusConnected>(*event)) return bus;
    if (const auto* lost = std::get_if<BusDisconnected>(&*event)) return unavailable(lost->reason);
  }
  return unavailable("the broker does not answer");
}

}  // namespace aflguard::bench

namespace {

using namespace aflguard;
using namespace aflguard::bench;

/// One line to the program that started us.
void say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

int report(const Status& done) {
  if (done.ok()) return 0;
  say("error " + done.error().message);
  return 1;
}

std::string as_text(const Moments& moments) {
  std::string text;
  for (const auto moment : moments) text += " " + std::to_string(moment.time_since_epoch().count());
  return text;
}

template <std::size_t size>
Status read_hex(const std::string& text, std::array<std::uint8_t, size>& bytes) {
  if (text.size() != 2 * size || text.find_first_not_of("0123456789abcdef") != std::string::npos) {
    return invalid_input("'" + text + "' is not " + std::to_string(size) + " bytes in hexadecimal");
  }
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::uint8_t>(std::stoul(text.substr(2 * i, 2), nullptr, 16));
  }
  return {};
}

/// prepare COUNT -> ready BYTES; run verdicts|acks -> done ACCEPTED MODELS BEGIN NANOSECONDS...
Status publish(const Identity& identity, std::span<char*> rest, LogSink& log) {
  PublisherSettings settings;
  settings.identity = identity;
  TRY_STATUS(read_hex(rest[0], settings.model_hash));
  TRY_STATUS(read_hex(rest[1], settings.gateway_key));
  TRY(const NpyArray stored, read_npy(rest[2]));
  TRY(settings.vector, stored.as_float32(rest[2]));
  TRY(auto publisher, Publisher::create(std::move(settings), log));
  say("ready");
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string verb, how;
    words >> verb >> how;
    if (verb == "prepare") {
      TRY(const std::size_t bytes, publisher->prepare(std::stoul(how)));
      say("ready " + std::to_string(bytes));
    } else {
      const auto begin = std::chrono::steady_clock::now();
      TRY(const Moments moments, publisher->run(how == "acks" ? GoOn::kAcks : GoOn::kVerdict));
      say("done " + std::to_string(publisher->accepted()) + " " + std::to_string(publisher->models()) +
          as_text({begin}) + as_text(moments));
    }
  }
  return {};
}

/// busy DEVICES SECONDS, or once DEVICES PER_SECOND -> done OUTCOME
Status crowd(const Identity& identity, std::span<char*> rest, LogSink& log) {
  CrowdSettings settings;
  settings.identity = identity;
  TRY_STATUS(read_hex(rest[0], settings.model_hash));
  TRY_STATUS(read_hex(rest[1], settings.gateway_key));
  TRY(const NpyArray stored, read_npy(rest[2]));
  TRY(settings.vector, stored.as_float32(rest[2]));
  settings.key_file = rest[3];
  TRY(auto devices, Crowd::create(std::move(settings), log));
  say("ready");
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string verb;
    std::size_t count = 0;
    double figure = 0;
    words >> verb >> count >> figure;
    if (count == 0) return invalid_input("'" + line + "' names no devices");
    TRY(const CrowdOutcome outcome,
        verb == "busy" ? devices->busy(count, figure) : devices->once(count, figure));
    say("done " + outcome.text());
  }
  return {};
}

/// Any line starts it, any line ends it -> done MESSAGES
Status flood_gateway(const Identity& identity, LogSink& log) {
  TRY(const std::uint64_t messages, flood(identity, log));
  say("done " + std::to_string(messages));
  return {};
}

/// count UPDATES BYTES -> done NANOSECONDS...
Status count(const Identity& identity, LogSink& log) {
  TRY(Counter counter, Counter::create(identity, log));
  say("ready");
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string verb;
    std::size_t updates = 0;
    std::size_t bytes = 0;
    words >> verb >> updates >> bytes;
    if (updates == 0 || bytes == 0) return invalid_input("'" + line + "' counts nothing");
    TRY(const Moments moments, counter.count(updates, bytes));
    say("done" + as_text(moments));
  }
  return {};
}

/// go PORT BYTES -> done SECONDS
Status link(const std::string& host) {
  say("ready");
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string verb;
    std::uint16_t port = 0;
    std::size_t bytes = 0;
    words >> verb >> port >> bytes;
    TRY(const double seconds, send_over_bare_link(host, port, bytes));
    say("done " + std::to_string(seconds));
  }
  return {};
}

/// any line -> done MILLISECONDS
Status measure_floor(std::size_t bytes, const std::string& file) {
  say("ready");
  for (std::string line; std::getline(std::cin, line);) {
    TRY(const double cost, floor_ms(bytes, file));
    say("done " + std::to_string(cost));
  }
  return {};
}

}  // namespace

/// aflguard-bench-peer floor BYTES FILE
/// aflguard-bench-peer link HOST
/// aflguard-bench-peer publish|count FOLDER ROLE NAME HOST PORT FLEET [MODEL_HASH GATEWAY_KEY VECTOR.npy]
/// aflguard-bench-peer crowd FOLDER ROLE NAME HOST PORT FLEET MODEL_HASH GATEWAY_KEY VECTOR.npy KEYS.pem
/// aflguard-bench-peer flood FOLDER ROLE NAME HOST PORT FLEET
/// aflguard-bench-peer messages FOLDER ROLE NAME HOST PORT FLEET FILTER...
/// Commands come on standard input, answers go to standard output; the end of the input ends the program.
int main(int argc, char** argv) {
  const std::span arguments(argv, static_cast<std::size_t>(argc));
  const std::string verb = argc > 1 ? argv[1] : "";
  const bool publishes = argc == 11 && verb == "publish";
  const bool counts = argc == 8 && verb == "count";
  if (argc == 3 && verb == "link") return report(link(argv[2]));
  if (argc == 4 && verb == "floor") return report(measure_floor(std::stoul(argv[2]), argv[3]));
  const bool is_crowd = argc == 12 && verb == "crowd";
  const bool floods = argc == 8 && verb == "flood";
  const bool counts_messages = argc > 8 && verb == "messages";
  if (!publishes && !counts && !counts_messages && !is_crowd && !floods) {
    std::fprintf(stderr, "aflguard-bench-peer belongs to `aflguard bench`\n");
    return 2;
  }
  const Identity identity = {
      argv[2], argv[3], argv[4], argv[5], static_cast<std::uint16_t>(std::stoul(argv[6])), argv[7]};
  if (counts_messages) return report(count_messages(identity, {argv + 8, argv + argc}));
  StderrLog log(LogLevel::kWarning);
  if (is_crowd) return report(crowd(identity, arguments.subspan(8), log));
  if (floods) return report(flood_gateway(identity, log));
  return report(publishes ? publish(identity, arguments.subspan(8), log) : count(identity, log));
}
