#include <memory>

#include "core/envelope/renewal_message.h"
#include "core/identity_mbedtls/mbedtls_signer.h"
#include "core/identity_mbedtls/mbedtls_verifier.h"
#include "core/system/atomic_file.h"
#include "core/transport/in_process_broker.h"
#include "edge_client/renewing/certificate_renewal.h"
#include "tests/edge_client/broker_clock.h"
#include "tests/edge_client/kept_log.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::edge;
using namespace aflguard::testing;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::hours kLife(300);

/// A board whose certificate has lasted for a third of its life, and an operator who answers by hand. Keys
/// and certificates are words: "key-1"; "for key-1, 600 h" lasts 600 hours from now.
class RenewalBench final {
 public:
  RenewalBench() {
    ASSERT_OK(operator_bus->start());
    ASSERT_OK(operator_bus->subscribe(topics.all_renewals()));
    ASSERT_OK(device_bus->start());
    begin();
  }

  /// The client starts.
  void begin() {
    Certificate certificate;
    certificate.not_before = start - kLife / 3;
    certificate.not_after = start + kLife * 2 / 3;
    renewal.emplace(
        RenewalSettings{"orchard", "pi-1", certificate, folder.path()}, topics,
        RenewalParts{
            .bus = *device_bus,
            .sealer = sealer,
            .clock = clock,
            .log = log,
            .new_key = [this]() -> Result<std::string> {
              if (no_keys) return io_error("no randomness");
              return "key-" + std::to_string(++keys);
            },
            .request_for = [](const std::string& key) -> Result<std::string> { return "request for " + key; },
            .check = [this](const std::string& certificate_pem,
                            const std::string& key) { return check(certificate_pem, key); }});
    renewal->notice(BusConnected{"test"});
  }
  void step() {
    (void)renewal->step();
    broker.settle();
    while (auto event = device_bus->next_event({})) renewal->notice(*event);
  }
  void answer(const std::string& certificate) {
    const auto bytes = std::as_bytes(std::span(certificate));
    ASSERT_OK(operator_bus->publish({topics.certificate("pi-1"), Bytes(bytes.begin(), bytes.end()), true}));
    step();
  }
  /// The requests since the last call, as the operator opens them.
  [[nodiscard]] std::vector<RenewalMessage> requests() {
    broker.settle();
    std::vector<RenewalMessage> seen;
    KeyTable table;
    ASSERT_OK(table.add("pi-1", signer.public_key()));
    while (auto event = operator_bus->next_event({})) {
      auto* received = std::get_if<BusReceived>(&*event);
      if (received == nullptr) continue;
      auto envelope = UnverifiedEnvelope::parse(std::move(received->message.payload), kMaxRenewalBytes);
      TEST_ASSERT_TRUE(envelope.ok());
      const auto opened = EnvelopeOpener(table, verifier).open(std::move(*envelope));
      TEST_ASSERT_TRUE(opened.ok());
      const auto message = decode_renewal(*opened);
      TEST_ASSERT_TRUE(message.ok());
      seen.push_back(*message);
    }
    return seen;
  }
  [[nodiscard]] std::string identity() const {
    const auto text = read_text_file(renewed_identity(folder.path()));
    return text.ok() ? *text : "";
  }

  InProcessBroker broker{1};
  BrokerClock clock{broker};
  std::chrono::system_clock::time_point start = clock.wall();
  KeptLog log;
  TemporaryFolder folder;
  FleetTopics topics = FleetTopics::create("orchard").value();
  std::unique_ptr<MessageBus> operator_bus = broker.client("authority");
  std::unique_ptr<MessageBus> device_bus = broker.client("pi-1");
  MbedtlsSigner signer = MbedtlsSigner::generate().value();
  MbedtlsVerifier verifier;
  EnvelopeSealer sealer{signer};
  std::optional<CertificateRenewal> renewal;
  int keys = 0;
  bool no_keys = false;

 private:
  [[nodiscard]] Result<Certificate> check(const std::string& pem, const std::string& key) const {
    const std::string wanted = "for " + key + ", ";
    if (!pem.starts_with(wanted)) return invalid_input("it is not for this key");
    Certificate certificate;
    certificate.not_after = clock.wall() + std::chrono::hours(std::stoi(pem.substr(wanted.size())));
    return certificate;
  }
};

}  // namespace

TEST("Nothing is asked for until a third of the certificate's life is left, then once") {
  RenewalBench bench;
  bench.step();
  TEST_ASSERT_TRUE(bench.requests().empty());
  bench.clock.jump = kLife / 3 - 1h;
  bench.step();
  TEST_ASSERT_TRUE(bench.requests().empty());
  bench.clock.jump = kLife / 3;
  for (int i = 0; i < 3; ++i) bench.step();
  const auto asked = bench.requests();
  TEST_ASSERT_EQUAL_size_t(1, asked.size());
  TEST_ASSERT_EQUAL_STRING("request for key-1", asked[0].request.c_str());
  TEST_ASSERT_EQUAL_STRING("pi-1", asked[0].device.c_str());
  TEST_ASSERT_EQUAL_STRING("orchard", asked[0].fleet.c_str());
}

TEST("The answer is taken into use: key and certificate in one file, of the owner alone") {
  RenewalBench bench;
  bench.clock.jump = kLife / 2;
  bench.step();
  bench.answer("for key-1, 600");
  TEST_ASSERT_TRUE(bench.renewal->renewed());
  TEST_ASSERT_EQUAL_STRING("key-1\nfor key-1, 600", bench.identity().c_str());
  using std::filesystem::perms;
  TEST_ASSERT_TRUE(std::filesystem::status(renewed_identity(bench.folder.path())).permissions() ==
                   (perms::owner_read | perms::owner_write));
  TEST_ASSERT_FALSE(std::filesystem::exists(bench.folder / "renewal.key"));
}

TEST("A board that was off asks again with the same key, and still knows it when the answer comes") {
  RenewalBench bench;
  bench.clock.jump = kLife / 2;
  bench.step();
  bench.begin();
  bench.step();
  const auto asked = bench.requests();
  TEST_ASSERT_EQUAL_size_t(2, asked.size());
  TEST_ASSERT_EQUAL_STRING(asked[0].request.c_str(), asked[1].request.c_str());
  bench.answer("for key-1, 600");
  TEST_ASSERT_TRUE(bench.renewal->renewed());
}

TEST("A certificate for another key, of another device, or that ends sooner changes nothing") {
  RenewalBench bench;
  bench.answer("for key-0, 600");  // nobody asked
  bench.clock.jump = kLife / 2;
  bench.step();
  bench.answer("for key-9, 600");
  bench.answer("rubbish");
  bench.answer("for key-1, 10");
  bench.answer("");
  TEST_ASSERT_FALSE(bench.renewal->renewed());
  TEST_ASSERT_TRUE(bench.identity().empty());
  ASSERT_CONTAINS(bench.log.text, "is not taken: it is not for this key");
  bench.answer("for key-1, 600");
  TEST_ASSERT_TRUE(bench.renewal->renewed());
}

TEST("A key that was taken into use is not asked for again when the power failed before it was removed") {
  RenewalBench bench;
  ASSERT_OK(write_file_atomically(renewed_identity(bench.folder.path()), "old-key\nits certificate",
                                  FileAccess::kOwnerOnly));
  ASSERT_OK(write_file_atomically(bench.folder / "renewal.key", "old-key", FileAccess::kOwnerOnly));
  bench.clock.jump = kLife / 2;
  bench.step();
  TEST_ASSERT_EQUAL_STRING("request for key-1", bench.requests().at(0).request.c_str());
}

TEST("What keeps a board from asking is said, and over when it is") {
  RenewalBench bench;
  bench.clock.jump = kLife / 2;
  bench.no_keys = true;
  bench.step();
  ASSERT_CONTAINS(bench.renewal->problem(), "cannot be renewed: no randomness");
  bench.no_keys = false;
  bench.broker.advance(31s);
  bench.step();
  TEST_ASSERT_TRUE(bench.renewal->problem().empty());
  TEST_ASSERT_EQUAL_size_t(1, bench.requests().size());
}
