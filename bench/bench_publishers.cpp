#include "bench/bench_publishers.h"

namespace aflguard::bench {

Result<std::istringstream> expect_answer(LineProcess& process, const std::string& word) {
  TRY(const std::string line, process.receive());
  std::istringstream words(line);
  std::string first;
  words >> first;
  if (first != word) return unavailable("a client of the benchmark said: " + line);
  return words;
}

std::vector<double> read_seconds(std::istringstream& words) {
  std::vector<double> seconds;
  for (double nanoseconds = 0; words >> nanoseconds;) seconds.push_back(nanoseconds * 1e-9);
  return seconds;
}

Result<Publishers> Publishers::start(const BenchFleet& fleet, std::size_t count,
                                     const std::vector<std::string>& prefix) {
  Publishers publishers;
  for (std::size_t i = 1; i <= count; ++i) {
    TRY(LineProcess process, fleet.start_publisher(i, prefix));
    publishers.processes_.push_back(std::move(process));
  }
  return publishers;
}

Result<std::size_t> Publishers::prepare(std::size_t updates) {
  for (LineProcess& process : processes_) TRY_STATUS(process.send("prepare " + std::to_string(updates)));
  std::size_t bytes = 0;
  for (LineProcess& process : processes_) {
    TRY(auto words, expect_answer(process, "ready"));
    words >> bytes;
  }
  return bytes;
}

Status Publishers::go(const std::string& how) {
  for (LineProcess& process : processes_) TRY_STATUS(process.send("run " + how));
  return {};
}

Result<std::vector<PublisherAnswer>> Publishers::answers() {
  std::vector<PublisherAnswer> answers;
  for (LineProcess& process : processes_) {
    TRY(auto words, expect_answer(process, "done"));
    PublisherAnswer answer;
    words >> answer.accepted >> answer.models >> answer.begin;
    answer.begin *= 1e-9;
    answer.done_at = read_seconds(words);
    if (answer.done_at.empty()) return internal_error("a client of the benchmark sent nothing");
    answers.push_back(std::move(answer));
  }
  return answers;
}

double Publishers::cpu_seconds() const {
  double sum = 0;
  for (const LineProcess& process : processes_) sum += bench::cpu_seconds(process.pid());
  return sum;
}

}  // namespace aflguard::bench
