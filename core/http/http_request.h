#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace aflguard {

/// What a request asks for, or the status that it is answered with.
struct HttpRequest {
  int status = 200;  ///< anything but 200: refused, and `path` is empty
  bool head = false;
  std::string path = {};  ///< without the query
  /// Names in lower case, in the order in which they came; values without blanks around them.
  std::vector<std::pair<std::string, std::string>> headers = {};

  /// Empty when there is none. One that came twice counts as none: no honest client sends it.
  [[nodiscard]] std::string header(std::string_view name) const;
};

/// Where a request's head ends, behind its empty line; npos while that has not come.
[[nodiscard]] std::size_t http_head_end(std::string_view bytes);

/// A request's head. GET and HEAD only (405), HTTP/1.0 and 1.1 only (505), no control characters, and a body
/// is never read (413).
[[nodiscard]] HttpRequest parse_http_request(std::string_view head);

/// A whole answer that ends the connection, with `more` whole header lines. Without the body when `head` is
/// true.
[[nodiscard]] std::string http_answer(int status, std::string_view type, std::string_view body, bool head,
                                      std::string_view more = {});

}  // namespace aflguard
