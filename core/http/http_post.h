#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace aflguard {

/// "http://host:port/path", taken apart.
struct HttpUrl {
  std::string host;
  std::uint16_t port = 80;
  std::string path = "/";

  friend bool operator==(const HttpUrl&, const HttpUrl&) = default;
};

/// kInvalidInput when it is not such an address; https is not spoken here.
[[nodiscard]] Result<HttpUrl> parse_http_url(std::string_view text);

/// Sends `body` as application/json. kUnavailable when the server cannot be reached, does not answer in time,
/// or answers anything but 2xx.
[[nodiscard]] Status post_json(const HttpUrl& url, std::string_view body, std::chrono::milliseconds timeout);

}  // namespace aflguard
