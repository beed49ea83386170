#pragma once

// The status file of a rank: its stage and node, which stay readable after the rank is killed. The
// launcher creates the file and passes its path in the environment; the rank maps the file into
// memory and updates it, which costs a few stores per node.
//
// Four 64-bit integers in the machine's byte order:
//   0  0x4a4e5452 ("JNTR")
//   1  the stage, an index into kRunStages; -1 before the first stage
//   2  the node's position in the program order (Graph::order); -1 outside nodes, and while the
//      baseline runs
//   3  a count that increases with every update, as a sign of life

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace jointer {

inline constexpr const char* kStatusFileVariable = "JOINTER_STATUS_FILE";
inline constexpr std::int64_t kStatusMagic = 0x4a4e5452;

// The stages of a rank, in the order in which they run; RankProgress::stage is one of these names.
// If there is a baseline, it runs after "groups", with its own "inputs" and "verify".
inline constexpr std::string_view kRunStages[] = {
    "load", "groups", "compile", "inputs", "verify", "warm up", "measure", "profile", "finish"};

struct RankStatus {
  std::int64_t stage = -1, position = -1, count = 0;

  // Empty before the first stage.
  [[nodiscard]] std::string_view stage_name() const;
  friend bool operator==(const RankStatus&, const RankStatus&) = default;
};

// A memory-mapped file of four integers.
class StatusMapping {
 protected:
  struct Unmap {
    void operator()(std::int64_t* words) const;
  };
  using Words = std::unique_ptr<std::int64_t[], Unmap>;

  static Result<Words> map(const std::string& path, bool create);
  Words words_;
};

// Writes the status of this rank. Without a file, only remembers the position and the count, so
// callers need not check for a file.
class StatusWriter : public StatusMapping {
 public:
  // Error (run): the file cannot be opened or is not a status file.
  static Result<StatusWriter> open(const std::string& path);
  // Opens the file named by the environment variable kStatusFileVariable. If the variable is unset
  // or the file cannot be opened, returns a writer without a file.
  static StatusWriter from_environment();

  // Sets the stage, which is one of kRunStages, resets the position to -1, and counts as an update.
  void set_stage(std::string_view stage);
  // Cheap enough to call for every node.
  void set_position(std::int64_t position) {
    __atomic_store_n(&position_, position, __ATOMIC_RELAXED);
    if (words_ && publishes_positions_) store(2, position);
    beat();
  }
  // If `on` is false, positions are remembered but not written to the file: they are those of the
  // baseline. Either way, resets the position in the file to -1.
  void publish_positions(bool on) {
    publishes_positions_ = on;
    if (words_) store(2, -1);
  }
  // Shows that the rank is alive, without changing the stage or the position.
  void beat() {
    __atomic_store_n(&count_, count_ + 1, __ATOMIC_RELEASE);
    if (words_) store(3, count_);
  }
  // The last position and count, with or without a file. May be called from any thread.
  [[nodiscard]] std::int64_t position() const {
    return __atomic_load_n(&position_, __ATOMIC_RELAXED);
  }
  [[nodiscard]] std::int64_t count() const { return __atomic_load_n(&count_, __ATOMIC_ACQUIRE); }

 private:
  void store(std::size_t word, std::int64_t value) {
    __atomic_store_n(&words_[word], value, __ATOMIC_RELEASE);
  }
  std::int64_t position_ = -1, count_ = 0;
  bool publishes_positions_ = true;
};

// Reads the status of a rank; used by the launcher.
class StatusReader : public StatusMapping {
 public:
  // Creates the file, which must not exist. Error (run): the file cannot be created.
  static Result<StatusReader> make(const std::string& path);

  [[nodiscard]] RankStatus read() const;
};

}  // namespace jointer
