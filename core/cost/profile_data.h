#pragma once

// Looks up times of operators and collectives in a torch.profiler trace, like torch 2.15's
// profile-guided estimation. Source: torch/_inductor/fx_passes/profile_guided_estimation.py
// (ProfileData).

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/graph/dtype.h"

namespace jointer {

class ProfileData {
 public:
  using Ranks = std::vector<std::int64_t>;               // ascending
  using Sizes = std::vector<std::vector<std::int64_t>>;  // shapes or strides, one per tensor
  struct Operator {
    std::string name;  // "aten::mm"
    Sizes shapes, strides;
    std::optional<DType> type;
    friend auto operator<=>(const Operator&, const Operator&) = default;
  };

  // Error (input): the file is not a profiler trace, is damaged, or has no kernel times with
  // shapes.
  static Result<ProfileData> read(std::string_view name, const PaddedBytes& json);

  // The time in milliseconds of an operator called with exactly these types, shapes and strides,
  // averaged over such calls; nullopt if there are none.
  [[nodiscard]] std::optional<double> operator_ms(const Operator& wanted) const;

  // The time in milliseconds of a collective; nullopt if no measurement applies. Uses the
  // measurement with the same number of elements if there is one; if not, interpolates between the
  // two nearest in log-log space, or scales the nearest. Above twice the largest measured size,
  // uses the highest bandwidth of the group's five largest messages instead. If a group has no
  // measurements and exactly one measured group has the same size and stride, uses the measurements
  // of that group. `call` and `type` are names: "all_gather_into_tensor", "BFloat16".
  [[nodiscard]] std::optional<double> collective_ms(std::string_view call, const Ranks& ranks,
                                                    std::int64_t elements,
                                                    std::string_view type) const;

  [[nodiscard]] std::size_t operator_count() const { return operators_.size(); }
  [[nodiscard]] std::size_t collective_count() const { return collectives_; }

 private:
  struct Mesh {  // groups along one dimension of a mesh are alike
    std::int64_t stride = 0, ranks = 0;
    friend auto operator<=>(const Mesh&, const Mesh&) = default;
  };
  struct Sample {
    std::int64_t elements = 0;
    double us = 0;
  };
  struct Bandwidth {
    std::int64_t bytes = 0;
    double gbps = 0;
  };
  friend class ProfileReader;

  static std::optional<Mesh> mesh_of(const Ranks& ranks, std::int64_t size);
  static std::string normalized(std::string_view call);
  static double peak(std::vector<Bandwidth> samples);
  static std::optional<double> interpolated(const std::vector<Sample>& samples,
                                            std::int64_t elements);

  void add_collective(std::string_view call, const Ranks& ranks, std::int64_t group_size,
                      std::int64_t elements, std::string_view type, double us);
  void finish();
  [[nodiscard]] double peak_bandwidth(const Ranks& ranks) const;

  struct Mean {
    double sum = 0;
    std::int64_t count = 0;
  };
  std::map<Operator, Mean> operators_;
  std::map<std::tuple<std::string, Ranks, std::string>, std::vector<Sample>> by_group_;
  std::map<std::tuple<std::string, Mesh, std::string>, std::vector<Sample>> by_mesh_;
  std::map<Mesh, std::set<Ranks>> groups_of_mesh_;
  std::map<Ranks, std::vector<Bandwidth>> group_bandwidths_;
  std::map<Mesh, std::vector<Bandwidth>> mesh_bandwidths_;
  std::map<Ranks, double> group_peak_;
  std::map<Mesh, double> mesh_peak_;
  std::size_t collectives_ = 0;
};

// The name of an element type in a trace's NCCL records: "BFloat16", "Float", "Half".
std::string_view nccl_type_name(DType type);

}  // namespace jointer
