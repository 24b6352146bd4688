#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace aflguard::tools {

/// The head of an HTTP/1.1 request, as far as a page on loopback needs it.
struct HttpRequest {
  std::string method;
  std::string target;
  /// Names in lower case, in the order in which they came; values without blanks around them.
  std::vector<std::pair<std::string, std::string>> headers;

  /// Empty when there is none. One that came twice counts as none: nobody honest sends it.
  [[nodiscard]] std::string header(std::string_view name) const;
};

inline constexpr std::size_t kMaxRequestBytes = 8192;

/// None when `head` (everything up to the empty line, with it) is not a request.
[[nodiscard]] std::optional<HttpRequest> parse_request(std::string_view head);

/// True when `host` ("name:port", as browsers send it) is this machine at that port: whoever comes under
/// another name was led here by somebody else's.
[[nodiscard]] bool is_own_host(std::string_view host, unsigned port);

}  // namespace aflguard::tools
