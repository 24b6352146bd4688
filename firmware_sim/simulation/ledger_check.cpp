#include "firmware_sim/simulation/ledger_check.h"

#include <algorithm>

namespace aflguard::sim {
namespace {

using Judged = std::map<std::string, std::map<std::uint64_t, JudgedUpdate>>;

void note(LedgerReport& report, std::size_t& counter, const std::string& problem) {
  ++counter;
  if (report.problems.size() < kMaxProblems) report.problems.push_back(problem);
}

std::string update(const std::string& board, std::uint64_t sequence) {
  return board + "'s update " + std::to_string(sequence);
}

/// How often the model changed after one verdict and before the next.
std::uint64_t changes_between(const ModelChanges& changes, std::uint64_t after, std::uint64_t before) {
  return static_cast<std::uint64_t>(std::ranges::count_if(
      changes, [&](std::uint64_t iteration) { return iteration >= after && iteration < before; }));
}

Judged check_history(const std::vector<JudgedUpdate>& history, const ModelChanges& changes,
                     LedgerReport& report) {
  Judged judged;
  for (std::size_t i = 0; i < history.size(); ++i) {
    const JudgedUpdate& entry = history[i];
    if (i > 0 && entry.iteration != history[i - 1].iteration + 1) {
      note(report, report.gaps,
           "iteration " + std::to_string(entry.iteration) + " follows " +
               std::to_string(history[i - 1].iteration));
    }
    // Guards that collect updates accept some without a new version.
    const std::uint64_t changed =
        i > 0 ? changes_between(changes, history[i - 1].iteration, entry.iteration) : 0;
    const std::uint64_t before = i > 0 ? history[i - 1].version + changed : entry.version;
    if (entry.version != before && !(entry.accepted && entry.version == before + 1)) {
      note(report, report.gaps,
           "version " + std::to_string(entry.version) + " follows " + std::to_string(before));
    }
    if (!judged[entry.device].emplace(entry.sequence, entry).second) {
      note(report, report.repeated, update(entry.device, entry.sequence) + " was judged twice");
    }
  }
  return judged;
}

void check_board(const BoardAccount& board, const std::map<std::uint64_t, JudgedUpdate>& judged,
                 bool complete, std::size_t changes, LedgerReport& report) {
  report.judged += judged.size();
  report.acknowledged += board.log.verdicts.size();
  for (const auto& [sequence, known] : board.log.verdicts) {
    const auto found = judged.find(sequence);
    if (found == judged.end()) {
      // What was cleared away from the history cannot be looked up.
      if (!complete && (judged.empty() || sequence < judged.begin()->first)) continue;
      note(report, report.lost, update(board.name, sequence) + " was acknowledged and is not in the history");
      continue;
    }
    // The answer to a repeat names the model of that moment, which contains the update, too.
    if (known.accepted != found->second.accepted || known.version < found->second.version) {
      note(report, report.contradicted,
           update(board.name, sequence) + " was acknowledged differently from how it was judged");
    }
  }
  if (!board.honest) return;
  std::uint64_t expected = complete || judged.empty() ? 1 : judged.begin()->first;
  for (const auto& [sequence, entry] : judged) {
    if (sequence > expected && sequence - expected <= changes) {
      changes -= sequence - expected;
      expected = sequence;
    }
    if (sequence != expected)
      note(report, report.gaps,
           update(board.name, sequence) + " came where " + std::to_string(expected) + " was expected");
    expected = sequence + 1;
  }
}

}  // namespace

LedgerReport check_ledgers(const std::vector<JudgedUpdate>& history, const std::vector<BoardAccount>& boards,
                           const ModelChanges& changes) {
  LedgerReport report;
  Judged judged = check_history(history, changes, report);
  const bool complete = history.empty() || history.front().iteration == 1;
  for (const BoardAccount& board : boards)
    check_board(board, judged[board.name], complete, changes.size(), report);
  return report;
}

}  // namespace aflguard::sim
