#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "tests/architecture/source_tree.h"

namespace aflguard::testing {

enum class WordKind {
  kName,    ///< part of an identifier or of a file's name
  kPhrase,  ///< in a comment or a string literal
  kCall,    ///< a function that tests do not call
};

/// One row of tests/architecture/words.txt.
struct RetiredWord {
  WordKind kind = WordKind::kName;
  std::string word;
  std::string instead;
  std::size_t most = 0;              ///< how often it may still occur
  std::vector<std::string> except;   ///< beginnings of paths where it may stand
  std::vector<std::string> allowed;  ///< longer names or phrases that contain it and are fine
};

[[nodiscard]] Result<std::vector<RetiredWord>> parse_words(const std::string& text);

/// The table of this checkout; fails the test that asks when it cannot be read.
[[nodiscard]] std::vector<RetiredWord> words_of_checkout(WordKind kind);

/// "core/x.h: GatewayVoice" for each place where the word still stands.
[[nodiscard]] std::vector<std::string> places_of(const RetiredWord& word,
                                                 const std::vector<SourceFile>& files);

/// What to say about a word that occurs in `places`: nothing while there are as many as the table says.
struct Judgement {
  std::string failure;
  std::string hint;
};
[[nodiscard]] Judgement judge(const RetiredWord& word, const std::vector<std::string>& places);

/// Fails the test when a word of this kind occurs more often in `files` than the table says; prints which
/// numbers of the table can be lowered.
void assert_words_retired(WordKind kind, const std::vector<SourceFile>& files);

}  // namespace aflguard::testing
