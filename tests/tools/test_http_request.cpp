#include "tests/support/test.h"
#include "tools/aflguard/http_request.h"

using namespace aflguard::tools;

TEST("A browser's request is read") {
  const auto request = parse_request(
      "GET /mqtt?x=1 HTTP/1.1\r\nHost: 127.0.0.1:8090\r\nOrigin:http://127.0.0.1:8090 \r\nX-Empty:\r\n\r\n");
  TEST_ASSERT_TRUE(request.has_value());
  TEST_ASSERT_EQUAL_STRING("GET", request->method.c_str());
  TEST_ASSERT_EQUAL_STRING("/mqtt?x=1", request->target.c_str());
  TEST_ASSERT_EQUAL_STRING("127.0.0.1:8090", request->header("host").c_str());
  TEST_ASSERT_EQUAL_STRING("http://127.0.0.1:8090", request->header("origin").c_str());
  TEST_ASSERT_EQUAL_STRING("", request->header("x-empty").c_str());
  TEST_ASSERT_EQUAL_STRING("", request->header("cookie").c_str());
}

TEST("What is no request is refused") {
  for (const char* head :
       {"", "\r\n\r\n", "GET\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.1\r\n",
        "GET  / HTTP/1.1\r\n\r\n", "GET http://x/ HTTP/1.1\r\n\r\n", "G:T / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nno colon\r\n\r\n", "GET / HTTP/1.1\r\n: nameless\r\n\r\n",
        "GET / HTTP/1.1\r\nA B: c\r\n\r\n", "GET / HTTP/1.1\r\nA: b\nC: d\r\n\r\n",
        "GET / HTTP/1.1\r\nA: \x01\r\n\r\n", "GET / HTTP/1.1\r\n folded: x\r\n\r\n"}) {
    TEST_ASSERT_FALSE_MESSAGE(parse_request(head).has_value(), head);
  }
  TEST_ASSERT_FALSE(parse_request("GET / HTTP/1.1\r\nA: " + std::string(kMaxRequestBytes, 'x') + "\r\n\r\n"));
}

TEST("A header that comes twice counts as none") {
  const auto request = parse_request("GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n");
  TEST_ASSERT_TRUE(request.has_value());
  TEST_ASSERT_EQUAL_STRING("", request->header("host").c_str());
}

TEST("Only this machine's own names at this very port are its own") {
  TEST_ASSERT_TRUE(is_own_host("127.0.0.1:80", 80));
  TEST_ASSERT_TRUE(is_own_host("localhost:80", 80));
  for (const char* host : {"", "127.0.0.1", "localhost", "localhost:81", "evil.example:80", "127.0.0.1:8080",
                           "xlocalhost:80", "localhost:80:80", "127.0.0.1.evil.example:80"}) {
    TEST_ASSERT_FALSE_MESSAGE(is_own_host(host, 80), host);
  }
}
