#pragma once

#include <atomic>
#include <cstddef>
#include <new>

namespace aflguard::kernels {

/// The threads that share an operator's work.
class Workers {
 public:
  virtual ~Workers() = default;
  [[nodiscard]] virtual std::size_t count() const = 0;  ///< at least 1
  /// Calls work(data, worker) once for every worker below count(), in any order, and returns when all are
  /// done.
  virtual void run(void (*work)(void* data, std::size_t worker), void* data) = 0;
};

/// The calling thread alone.
class OneWorker final : public Workers {
 public:
  [[nodiscard]] std::size_t count() const override { return 1; }
  void run(void (*work)(void* data, std::size_t worker), void* data) override { work(data, 0); }
};

/// Calls body(item, worker) once for every item below `items`; each worker takes the next one when it has
/// finished one. A result must not depend on which worker made it.
template <typename Body>
void for_each_item(Workers& workers, std::size_t items, Body&& body) {
  if (workers.count() == 1 || items < 2) {
    for (std::size_t item = 0; item < items; ++item) body(item, std::size_t{0});
    return;
  }
  struct Shared {
    Body& body;
    std::size_t items;
    std::atomic<std::size_t> next{0};
  } shared{body, items};
  workers.run(
      [](void* data, std::size_t worker) {
        Shared& all = *static_cast<Shared*>(data);
        for (std::size_t item = all.next++; item < all.items; item = all.next++) all.body(item, worker);
      },
      &shared);
}

/// Memory that operators work in, one after the other: as much as the largest of them needs.
class Scratch final {
 public:
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { release(); }

  /// Room for `count` floats, 64-byte aligned, contents undefined. Ends what the previous call gave.
  [[nodiscard]] float* floats(std::size_t count) {
    if (count > size_) {
      release();
      memory_ = static_cast<float*>(::operator new(count * sizeof(float), kAlignment));
      size_ = count;
    }
    return memory_;
  }

 private:
  static constexpr std::align_val_t kAlignment{64};
  void release() {
    if (memory_ != nullptr) ::operator delete(memory_, kAlignment);
    memory_ = nullptr;
    size_ = 0;
  }

  float* memory_ = nullptr;
  std::size_t size_ = 0;
};

/// Where an operator runs. Used by one operator at a time.
struct Workshop {
  Workers& workers;
  Scratch& scratch;
};

/// Cuts one piece of scratch memory into parts that begin at cache lines.
class ScratchCutter final {
 public:
  /// Offset of a part of `floats` floats.
  std::size_t add(std::size_t floats) {
    const std::size_t at = total_;
    total_ += (floats + 15) / 16 * 16;
    return at;
  }
  [[nodiscard]] std::size_t total() const { return total_; }

 private:
  std::size_t total_ = 0;
};

/// Samples whose intermediate results are kept at once, so that workers can first share the samples and then
/// the sums over them: one for a lone worker, otherwise at least one each and at most kGroupFloats.
[[nodiscard]] constexpr std::size_t group_size(std::size_t workers, std::size_t samples,
                                               std::size_t sample_floats) {
  constexpr std::size_t kGroupFloats = std::size_t{1} << 18;
  if (workers == 1) return 1;
  const std::size_t fitting = kGroupFloats / (sample_floats + 1);
  const std::size_t wanted = fitting < workers ? workers : fitting;
  return wanted < samples ? wanted : samples;
}

}  // namespace aflguard::kernels
