// prims.* operators that Inductor's decompositions leave in a graph. torch registers them from
// Python. Here they call ATen. Results are bitwise equal to torch's, except those of random
// operators (`seeded`). Source: torch/_prims/__init__.py and torch/_inductor/inductor_prims.py of
// torch 2.11.

#include <ATen/ATen.h>
#include <torch/library.h>

namespace jointer::runner {
namespace {

at::Tensor convert_element_type(const at::Tensor& a, at::ScalarType dtype) {
  // This preserves the strides of a dense tensor, and always returns a new tensor.
  return a.to(dtype, /*non_blocking=*/false, /*copy=*/true, c10::MemoryFormat::Preserve);
}

at::Tensor iota(std::int64_t length, std::int64_t start, std::int64_t step, at::ScalarType dtype,
                at::Device device, bool /*requires_grad*/) {
  return at::arange(start, start + length * step, step,
                    at::TensorOptions().dtype(dtype).device(device));
}

at::Tensor device_put(const at::Tensor& a, at::Device device, bool non_blocking) {
  return a.to(device, a.scalar_type(), non_blocking);
}

at::Tensor view_of(const at::Tensor& a) {
  return a.alias();
}

at::Tensor broadcast_in_dim(const at::Tensor& a, at::IntArrayRef shape,
                            at::IntArrayRef dimensions) {
  std::vector<std::int64_t> sizes(shape.size(), 1), strides(shape.size(), 0);
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const auto to = static_cast<std::size_t>(dimensions[i]);
    sizes[to] = a.size(static_cast<std::int64_t>(i));
    strides[to] = a.stride(static_cast<std::int64_t>(i));
  }
  return a.as_strided(sizes, strides).expand(shape);
}

at::Tensor empty_strided(at::IntArrayRef shape, at::IntArrayRef strides, at::ScalarType dtype,
                         at::Device device, bool /*requires_grad*/) {
  return at::empty_strided(shape, strides, at::TensorOptions().dtype(dtype).device(device));
}

at::Tensor fma(const at::Tensor& a, const at::Tensor& b, const at::Tensor& c) {
  return at::addcmul(c, a, b);
}

at::Tensor view_of_dtype(const at::Tensor& a, at::ScalarType dtype) {
  return a.view(dtype);
}

at::Tensor squeeze(const at::Tensor& a, at::IntArrayRef dims) {
  return dims.empty() ? a.alias() : a.squeeze(dims);
}

at::Tensor transpose(const at::Tensor& a, at::IntArrayRef permutation) {
  return a.permute(permutation);
}

at::Tensor split_dim(const at::Tensor& a, std::int64_t dim, std::int64_t outer) {
  TORCH_CHECK(outer > 0, "split_dim: expected a positive outer length, got ", outer);
  return a.unflatten(dim, {outer, a.size(dim) / outer});
}

at::Tensor collapse_view(const at::Tensor& a, std::int64_t start, std::int64_t end) {
  std::vector<std::int64_t> sizes(a.sizes().begin(), a.sizes().begin() + start);
  std::int64_t collapsed = 1;
  for (std::int64_t d = start; d <= end; ++d) collapsed *= a.size(d);
  sizes.push_back(collapsed);
  sizes.insert(sizes.end(), a.sizes().begin() + end + 1, a.sizes().end());
  return a.view(sizes);
}

// Unlike in ATen, nothing is reduced if the list of dimensions is empty.
template <at::Tensor (*reduce)(const at::Tensor&, at::IntArrayRef)>
at::Tensor reduction(const at::Tensor& a, at::OptionalIntArrayRef dims,
                     std::optional<at::ScalarType> dtype) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(a.dim()));
  for (std::size_t d = 0; d < all.size(); ++d) all[d] = static_cast<std::int64_t>(d);
  at::Tensor reduced =
      dims && dims->empty() ? a.clone() : reduce(a, dims ? *dims : at::IntArrayRef(all));
  return dtype ? reduced.to(*dtype) : reduced;
}
at::Tensor sum_of(const at::Tensor& a, at::IntArrayRef dims) {
  return a.sum(dims, false, a.scalar_type());
}
at::Tensor amax_of(const at::Tensor& a, at::IntArrayRef dims) {
  return a.amax(dims);
}
at::Tensor amin_of(const at::Tensor& a, at::IntArrayRef dims) {
  return a.amin(dims);
}

at::Tensor where(const at::Tensor& condition, const at::Tensor& a, const at::Tensor& b) {
  return at::where(condition, a, b);
}

at::Tensor copy_strided(const at::Tensor& a, at::IntArrayRef strides) {
  at::Tensor copied = at::empty_strided(a.sizes(), strides, a.options());
  return copied.copy_(a);
}

at::Tensor force_stride_order(const at::Tensor& a, at::IntArrayRef strides) {
  return a.strides() == strides ? a.alias() : copy_strided(a, strides);
}

at::Tensor seeds(std::int64_t count, at::Device device) {
  return at::randint(std::numeric_limits<std::int64_t>::min(),
                     std::numeric_limits<std::int64_t>::max(), {count},
                     at::TensorOptions().dtype(at::kLong).device(device));
}

at::Tensor lookup_seed(const at::Tensor& all, std::int64_t index) {
  return all[index].clone();
}

// A generator with the given seed. Inductor's kernels use a different generator, so the values
// differ, but their distribution is the same.
at::Generator seeded(const at::Tensor& seed) {
  at::Generator generator = at::globalContext().defaultGenerator(seed.device()).clone();
  generator.set_current_seed(static_cast<std::uint64_t>(seed.item<std::int64_t>()));
  return generator;
}
at::Tensor random(at::IntArrayRef size, const at::Tensor& seed, c10::string_view mode) {
  const auto options = at::TensorOptions().dtype(at::kFloat).device(seed.device());
  return mode == "randn" ? at::randn(size, seeded(seed), options)
                         : at::rand(size, seeded(seed), options);
}
at::Tensor random_integers(std::int64_t low, std::int64_t high, at::IntArrayRef size,
                           const at::Tensor& seed) {
  return at::randint(low, high, size, seeded(seed),
                     at::TensorOptions().dtype(at::kLong).device(seed.device()));
}

at::Tensor& index_put(at::Tensor& self, const c10::List<std::optional<at::Tensor>>& indices,
                      const at::Tensor& values, bool accumulate) {
  return self.index_put_(indices, values, accumulate);
}

std::tuple<at::Tensor, at::Tensor> prepare_softmax(const at::Tensor& a, std::int64_t dim) {
  const at::Tensor max = a.amax({dim}, true);
  return {max, (a - max).exp().sum({dim}, true)};
}

template <at::Tensor (*function)(const at::Tensor&)>
at::Tensor unary(const at::Tensor& a) {
  return function(a);
}
at::Tensor add(const at::Tensor& a, const at::Tensor& b) {
  return at::add(a, b);
}
at::Tensor sub(const at::Tensor& a, const at::Tensor& b) {
  return at::sub(a, b);
}
at::Tensor mul(const at::Tensor& a, const at::Tensor& b) {
  return at::mul(a, b);
}
at::Tensor div(const at::Tensor& a, const at::Tensor& b) {
  return at::div(a, b);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(prims, m) {
  const auto define = [&m](const char* schema, auto kernel) {
    m.def(schema, torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd, kernel));
  };
  define("convert_element_type(Tensor a, ScalarType dtype) -> Tensor",
         TORCH_FN(convert_element_type));
  define(
      "iota(SymInt length, *, SymInt start, SymInt step, ScalarType dtype, Device device, bool "
      "requires_grad) -> Tensor",
      TORCH_FN(iota));
  define("device_put(Tensor a, Device device, bool non_blocking=False) -> Tensor",
         TORCH_FN(device_put));
  define("view_of(Tensor(a) a) -> Tensor(a)", TORCH_FN(view_of));
  define("broadcast_in_dim(Tensor(a) a, SymInt[] shape, int[] broadcast_dimensions) -> Tensor(a)",
         TORCH_FN(broadcast_in_dim));
  define(
      "empty_strided(SymInt[] shape, SymInt[] strides, *, ScalarType dtype, Device device, bool "
      "requires_grad) -> Tensor",
      TORCH_FN(empty_strided));
  define("fma(Tensor a, Tensor b, Tensor c) -> Tensor", TORCH_FN(fma));
  define("view_of_dtype(Tensor(a) a, ScalarType dtype) -> Tensor(a)", TORCH_FN(view_of_dtype));
  define("squeeze(Tensor(a) a, int[] dimensions) -> Tensor(a)", TORCH_FN(squeeze));
  define("transpose(Tensor(a) a, int[] permutation) -> Tensor(a)", TORCH_FN(transpose));
  define("split_dim(Tensor(a) a, int dim, SymInt outer_length) -> Tensor(a)", TORCH_FN(split_dim));
  define("collapse_view(Tensor(a) a, int start, int end) -> Tensor(a)", TORCH_FN(collapse_view));
  define("sum(Tensor inp, int[]? dims, *, ScalarType? output_dtype=None) -> Tensor",
         TORCH_FN(reduction<sum_of>));
  define("amax(Tensor inp, int[]? dims, *, ScalarType? output_dtype=None) -> Tensor",
         TORCH_FN(reduction<amax_of>));
  define("amin(Tensor inp, int[]? dims, *, ScalarType? output_dtype=None) -> Tensor",
         TORCH_FN(reduction<amin_of>));
  define("where(Tensor pred, Tensor a, Tensor b) -> Tensor", TORCH_FN(where));
  define("copy_strided(Tensor a, SymInt[] stride) -> Tensor", TORCH_FN(copy_strided));
  define("inductor_force_stride_order(Tensor input, SymInt[] stride) -> Tensor",
         TORCH_FN(force_stride_order));
  define("inductor_seeds(int count, Device device) -> Tensor", TORCH_FN(seeds));
  define("inductor_lookup_seed(Tensor seeds, int index) -> Tensor", TORCH_FN(lookup_seed));
  define("inductor_random(SymInt[] size, Tensor seed, str mode) -> Tensor", TORCH_FN(random));
  define("inductor_randint(SymInt low, SymInt high, SymInt[] size, Tensor seed) -> Tensor",
         TORCH_FN(random_integers));
  define(
      "_unsafe_index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool "
      "accumulate=False) "
      "-> Tensor(a!)",
      TORCH_FN(index_put));
  define("prepare_softmax_online(Tensor a, int dim) -> (Tensor, Tensor)",
         TORCH_FN(prepare_softmax));
  define("exp(Tensor self) -> Tensor", TORCH_FN(unary<at::exp>));
  define("log(Tensor self) -> Tensor", TORCH_FN(unary<at::log>));
  define("neg(Tensor self) -> Tensor", TORCH_FN(unary<at::neg>));
  define("rsqrt(Tensor self) -> Tensor", TORCH_FN(unary<at::rsqrt>));
  define("sqrt(Tensor self) -> Tensor", TORCH_FN(unary<at::sqrt>));
  define("reciprocal(Tensor self) -> Tensor", TORCH_FN(unary<at::reciprocal>));
  define("sin(Tensor self) -> Tensor", TORCH_FN(unary<at::sin>));
  define("cos(Tensor self) -> Tensor", TORCH_FN(unary<at::cos>));
  define("tanh(Tensor self) -> Tensor", TORCH_FN(unary<at::tanh>));
  define("add(Tensor self, Tensor other) -> Tensor", TORCH_FN(add));
  define("sub(Tensor self, Tensor other) -> Tensor", TORCH_FN(sub));
  define("mul(Tensor self, Tensor other) -> Tensor", TORCH_FN(mul));
  define("div(Tensor self, Tensor other) -> Tensor", TORCH_FN(div));
}

}  // namespace jointer::runner
