#include "edge_client/upgrading/model_shelf.h"

#include <sstream>

#include "core/base/sha256.h"
#include "core/identity/signature.h"
#include "core/system/atomic_file.h"

namespace aflguard::edge {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t kMaxManifest = 1u << 28;
constexpr std::uint64_t kMaxChoice = 4096;
constexpr const char* kNone = "-";
constexpr std::size_t kNameBytes = 8;  ///< of a hash, in a folder's name

std::string or_none(const std::string& text) {
  return text.empty() ? kNone : text;
}

std::string none_or(const std::string& text) {
  return text == kNone ? std::string() : text;
}

}  // namespace

Result<ModelShelf> ModelShelf::open(fs::path folder, fs::path configured) {
  ModelShelf shelf(std::move(folder), std::move(configured));
  std::error_code error;
  fs::create_directories(shelf.folder_, error);
  if (error) return io_error(shelf.folder_.string() + ": cannot be made: " + error.message());
  const auto manifest = read_text_file(shelf.configured_ / "manifest.json", kMaxManifest);
  if (manifest.ok()) shelf.configured_hash_ = sha256_hex(*manifest);
  const auto text = read_text_file(shelf.choice_file(), kMaxChoice);
  if (!text.ok()) return shelf;
  Choice choice;
  std::string word;
  std::istringstream words(*text);
  words >> choice.current >> choice.number >> choice.former >> word >> choice.configured;
  choice.current = none_or(choice.current);
  choice.has_former = choice.former != "none";
  choice.former = none_or(choice.former);
  choice.configured = none_or(choice.configured);
  if (!words || word != "configured") {
    return corrupt(shelf.choice_file().string() +
                   ": is damaged; remove it to go on with the package of the " + "configuration");
  }
  if (choice.configured == shelf.configured_hash_) shelf.choice_ = choice;
  return shelf;
}

fs::path ModelShelf::current() const {
  return choice_.current.empty() ? configured_ : folder_ / choice_.current;
}

fs::path ModelShelf::place(const ModelHash& hash) const {
  return folder_ / to_hex(std::span(hash).first(kNameBytes));
}

fs::path ModelShelf::part_file(const std::string& package) const {
  return folder_ / (package + ".part");
}

Status ModelShelf::write(const Choice& choice) {
  const std::string former = choice.has_former ? or_none(choice.former) : "none";
  return write_file_atomically(choice_file(), or_none(choice.current) + " " + std::to_string(choice.number) +
                                                  " " + former + " configured " + or_none(choice.configured) +
                                                  "\n");
}

Status ModelShelf::choose(const ModelHash& hash, std::uint64_t number) {
  const std::string name = place(hash).filename().string();
  Choice choice{name, number, choice_.current, true, configured_hash_};
  TRY_STATUS(write(choice));
  choice_ = choice;
  return {};
}

void ModelShelf::settle() {
  if (!choice_.has_former) return;
  Choice settled = choice_;
  settled.has_former = false;
  settled.former.clear();
  if (!write(settled).ok()) return;  // next time
  choice_ = settled;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    const std::string name = entry.path().filename().string();
    const bool other = entry.is_directory(error) && name != choice_.current;
    if (other || entry.path().extension() == ".part") fs::remove_all(entry.path(), error);
  }
}

bool ModelShelf::go_back() {
  if (!choice_.has_former) return false;
  Choice back = choice_;
  back.current = choice_.former;
  back.number = 0;
  back.has_former = false;
  back.former.clear();
  if (!write(back).ok()) return false;
  choice_ = back;
  return true;
}

std::uint64_t ModelShelf::begin_trial(std::uint64_t order) {
  std::uint64_t known = 0;
  std::uint64_t count = 0;
  if (const auto text = read_text_file(trial_file(), kMaxChoice); text.ok()) {
    std::istringstream words(*text);
    words >> known >> count;
  }
  count = known == order ? count + 1 : 1;
  (void)write_file_atomically(trial_file(), std::to_string(order) + " " + std::to_string(count) + "\n");
  return count;
}

void ModelShelf::end_trial() {
  std::error_code error;
  fs::remove(trial_file(), error);
}

}  // namespace aflguard::edge
