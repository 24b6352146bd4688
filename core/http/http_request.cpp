#include "core/http/http_request.h"

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

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

/// 200, or why the header lines are refused.
int read_headers(std::string_view lines, bool needs_host, HttpRequest& request) {
  std::size_t hosts = 0;
  while (!lines.empty()) {
    if (request.headers.size() == kMaxHeaders) return 431;
    std::string_view value = take_until(lines, kLineEnd);
    const bool has_colon = value.find(':') != std::string_view::npos;
    const std::string_view name = take_until(value, ":");
    if (!has_colon || !is_token(name) || !is_field_value(value)) return 400;
    const auto& [known, text] = request.headers.emplace_back(lower(name), trimmed(value));
    if (known == "host") ++hosts;
    if (known == "transfer-encoding") return 413;
    if (known == "content-length" && text.find_first_not_of('0') != std::string::npos) return 413;
  }
  return hosts > 1 || (needs_host && hosts == 0) ? 400 : 200;
}

std::string_view phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 413:
      return "Content Too Large";
    case 426:
      return "Upgrade Required";
    case 431:
      return "Request Header Fields Too Large";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Bad Request";
  }
}

}  // namespace

std::string HttpRequest::header(std::string_view name) const {
  const auto same = [&](const auto& entry) { return entry.first == name; };
  const auto found = std::find_if(headers.begin(), headers.end(), same);
  if (found == headers.end() || std::any_of(found + 1, headers.end(), same)) return {};
  return found->second;
}

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
  HttpRequest request;
  if (const int status = read_headers(head, line == "HTTP/1.1", request); status != 200)
    return refused(status);
  if (method != "GET" && method != "HEAD") return refused(405);
  request.head = method == "HEAD";
  request.path = std::string(target.substr(0, target.find('?')));
  return request;
}

std::string http_answer(int status, std::string_view type, std::string_view body, bool head,
                        std::string_view more) {
  std::string text = "HTTP/1.1 " + std::to_string(status) + " ";
  text.append(phrase(status)).append("\r\nContent-Type: ").append(type);
  text.append("\r\nContent-Length: ").append(std::to_string(body.size()));
  if (status == 405) text.append("\r\nAllow: GET, HEAD");
  text.append("\r\nConnection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n");
  text.append(more).append("\r\n");
  if (!head) text.append(body);
  return text;
}

}  // namespace aflguard
