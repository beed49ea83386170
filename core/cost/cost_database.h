#pragma once

// Stores measured times of operators and collectives between runs in a local SQLite file. Its
// schema is resources/schema/cost_database.sql. Several programs may read and write one file at the
// same time: a writer locks the file for one short transaction, and others wait.
//
// Errors (input): the file cannot be opened for reading, is damaged, is not a cost database, or has
// another major version. Errors (run): the file cannot be opened for writing or written to, remains
// locked, or the system fails while it is used. Each of these errors is one line that names the
// file.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"
#include "core/base/text_hash.h"
#include "core/cost/work_key.h"

struct sqlite3;

namespace jointer {

// The measurements of one run. Each key occurs once.
struct CostSamples {
  std::string device;                                       // "NVIDIA H200"
  std::string device_type;                                  // "cpu", "cuda"
  std::vector<std::pair<std::string, std::int64_t>> nodes;  // append_work's text, ns
  std::vector<std::pair<CollectiveWork, std::int64_t>> collectives;
  std::string gpu;  // a GPU's properties (device_text in gpu_properties.h); empty if unknown

  [[nodiscard]] bool empty() const { return nodes.empty() && collectives.empty(); }
};

struct MeasuredDevice {
  std::string name, type;
  std::int64_t nodes = 0, collectives = 0;  // keys
  std::int64_t samples = 0;
  std::int64_t first_measured = 0, last_measured = 0;  // seconds since 1970, UTC
  std::string gpu;  // as CostSamples::gpu, from the last samples that had them
};

// All costs of one device, in memory: for each key, the median of its samples in nanoseconds.
struct DeviceCosts {
  MeasuredDevice device;
  std::unordered_map<std::string, std::int64_t, TextHash, std::equal_to<>> nodes;
  std::map<CollectiveWork, std::int64_t> collectives;
};

class CostDatabase {
 public:
  // The maximum number of samples stored per key; the latest are kept. Costs are their median, so
  // among several samples a single outlier has little effect, and a new driver takes effect after
  // at most five runs.
  static constexpr int kSamplesKept = 9;

  // $JOINTER_COSTS or, if that is not set, costs.sqlite in data_folder(): $XDG_DATA_HOME/jointer or
  // ~/.local/share/jointer.
  static std::string default_path();
  // Opens the file for reading. A missing file reads as an empty database.
  static Result<CostDatabase> open(const std::string& path);
  // Opens the file for writing. Creates the file and its folder if they do not exist, and extends
  // a file of an older minor version.
  static Result<CostDatabase> open_or_create(const std::string& path);

  [[nodiscard]] const std::string& path() const { return path_; }

  // Stores all samples in one transaction: either all are stored or none. The database must be open
  // for writing.
  Result<void> store(const CostSamples& samples);
  // The devices, most recently measured first.
  [[nodiscard]] Result<std::vector<MeasuredDevice>> devices() const;
  // Error (usage): nothing has been measured on `device`; the message lists the measured devices.
  [[nodiscard]] Result<DeviceCosts> load(std::string_view device) const;
  // Deletes the device and its costs. The database must be open for writing. Error (usage): same as
  // `load`.
  Result<void> forget(std::string_view device);

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  using Handle = std::unique_ptr<sqlite3, Close>;

  CostDatabase(std::string path, Handle handle)
      : path_(std::move(path)), handle_(std::move(handle)) {}

  static Result<Handle> connect(const std::string& path, bool write);
  [[nodiscard]] Result<int> version() const;
  Result<void> create_tables();
  Result<void> add_properties();
  [[nodiscard]] Result<MeasuredDevice> device(std::string_view name) const;

  std::string path_;
  Handle handle_;  // null if the file does not exist or has no tables
};

}  // namespace jointer
