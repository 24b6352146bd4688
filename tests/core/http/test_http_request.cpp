#include "core/http/http_request.h"
#include "tests/support/test.h"

using namespace aflguard;

namespace {

int status_of(const std::string& head) {
  return parse_http_request(head).status;
}

std::string get(const std::string& target, const std::string& headers = "Host: x\r\n") {
  return "GET " + target + " HTTP/1.1\r\n" + headers + "\r\n";
}

}  // namespace

TEST("A request's path is read, without its query") {
  const HttpRequest plain = parse_http_request(get("/metrics"));
  TEST_ASSERT_EQUAL_INT(200, plain.status);
  TEST_ASSERT_EQUAL_STRING("/metrics", plain.path.c_str());
  TEST_ASSERT_FALSE(plain.head);
  TEST_ASSERT_EQUAL_STRING("/healthz", parse_http_request(get("/healthz?x=1&y=/../")).path.c_str());
  TEST_ASSERT_TRUE(parse_http_request("HEAD / HTTP/1.0\r\n\r\n").head);
}

TEST("What scrapers send is taken") {
  TEST_ASSERT_EQUAL_INT(
      200, status_of(get(
               "/metrics",
               "Host: 127.0.0.1:9464\r\nUser-Agent: Prometheus/2.42.0\r\nAccept: "
               "application/openmetrics-text;version=1.0.0;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
               "\r\nAccept-Encoding: gzip\r\nX-Prometheus-Scrape-Timeout-Seconds: 10\r\n")));
  TEST_ASSERT_EQUAL_INT(200, status_of(get("/", "Host:x\r\nContent-Length: 0\r\n")));
}

TEST("Everything else is refused by what is wrong with it") {
  const std::pair<int, std::string> cases[] = {
      {400, ""},
      {400, "\r\n\r\n"},
      {400, "GET\r\n\r\n"},
      {400, "GET /\r\n\r\n"},
      {400, "GET / HTTP/1.1"},
      {400, "GET / HTTP/1.1\n\n"},
      {400, "GET / HTTP/1.1\r\n\r\n"},  // without a host
      {400, get("/", "Host: a\r\nHost: b\r\n")},
      {400, get("metrics")},
      {400, get("http://x/metrics")},
      {400, get("/a b")},
      {400, get("/a\x01")},
      {400, get("/\xc3\xa4")},
      {400, get("/", "Host: x\r\nno colon\r\n")},
      {400, get("/", "Host: x\r\n folded: y\r\n")},
      {400, get("/", "Host: x\r\nA: b\x01\r\n")},
      {400, get("/", "Host: x\r\n: y\r\n")},
      {400, get("/", "Host: x\r\nA B: c\r\n")},
      {400, get("/", "Host: x\r\nA: b\nC: d\r\n")},
      {400, "GET  / HTTP/1.1\r\nHost: x\r\n\r\n"},
      {400, "G:T / HTTP/1.1\r\nHost: x\r\n\r\n"},
      {400, std::string("GET /\0 HTTP/1.1\r\nHost: x\r\n\r\n", 28)},
      {405, "POST / HTTP/1.1\r\nHost: x\r\n\r\n"},
      {405, "DELETE / HTTP/1.1\r\nHost: x\r\n\r\n"},
      {413, get("/", "Host: x\r\nContent-Length: 5\r\n")},
      {413, get("/", "Host: x\r\nTransfer-Encoding: chunked\r\n")},
      {431, get("/" + std::string(512, 'x'))},
      {505, "GET / HTTP/2.0\r\nHost: x\r\n\r\n"},
      {505, "GET / HTTP/1.1 HTTP/1.1\r\nHost: x\r\n\r\n"},
  };
  for (const auto& [status, head] : cases) {
    TEST_ASSERT_EQUAL_INT_MESSAGE(status, status_of(head), head.c_str());
    TEST_ASSERT_TRUE(parse_http_request(head).path.empty());
  }
  std::string many = "Host: x\r\n";
  for (int i = 0; i < 64; ++i) many += "A: b\r\n";
  TEST_ASSERT_EQUAL_INT(431, status_of(get("/", many)));
}

TEST("A head ends behind its empty line") {
  TEST_ASSERT_EQUAL_size_t(std::string::npos, http_head_end("GET / HTTP/1.1\r\n"));
  TEST_ASSERT_EQUAL_size_t(18, http_head_end("GET / HTTP/1.1\r\n\r\nrest"));
}

TEST("An answer says its length and that the connection ends, and has no body for HEAD") {
  const std::string full = http_answer(200, "text/plain", "hello\n", false);
  ASSERT_CONTAINS(full, "HTTP/1.1 200 OK\r\n");
  ASSERT_CONTAINS(full, "\r\nContent-Length: 6\r\n");
  ASSERT_CONTAINS(full, "\r\nConnection: close\r\n");
  TEST_ASSERT_TRUE(full.ends_with("\r\n\r\nhello\n"));
  const std::string head = http_answer(405, "text/plain", "hello\n", true);
  ASSERT_CONTAINS(head, "\r\nAllow: GET, HEAD\r\n");
  TEST_ASSERT_TRUE(head.ends_with("\r\n\r\n"));
  ASSERT_CONTAINS(http_answer(200, "text/html", "x", false, "X-Frame-Options: DENY\r\n"),
                  "\r\nX-Frame-Options: DENY\r\n\r\nx");
}

TEST("A browser's headers are read by their names") {
  const HttpRequest request = parse_http_request(get(
      "/mqtt?x=1", "Host: 127.0.0.1:8090\r\nOrigin:http://127.0.0.1:8090 \r\nX-Empty:\r\nA: b\r\na: c\r\n"));
  TEST_ASSERT_EQUAL_INT(200, request.status);
  TEST_ASSERT_EQUAL_STRING("127.0.0.1:8090", request.header("host").c_str());
  TEST_ASSERT_EQUAL_STRING("http://127.0.0.1:8090", request.header("origin").c_str());
  TEST_ASSERT_EQUAL_STRING("", request.header("x-empty").c_str());
  TEST_ASSERT_EQUAL_STRING("", request.header("cookie").c_str());
  TEST_ASSERT_EQUAL_STRING("", request.header("a").c_str());  // it came twice
}
