#include "tools/aflguard/http_request.h"

#include <algorithm>

namespace aflguard::tools {
namespace {

/// The part up to `end`, which is taken off as well; none when it is not there.
std::optional<std::string_view> take(std::string_view& text, std::string_view end) {
  const auto at = text.find(end);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(at + end.size());
  return part;
}

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

std::string lower(std::string_view text) {
  std::string made(text);
  std::transform(made.begin(), made.end(), made.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return made;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

std::string HttpRequest::header(std::string_view name) const {
  const auto same = [&](const auto& entry) { return entry.first == name; };
  const auto found = std::find_if(headers.begin(), headers.end(), same);
  if (found == headers.end() || std::any_of(found + 1, headers.end(), same)) return {};
  return found->second;
}

std::optional<HttpRequest> parse_request(std::string_view head) {
  if (head.size() > kMaxRequestBytes || !head.ends_with("\r\n\r\n")) return std::nullopt;
  head.remove_suffix(2);
  auto line = take(head, "\r\n");
  if (!line || !is_printable(*line)) return std::nullopt;
  const auto method = take(*line, " ");
  const auto target = take(*line, " ");
  if (!method || !target || !is_token(*method) || !target->starts_with('/') || *line != "HTTP/1.1") {
    return std::nullopt;
  }
  HttpRequest request{std::string(*method), std::string(*target), {}};
  while (!head.empty()) {
    auto field = take(head, "\r\n");
    if (!field || !is_printable(*field)) return std::nullopt;
    const auto name = take(*field, ":");
    if (!name || !is_token(*name)) return std::nullopt;
    request.headers.emplace_back(lower(*name), std::string(trimmed(*field)));
  }
  return request;
}

bool is_own_host(std::string_view host, unsigned port) {
  const std::string end = ":" + std::to_string(port);
  if (!host.ends_with(end)) return false;
  host.remove_suffix(end.size());
  return host == "127.0.0.1" || host == "localhost";
}

}  // namespace aflguard::tools
