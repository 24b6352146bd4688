#include "core/transport_mqtt/mqtt_bus.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mqtt/async_client.h>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "core/base/fair_queue.h"
#include "core/tls_openssl/tls_diagnosis.h"
#include "core/transport/backoff.h"
#include "core/transport_mqtt/paho_options.h"
#include "core/transport_mqtt/socket_tuning.h"

namespace aflguard {

namespace {

constexpr int kBestEffortQos = 0;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// How often a wait for Paho looks whether the bus is being stopped.
constexpr milliseconds kPollInterval(20);
constexpr std::chrono::seconds kSubscribeTimeout(20);
constexpr milliseconds kGoodbyeTimeout(2000);
/// A connection on which nothing has come for this long is quiet.
constexpr milliseconds kSilence(50);
/// Topics whose dropped messages are counted one by one.
constexpr std::size_t kMaxDroppedTopics = 1000;

const char* protocol_name(int version) {
  return version >= MQTTVERSION_5 ? "MQTT 5" : "MQTT 3.1.1";
}

/// Paho carries a pointer through for us; ours is a number.
void* as_context(PublishId id) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(id));  // NOLINT(performance-no-int-to-ptr)
}
PublishId from_context(const void* context) {
  return static_cast<PublishId>(reinterpret_cast<std::uintptr_t>(context));
}

}  // namespace

/// The state behind a bus. One rule keeps Paho's locks and ours apart: no Paho function is called while
/// mutex_ is held, because Paho calls back while it holds its own lock.
class MqttBus::Connection final : public mqtt::iaction_listener {
 public:
  Connection(const MqttOptions& options, LogSink& log)
      : options_(options),
        log_(log),
        uri_(paho_server_uri(options)),
        version_(options.protocol == MqttProtocol::kMqtt311 ? MQTTVERSION_3_1_1 : MQTTVERSION_5),
        backoff_(options.shortest_backoff, options.longest_backoff, options.jitter_seed),
        events_({.max_items = options.max_queued_messages,
                 .max_cost = options.max_queued_bytes,
                 .max_items_per_key = options.max_queued_messages_per_topic,
                 .max_cost_per_key = options.max_queued_bytes_per_topic}) {}
  ~Connection() override { stop(); }

  void start() {
    check(!keeper_.joinable(), "a bus is started once");
    keeper_ = std::thread([this] { keep_connected(); });
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    if (keeper_.joinable()) keeper_.join();
    events_.close();
  }

  void subscribe(const std::string& filter, bool may_be_refused) {
    {
      const std::lock_guard lock(mutex_);
      wanted_[filter] = ++last_request_;
      if (may_be_refused) {
        may_be_refused_.insert(filter);
      } else {
        may_be_refused_.erase(filter);
      }
    }
    changed_.notify_all();
  }

  void unsubscribe(const std::string& filter) {
    {
      const std::lock_guard lock(mutex_);
      wanted_.erase(filter);
    }
    changed_.notify_all();
  }

  Result<PublishId> publish(const Message& message);
  Result<PublishId> publish_best_effort(const Message& message);

  std::optional<BusEvent> next_event(Clock::time_point deadline) { return events_.pop_until(deadline); }
  void wake() { events_.push_first(BusWoken{}); }

  [[nodiscard]] BusCounters counters() const {
    const std::lock_guard lock(mutex_);
    return counters_;
  }
  [[nodiscard]] std::map<std::string, std::uint64_t> take_dropped() {
    const std::lock_guard lock(mutex_);
    return std::exchange(dropped_, {});
  }

 private:
  using Client = std::shared_ptr<mqtt::async_client>;
  /// Filters, and the number of the subscribe() call that asked for each.
  using Subscriptions = std::map<std::string, std::uint64_t>;

  // The keeper thread.
  void keep_connected();
  [[nodiscard]] bool connect_once();
  [[nodiscard]] Client make_client();
  [[nodiscard]] Status update_subscriptions(mqtt::async_client& client);
  [[nodiscard]] Status change_subscription(mqtt::async_client& client, const std::string& filter,
                                           bool wanted);
  [[nodiscard]] bool can_do_without(const std::string& filter) const {
    const std::lock_guard lock(mutex_);
    return may_be_refused_.contains(filter);
  }
  void stay_connected(mqtt::async_client& client);
  void say_goodbye(mqtt::async_client& client);
  void quieten(mqtt::async_client& client);
  void give_up(const std::string& reason);
  [[nodiscard]] bool switch_protocol();
  [[nodiscard]] bool wait_for(mqtt::token& token, Clock::duration limit);
  void wait_before_next_attempt();
  [[nodiscard]] bool stopping() const {
    const std::lock_guard lock(mutex_);
    return stopping_;
  }

  // Called by Paho's threads: they copy, push and return.
  void on_success(const mqtt::token& token) override;
  void on_failure(const mqtt::token& token) override;
  void on_message(const mqtt::const_message_ptr& message);
  void on_lost(const std::string& cause);
  void fail_publishes(const std::string& reason);

  const MqttOptions options_;
  LogSink& log_;
  const std::string uri_;
  int version_;
  bool has_connected_with_version_ = false;
  Backoff backoff_;
  FairQueue<BusEvent> events_;
  std::thread keeper_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Client client_;  ///< while connected
  Subscriptions wanted_;
  Subscriptions in_force_;  ///< on this connection
  std::set<std::string> may_be_refused_;
  std::uint64_t last_request_ = 0;
  std::set<PublishId> on_their_way_;
  PublishId last_id_ = 0;
  BusCounters counters_;
  std::map<std::string, std::uint64_t> dropped_;  ///< by topic; a bounded number of them
  std::string lost_reason_;
  bool lost_ = false;
  bool taken_over_ = false;
  bool stopping_ = false;
};

Result<PublishId> MqttBus::Connection::publish(const Message& message) {
  Client client;
  PublishId id = 0;
  {
    const std::lock_guard lock(mutex_);
    if (!client_) return unavailable("not connected to " + uri_);
    if (on_their_way_.size() >= options_.max_publishes) {
      return unavailable(std::to_string(options_.max_publishes) + " publishes are on their way already");
    }
    client = client_;
    id = ++last_id_;
    on_their_way_.insert(id);
  }
  try {
    const auto copy = mqtt::make_message(message.topic, message.payload.data(), message.payload.size(), kQos,
                                         message.retained);
    client->publish(copy, as_context(id), *this);
  } catch (const std::exception& error) {
    const std::lock_guard lock(mutex_);
    // When the connection broke meanwhile, its failure has been reported as an event.
    if (on_their_way_.erase(id) > 0) return unavailable(uri_ + " takes no message: " + error.what());
  }
  return id;
}

Result<PublishId> MqttBus::Connection::publish_best_effort(const Message& message) {
  Client client;
  PublishId id = 0;
  {
    const std::lock_guard lock(mutex_);
    if (!client_) return unavailable("not connected to " + uri_);
    client = client_;
    id = ++last_id_;
  }
  try {
    client->publish(mqtt::make_message(message.topic, message.payload.data(), message.payload.size(),
                                       kBestEffortQos, message.retained));
  } catch (const std::exception& error) {  // Paho bounds what waits to be written
    return unavailable(uri_ + " takes no message: " + error.what());
  }
  return id;
}

void MqttBus::Connection::on_success(const mqtt::token& token) {
  const PublishId id = from_context(token.get_user_context());
  {
    const std::lock_guard lock(mutex_);
    if (on_their_way_.erase(id) == 0) return;  // of an older connection
  }
  events_.push_first(BusPublished{id});
}

void MqttBus::Connection::on_failure(const mqtt::token& token) {
  const PublishId id = from_context(token.get_user_context());
  {
    const std::lock_guard lock(mutex_);
    if (on_their_way_.erase(id) == 0) return;
  }
  events_.push_first(BusPublishFailed{id, "refused with code " + std::to_string(token.get_return_code())});
}

void MqttBus::Connection::on_message(const mqtt::const_message_ptr& message) {
  if (!message) return;
  const mqtt::binary_ref& payload = message->get_payload_ref();
  const auto bytes = std::as_bytes(std::span(payload.data(), payload.size()));
  const std::string& topic = message->get_topic();
  const auto pushed =
      events_.push(topic, BusReceived{{topic, Bytes(bytes.begin(), bytes.end()), message->is_retained()}},
                   bytes.size() + topic.size(),
                   options_.wait_for_room > milliseconds::zero() ? Clock::now() + options_.wait_for_room
                                                                 : Clock::time_point{});
  const std::lock_guard lock(mutex_);
  using Pushed = FairQueue<BusEvent>::Pushed;
  if (pushed == Pushed::kTaken || pushed == Pushed::kTookOldest) ++counters_.received;
  if (pushed == Pushed::kTaken) return;
  ++counters_.dropped;
  if (dropped_.size() < kMaxDroppedTopics || dropped_.contains(topic)) ++dropped_[topic];
}

void MqttBus::Connection::on_lost(const std::string& cause) {
  {
    const std::lock_guard lock(mutex_);
    lost_ = true;
    if (lost_reason_.empty()) lost_reason_ = cause.empty() ? "connection lost" : cause;
  }
  changed_.notify_all();
}

void MqttBus::Connection::fail_publishes(const std::string& reason) {
  std::set<PublishId> failed;
  {
    const std::lock_guard lock(mutex_);
    failed.swap(on_their_way_);
  }
  for (const PublishId id : failed) events_.push_first(BusPublishFailed{id, reason});
}

void MqttBus::Connection::keep_connected() {
  while (!stopping()) {
    // After a lost connection there is a wait too: all boards of a fleet lose their broker at the same
    // moment.
    const bool was_connected = connect_once();
    if (was_connected || !switch_protocol()) wait_before_next_attempt();
  }
}

/// From connecting to the end of that connection. False when there was none.
bool MqttBus::Connection::connect_once() {
  {
    const std::lock_guard lock(mutex_);
    lost_ = false;
    taken_over_ = false;
    lost_reason_.clear();
    in_force_.clear();
  }
  try {
    const Client client = make_client();
    const auto token = client->connect(paho_connect_options(options_, version_));
    if (!wait_for(*token, options_.connect_timeout * 2)) {
      if (!stopping()) give_up("no answer");
      // The broker may just have taken us in: vanishing now would make it publish the last will.
      if (stopping() && token->wait_for(kGoodbyeTimeout)) say_goodbye(*client);
      return false;
    }
    tune_connections(options_.port, options_.send_buffer_bytes);
    if (const Status subscribed = update_subscriptions(*client); !subscribed.ok()) {
      say_goodbye(*client);
      if (!stopping()) give_up(subscribed.error().message);
      return false;
    }
    {
      const std::lock_guard lock(mutex_);
      client_ = client;
      ++counters_.connections;
    }
    has_connected_with_version_ = true;
    backoff_.reset();
    events_.push_first(BusConnected{protocol_name(version_)});
    stay_connected(*client);
    return true;
  } catch (const mqtt::exception& error) {
    const std::string found = options_.tls && error.get_return_code() == MQTTASYNC_FAILURE && !stopping()
                                  ? tls_diagnosis(options_.host, options_.port,
                                                  *options_.tls)  // no more is known than that it failed
                                  : std::string();
    give_up(found.empty() ? error.what() : found);
    return false;
  } catch (const std::exception& error) {
    give_up(error.what());
    return false;
  }
}

MqttBus::Connection::Client MqttBus::Connection::make_client() {
  auto client = std::make_shared<mqtt::async_client>(
      uri_, options_.client_id, mqtt::create_options(version_, static_cast<int>(options_.max_publishes) + 1),
      nullptr);
  client->set_connection_lost_handler([this](const std::string& cause) { on_lost(cause); });
  client->set_disconnected_handler([this](const mqtt::properties&, mqtt::ReasonCode code) {
    if (code == mqtt::ReasonCode::SESSION_TAKEN_OVER) {
      const std::lock_guard lock(mutex_);
      taken_over_ = true;
      lost_reason_ = "another client connected as '" + options_.client_id + "'";
    }
    on_lost("the broker ended the connection with reason " + std::to_string(static_cast<int>(code)));
  });
  client->set_message_callback([this](mqtt::const_message_ptr message) { on_message(message); });
  return client;
}

/// Makes what is in force on this connection what is wanted: first what ended, so that nothing of it comes
/// after the first message of what began later. kUnavailable when the broker refuses or is gone.
Status MqttBus::Connection::update_subscriptions(mqtt::async_client& client) {
  while (true) {
    std::string filter;
    bool wanted = false;
    {
      const std::lock_guard lock(mutex_);
      const auto added = std::find_if(wanted_.begin(), wanted_.end(), [this](const auto& entry) {
        const auto found = in_force_.find(entry.first);
        return found == in_force_.end() || found->second != entry.second;
      });
      const auto dropped = std::find_if(in_force_.begin(), in_force_.end(),
                                        [this](const auto& entry) { return !wanted_.contains(entry.first); });
      if (added == wanted_.end() && dropped == in_force_.end()) return {};
      wanted = dropped == in_force_.end();
      filter = wanted ? added->first : dropped->first;
      if (wanted) {
        in_force_[filter] = added->second;
      } else {
        in_force_.erase(dropped);
      }
    }
    TRY_STATUS(change_subscription(client, filter, wanted));
  }
}

Status MqttBus::Connection::change_subscription(mqtt::async_client& client, const std::string& filter,
                                                bool wanted) {
  try {
    const int qos = can_do_without(filter) ? kBestEffortQos : kQos;
    const auto token = wanted ? client.subscribe(filter, qos) : client.unsubscribe(filter);
    if (wait_for(*token, kSubscribeTimeout)) return {};
    return unavailable("no answer to the subscription to " + filter);
  } catch (const mqtt::exception& refusal) {
    if (wanted && client.is_connected() && can_do_without(filter)) {
      log_.warning(
          uri_ + " refuses the subscription to " + filter + " (" + refusal.what() +
          "), which is not needed: going on without; its access list may be older than this program");
      return {};
    }
    return unavailable("cannot subscribe to " + filter + ": " + refusal.what());
  } catch (const std::exception& error) {
    return unavailable("cannot subscribe to " + filter + ": " + error.what());
  }
}

/// Until the connection is lost, the bus stops or a subscription cannot be changed.
void MqttBus::Connection::stay_connected(mqtt::async_client& client) {
  std::string reason;
  bool lost = false;
  while (reason.empty()) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return lost_ || stopping_ || in_force_ != wanted_; });
    lost = lost_;
    if (lost_ || stopping_) {
      reason = lost_ ? lost_reason_ : "stopped";
      break;
    }
    lock.unlock();
    if (const Status subscribed = update_subscriptions(client); !subscribed.ok()) {
      reason = subscribed.error().message;
    }
  }
  {
    const std::lock_guard lock(mutex_);
    client_.reset();
  }
  if (!lost) say_goodbye(client);
  fail_publishes(reason);
  if (!stopping()) give_up(reason);
}

void MqttBus::Connection::say_goodbye(mqtt::async_client& client) {
  try {
    quieten(client);
    client.disconnect(kGoodbyeTimeout)->wait_for(kGoodbyeTimeout);
  } catch (const std::exception&) {
    // It is gone already, which is what was wanted.
  }
}

/// Ends the stream of messages. A broker that is still writing when the socket closes finds the link broken
/// before it reads our goodbye, and publishes the last will.
void MqttBus::Connection::quieten(mqtt::async_client& client) {
  Subscriptions ending;
  {
    const std::lock_guard lock(mutex_);
    ending.swap(in_force_);
  }
  const auto deadline = Clock::now() + kGoodbyeTimeout;
  for (const auto& [filter, request] : ending) {
    try {
      client.unsubscribe(filter)->wait_for(kGoodbyeTimeout);
    } catch (const std::exception&) {
      // Whatever the broker says to that, a goodbye follows.
    }
  }
  if (ending.empty()) return;
  std::uint64_t seen = 0;
  do {
    std::unique_lock lock(mutex_);
    seen = counters_.received;
    changed_.wait_for(lock, kSilence, [this] { return lost_; });
    if (lost_ || counters_.received == seen) return;
  } while (Clock::now() < deadline);
}

void MqttBus::Connection::give_up(const std::string& reason) {
  std::string text = uri_ + ": " + reason;
  bool taken_over = false;
  {
    const std::lock_guard lock(mutex_);
    taken_over = taken_over_;
  }
  std::replace(text.begin(), text.end(), '\n', ' ');
  log_.warning("disconnected from " + text);
  events_.push_first(BusDisconnected{text, taken_over});
}

/// A broker without MQTT 5 may answer in any way it likes, so the other version gets its turn after any
/// failure until one of them has worked. True when that turn is due at once.
bool MqttBus::Connection::switch_protocol() {
  if (options_.protocol != MqttProtocol::kAutomatic || has_connected_with_version_) return false;
  version_ = version_ == MQTTVERSION_5 ? MQTTVERSION_3_1_1 : MQTTVERSION_5;
  return version_ == MQTTVERSION_3_1_1;
}

/// True when it completed; throws Paho's exception when it failed; false when time is up or the bus stops.
bool MqttBus::Connection::wait_for(mqtt::token& token, Clock::duration limit) {
  const auto deadline = Clock::now() + limit;
  while (Clock::now() < deadline && !stopping()) {
    if (token.wait_for(kPollInterval)) return true;
  }
  return false;
}

void MqttBus::Connection::wait_before_next_attempt() {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, backoff_.next(), [this] { return stopping_; });
}

MqttBus::MqttBus(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
MqttBus::~MqttBus() = default;

Result<std::unique_ptr<MqttBus>> MqttBus::create(const MqttOptions& options, LogSink& log) {
  if (options.host.empty()) return invalid_input("the broker's host is empty");
  if (options.port == 0) return invalid_input("the broker's port is 0");
  if (options.client_id.empty()) return invalid_input("the MQTT client id is empty");
  if (options.max_publishes == 0) return invalid_input("at least one publish must be allowed at a time");
  if (options.shortest_backoff <= milliseconds::zero() ||
      options.shortest_backoff > options.longest_backoff) {
    return invalid_input("the shortest wait before a reconnect must be above 0 and not above the longest");
  }
  if (options.tls) {
    for (const auto& file : {options.tls->ca_file, options.tls->certificate_file, options.tls->key_file}) {
      std::error_code ignored;
      if (!std::filesystem::is_regular_file(file, ignored)) {
        return not_found("TLS file " + file.string() + " is missing");
      }
    }
  }
  return std::unique_ptr<MqttBus>(new MqttBus(std::make_unique<Connection>(options, log)));
}

Status MqttBus::start() {
  connection_->start();
  return {};
}
Status MqttBus::subscribe(const std::string& filter) {
  if (filter.empty()) return invalid_input("a topic filter is empty");
  connection_->subscribe(filter, false);
  return {};
}
Status MqttBus::subscribe_if_allowed(const std::string& filter) {
  if (filter.empty()) return invalid_input("a topic filter is empty");
  connection_->subscribe(filter, true);
  return {};
}
void MqttBus::unsubscribe(const std::string& filter) {
  connection_->unsubscribe(filter);
}
Result<PublishId> MqttBus::publish(const Message& message) {
  return message.best_effort ? connection_->publish_best_effort(message) : connection_->publish(message);
}
std::optional<BusEvent> MqttBus::next_event(Clock::time_point deadline) {
  return connection_->next_event(deadline);
}
void MqttBus::wake() {
  connection_->wake();
}
void MqttBus::stop() {
  connection_->stop();
}
BusCounters MqttBus::counters() const {
  return connection_->counters();
}
std::map<std::string, std::uint64_t> MqttBus::take_dropped() {
  return connection_->take_dropped();
}

}  // namespace aflguard
