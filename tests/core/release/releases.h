#pragma once

#include <string>

#include "core/envelope/envelope.h"
#include "core/identity_mbedtls/mbedtls_signer.h"
#include "core/identity_mbedtls/mbedtls_verifier.h"
#include "core/learning/model_package.h"
#include "core/release/package_archive.h"
#include "core/release/release_message.h"
#include "tests/support/test.h"

namespace aflguard::testing {

/// A package as `aflguard model build` writes it, with graphs that say `content`.
inline ModelPackage sample_package(const std::string& content = "train") {
  ModelPackage package;
  package.description.name = "small";
  package.description.parameters = {{"weight", {3}, 0, Initializer::kZero, 0},
                                    {"bias", {2}, 3, Initializer::kZero, 0}};
  package.description.input_shape = {3};
  package.description.output_shape = {2};
  package.description.hash = layout_hash(package.description);
  package.train_graph = content;
  package.eval_graph = "eval";
  return package;
}

/// Graphs that do not compress, so that an archive has so many pieces.
inline std::string noise(std::size_t pieces) {
  std::string text(pieces * kReleasePieceBytes, '\0');
  std::uint32_t state = 1;
  for (char& letter : text) {
    state = state * 1664525U + 1013904223U;
    letter = static_cast<char>(state >> 24U);
  }
  return text;
}

/// An order whose package is that archive.
inline ReleaseMessage sample_release(std::span<const std::byte> archive) {
  ReleaseMessage release;
  release.fleet = "orchard";
  release.number = 3;
  release.model_number = 2;
  release.model_name = "small";
  release.model_hash.fill(7);
  release.replaces.fill(9);
  release.package_bytes = archive.size();
  release.package_digest = sha256(archive);
  release.pieces = release_pieces(archive);
  release.canaries = {"pi-1", "pi-2"};
  return release;
}

/// A release key, and who holds its public half.
struct ReleaseKeys {
  MbedtlsSigner signer = MbedtlsSigner::generate().value();
  KeyTable table;
  MbedtlsVerifier verifier;
  ReleaseKeys() { ASSERT_OK(table.add("release", signer.public_key())); }
  [[nodiscard]] EnvelopeOpener opener() const { return {table, verifier}; }
  [[nodiscard]] Bytes sealed(const Payload& payload) {
    return EnvelopeSealer(signer).seal(payload).value().release();
  }
};

}  // namespace aflguard::testing
