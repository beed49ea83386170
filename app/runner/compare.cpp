#include "app/runner/compare.h"

#include <ATen/ATen.h>
#include <fmt/core.h>

#include <cstring>
#include <limits>

#include "app/runner/memory/counting_allocator.h"

namespace jointer::runner {
namespace {

at::Tensor on_host(const at::Tensor& tensor) {
  return tensor.resolve_conj().resolve_neg().to(at::kCPU).contiguous();
}

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  return a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes() &&
         std::memcmp(a.const_data_ptr(), b.const_data_ptr(), a.nbytes()) == 0;
}

// The elements as float64 numbers, two per element if the tensor is complex.
at::Tensor as_real(const at::Tensor& tensor) {
  return (tensor.is_complex() ? at::view_as_real(tensor) : tensor).to(at::kDouble).flatten();
}

struct Difference {
  double absolute = 0, relative = 0;
  std::int64_t element = 0;
};

// A NaN equals only a NaN. Tensors of different shapes or types differ infinitely.
Difference largest_difference(const at::Tensor& a, const at::Tensor& b) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (a.sizes() != b.sizes() || a.scalar_type() != b.scalar_type())
    return {kInfinite, kInfinite, 0};
  if (a.numel() == 0) return {};
  const at::Tensor x = as_real(a), y = as_real(b);
  at::Tensor difference = (x - y).abs();
  difference.masked_fill_(x == y, 0);
  difference.masked_fill_(x.isnan().logical_and(y.isnan()), 0);
  difference.masked_fill_(difference.isnan(), kInfinite);
  const std::int64_t at = difference.argmax().item<std::int64_t>();
  const double absolute = difference[at].item<double>();
  const double magnitude = at::nan_to_num(y, 0.0, 0.0, 0.0).abs().max().item<double>();
  const double relative = absolute == 0 ? 0 : magnitude == 0 ? kInfinite : absolute / magnitude;
  return {absolute, relative, a.is_complex() ? at / 2 : at};
}

}  // namespace

std::vector<at::Tensor> keep(std::span<const at::Tensor> outputs) {
  const Uncounted uncounted;
  std::vector<at::Tensor> kept;
  for (const at::Tensor& output : outputs)
    kept.push_back(output.defined() ? on_host(output).clone() : output);
  return kept;
}

double spread(std::span<const at::Tensor> first, std::span<const at::Tensor> second) {
  const Uncounted uncounted;
  double largest = 0;
  for (std::size_t i = 0; i < std::min(first.size(), second.size()); ++i)
    if (first[i].defined() && second[i].defined() && !same_bits(first[i], second[i]))
      largest = std::max(largest, largest_difference(first[i], second[i]).relative);
  return largest;
}

RankVerified compare_outputs(std::string against, std::span<const at::Tensor> outputs,
                             std::span<const at::Tensor> expected,
                             std::span<const std::string> names, double bound) {
  const Uncounted uncounted;
  RankVerified verified{
      .against = std::move(against), .bitwise = true, .equal = true, .bound = bound};
  double worst = -1;
  const auto differs = [&](std::size_t i, const Difference& difference) {
    verified.bitwise = false;
    verified.equal = verified.equal && difference.relative <= bound;
    if (difference.relative <= worst) return;
    worst = difference.relative;
    verified.max_abs_diff = difference.absolute;
    verified.max_rel_diff = difference.relative;
    verified.element = difference.element;
    verified.output = i < names.size() ? names[i] : fmt::format("{}", i);
  };
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < std::max(outputs.size(), expected.size()); ++i) {
    const at::Tensor a = i < outputs.size() ? outputs[i] : at::Tensor();
    const at::Tensor b = i < expected.size() ? expected[i] : at::Tensor();
    if (!a.defined() && !b.defined()) continue;
    ++verified.compared;
    if (!a.defined() || !b.defined()) {
      differs(i, {kInfinite, kInfinite, 0});
      continue;
    }
    const at::Tensor mine = on_host(a), theirs = on_host(b);
    if (!same_bits(mine, theirs)) differs(i, largest_difference(mine, theirs));
  }
  return verified;
}

}  // namespace jointer::runner
