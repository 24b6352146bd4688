#include "core/transport/in_process_broker.h"

#include <deque>
#include <set>

#include "core/base/check.h"
#include "core/transport/topics.h"

namespace aflguard {

/// What the broker knows about one client, and what it has for it.
struct InProcessBroker::Client {
  std::optional<LastWill> will;
  std::vector<std::string> filters;
  std::deque<BusEvent> events;
  std::set<PublishId> on_their_way;
  BusCounters counters;
  std::uint64_t session = 0;  ///< grows with every connection; what belongs to an older one is lost
  bool started = false;
  bool connected = false;
  bool link = true;
};

class InProcessClient final : public MessageBus {
 public:
  InProcessClient(InProcessBroker& broker, std::string id, InProcessBroker::Client& state)
      : broker_(broker), id_(std::move(id)), state_(state) {}
  ~InProcessClient() override { stop(); }

  [[nodiscard]] Status start() override {
    check(!state_.started, "a bus is started once");
    state_.started = true;
    if (state_.link) broker_.connect(state_);
    return {};
  }

  [[nodiscard]] Status subscribe(const std::string& filter) override {
    unsubscribe(filter);
    state_.filters.push_back(filter);
    if (state_.connected) broker_.subscribe(state_, filter);
    return {};
  }

  void unsubscribe(const std::string& filter) override { std::erase(state_.filters, filter); }

  [[nodiscard]] Result<PublishId> publish(const Message& message) override {
    if (!state_.connected) return unavailable("client '" + id_ + "' is not connected");
    const PublishId id = ++last_id_;
    state_.on_their_way.insert(id);
    // The message may outlive this client, so the broker looks the client up by its name.
    broker_.schedule(broker_.delay(), [broker = &broker_, from = id_, session = state_.session, id,
                                       sent = message] { broker->arrive(from, session, id, sent); });
    return id;
  }

  [[nodiscard]] std::optional<BusEvent> next_event(std::chrono::steady_clock::time_point) override {
    if (state_.events.empty()) return std::nullopt;
    BusEvent event = std::move(state_.events.front());
    state_.events.pop_front();
    return event;
  }

  void wake() override { state_.events.emplace_back(BusWoken{}); }

  void stop() override {
    if (state_.connected) broker_.disconnect(state_, "stopped", false);
    state_.started = false;
    state_.events.clear();
  }

  [[nodiscard]] BusCounters counters() const override { return state_.counters; }

 private:
  InProcessBroker& broker_;
  std::string id_;
  InProcessBroker::Client& state_;
  PublishId last_id_ = 0;
};

InProcessBroker::InProcessBroker(std::uint64_t seed, const LinkFaults& faults)
    : faults_(faults), random_(seed) {}
InProcessBroker::~InProcessBroker() = default;

std::unique_ptr<MessageBus> InProcessBroker::client(const std::string& id, std::optional<LastWill> will) {
  auto& state = clients_[id];
  if (!state) state = std::make_unique<Client>();
  check(!state->started, "the name of a client that runs is taken");
  state->will = std::move(will);
  state->filters.clear();
  return std::make_unique<InProcessClient>(*this, id, *state);
}

void InProcessBroker::schedule(Duration delay, std::function<void()> happen) {
  due_.emplace(std::pair(now_ + delay, next_order_++), std::move(happen));
}

InProcessBroker::Duration InProcessBroker::delay() {
  const auto spread = static_cast<std::uint64_t>((faults_.longest_delay - faults_.shortest_delay).count());
  return faults_.shortest_delay + Duration(static_cast<Duration::rep>(random_.below(spread + 1)));
}

void InProcessBroker::advance(Duration span) {
  const Duration end = now_ + span;
  while (!due_.empty() && due_.begin()->first.first <= end) {
    auto first = due_.extract(due_.begin());
    now_ = first.key().first;
    first.mapped()();
  }
  now_ = end;
}

void InProcessBroker::settle() {
  while (!due_.empty()) advance(due_.begin()->first.first - now_);
}

void InProcessBroker::arrive(const std::string& from, std::uint64_t session, PublishId id,
                             const Message& message) {
  Client& sender = *clients_.at(from);
  if (sender.session != session || !sender.connected) return;
  schedule(delay(), [this, from, session, id] {
    Client& publisher = *clients_.at(from);
    if (publisher.session != session || publisher.on_their_way.erase(id) == 0) return;
    publisher.events.emplace_back(BusPublished{id});
  });
  distribute(message);
}

void InProcessBroker::distribute(const Message& message) {
  if (message.retained) retained_[message.topic] = message;
  Message live = message;
  live.retained = false;
  for (auto& [id, client] : clients_) {
    for (const std::string& filter : client->filters) {
      if (!topic_matches(filter, message.topic)) continue;
      deliver(*client, live);
      break;
    }
  }
}

void InProcessBroker::deliver(Client& client, const Message& message) {
  if (!client.connected || random_.uniform() < faults_.loss) return;
  const int copies = random_.uniform() < faults_.duplication ? 2 : 1;
  for (int i = 0; i < copies; ++i) {
    schedule(delay(), [&client, session = client.session, message] {
      if (!client.connected || client.session != session) return;
      ++client.counters.received;
      client.events.emplace_back(BusReceived{message});
    });
  }
}

void InProcessBroker::connect(Client& client) {
  client.connected = true;
  ++client.session;
  ++client.counters.connections;
  client.events.emplace_back(BusConnected{"in-process"});
  for (const std::string& filter : client.filters) subscribe(client, filter);
}

void InProcessBroker::subscribe(Client& client, const std::string& filter) {
  for (const auto& [topic, message] : retained_) {
    if (topic_matches(filter, topic)) deliver(client, message);
  }
}

void InProcessBroker::disconnect(Client& client, const std::string& reason, bool with_will) {
  client.connected = false;
  for (const PublishId id : client.on_their_way) client.events.emplace_back(BusPublishFailed{id, reason});
  client.on_their_way.clear();
  client.events.emplace_back(BusDisconnected{reason});
  if (with_will && client.will) distribute(client.will->message);
}

void InProcessBroker::cut(const std::string& id) {
  Client& client = *clients_.at(id);
  client.link = false;
  if (client.connected) disconnect(client, "link cut", true);
}

void InProcessBroker::restore(const std::string& id) {
  Client& client = *clients_.at(id);
  client.link = true;
  if (client.started && !client.connected) connect(client);
}

void InProcessBroker::crash() {
  due_.clear();
  for (auto& [id, client] : clients_) {
    if (client->connected) disconnect(*client, "broker crashed", false);
  }
  for (auto& [id, client] : clients_) {
    if (client->started && client->link) connect(*client);
  }
}

}  // namespace aflguard
