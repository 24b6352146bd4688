#include "gateway_server/http_request.h"

#include <algorithm>
#include <cctype>

namespace aflguard {
namespace {

constexpr std::size_t kMaxTarget = 512;
constexpr std::size_t kMaxHeaders = 64;
constexpr std::string_view kLineEnd = "\r\n";

HttpRequest refused(int status) {
  HttpRequest request;
  request.status = status;
  return request;
}

/// The part before `separator`; the text goes on behind it. All of it where there is no separator.
std::string_view take_until(std::string_view& text, std::string_view separator) {
  const auto at = text.find(separator);
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + separator.size());
  return part;
}

bool is_token(std::string_view text) {
  const auto allowed = [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("!#$%&'*+-.^_`|~").find(static_cast<char>(c)) != std::string_view::npos;
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), allowed);
}

bool is_visible(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c > ' ' && c < 0x7F; });
}

bool is_field_value(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return c == '\t' || (c >= ' ' && c != 0x7F); });
}

std::string lower(std::string_view text) {
  std::string small(text);
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return small;
}

/// 200, or why the header lines are refused.
int check_headers(std::string_view lines, bool needs_host) {
  std::size_t hosts = 0;
  for (std::size_t count = 0; !lines.empty(); ++count) {
    if (count == kMaxHeaders) return 431;
    std::string_view value = take_until(lines, kLineEnd);
    const std::string_view name = take_until(value, ":");
    if (!is_token(name) || !is_field_value(value)) return 400;
    const std::string known = lower(name);
    if (known == "host") ++hosts;
    if (known == "transfer-encoding") return 413;
    if (known == "content-length" && value.find_first_not_of(" \t0") != std::string_view::npos) return 413;
  }
  return hosts > 1 || (needs_host && hosts == 0) ? 400 : 200;
}

std::string_view phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 413:
      return "Content Too Large";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Bad Request";
  }
}

}  // namespace

std::size_t http_head_end(std::string_view bytes) {
  constexpr std::string_view kEnd = "\r\n\r\n";
  const auto at = bytes.find(kEnd);
  return at == std::string_view::npos ? at : at + kEnd.size();
}

HttpRequest parse_http_request(std::string_view head) {
  if (!head.ends_with("\r\n\r\n")) return refused(400);
  head.remove_suffix(kLineEnd.size());
  std::string_view line = take_until(head, kLineEnd);
  const std::string_view method = take_until(line, " ");
  const std::string_view target = take_until(line, " ");
  if (!is_token(method) || !is_visible(target) || !target.starts_with('/')) return refused(400);
  if (target.size() > kMaxTarget) return refused(431);
  if (line != "HTTP/1.1" && line != "HTTP/1.0") return refused(line.starts_with("HTTP/") ? 505 : 400);
  if (const int status = check_headers(head, line == "HTTP/1.1"); status != 200) return refused(status);
  if (method != "GET" && method != "HEAD") return refused(405);
  HttpRequest request;
  request.head = method == "HEAD";
  request.path = std::string(target.substr(0, target.find('?')));
  return request;
}

std::string http_answer(int status, std::string_view type, std::string_view body, bool head) {
  std::string text = "HTTP/1.1 " + std::to_string(status) + " ";
  text.append(phrase(status)).append("\r\nContent-Type: ").append(type);
  text.append("\r\nContent-Length: ").append(std::to_string(body.size()));
  if (status == 405) text.append("\r\nAllow: GET, HEAD");
  text.append("\r\nConnection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\r\n");
  if (!head) text.append(body);
  return text;
}

}  // namespace aflguard
