// The operators that bucketing passes insert and that torch registers from Python. They copy
// several tensors into one for a collective, and split the result afterwards. Source:
// torch/_inductor/fx_passes/bucketing.py, torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py
// and _fsdp_param.py of torch 2.11 to 2.15. Schemas have the parameters of all versions, since
// arguments are matched by name (arguments.h).

#include <ATen/ops/_chunk_cat.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/split_with_sizes_copy.h>
#include <torch/library.h>

#include <array>

#include "app/runner/support/torch_version.h"
#include "core/base/torch_version.h"

namespace jointer::runner {
namespace {

// bucketing._pre_bucket_all_gather refers to dtypes by their index among those in `dir(torch)`,
// which include aliases. This is the order in torch 2.11 to 2.13. From 2.14 on, bcomplex32 comes
// first.
constexpr std::array kDtypes{
    at::kBFloat16,                     // bfloat16
    at::ScalarType::UInt1,             // bit
    at::ScalarType::Bits16,            // bits16
    at::ScalarType::Bits1x8,           // bits1x8
    at::ScalarType::Bits2x4,           // bits2x4
    at::ScalarType::Bits4x2,           // bits4x2
    at::ScalarType::Bits8,             // bits8
    at::kBool,                         // bool
    at::kComplexDouble,                // cdouble
    at::kComplexFloat,                 // cfloat
    at::kComplexHalf,                  // chalf
    at::kComplexDouble,                // complex128
    at::kComplexHalf,                  // complex32
    at::kComplexFloat,                 // complex64
    at::kDouble,                       // double
    at::kFloat,                        // float
    at::kHalf,                         // float16
    at::kFloat,                        // float32
    at::ScalarType::Float4_e2m1fn_x2,  // float4_e2m1fn_x2
    at::kDouble,                       // float64
    at::kFloat8_e4m3fn,                // float8_e4m3fn
    at::kFloat8_e4m3fnuz,              // float8_e4m3fnuz
    at::kFloat8_e5m2,                  // float8_e5m2
    at::kFloat8_e5m2fnuz,              // float8_e5m2fnuz
    at::kFloat8_e8m0fnu,               // float8_e8m0fnu
    at::kHalf,                         // half
    at::kInt,                          // int
    at::ScalarType::Int1,              // int1
    at::kShort,                        // int16
    at::ScalarType::Int2,              // int2
    at::ScalarType::Int3,              // int3
    at::kInt,                          // int32
    at::ScalarType::Int4,              // int4
    at::ScalarType::Int5,              // int5
    at::ScalarType::Int6,              // int6
    at::kLong,                         // int64
    at::ScalarType::Int7,              // int7
    at::kChar,                         // int8
    at::kLong,                         // long
    at::kQInt32,                       // qint32
    at::kQInt8,                        // qint8
    at::ScalarType::QUInt2x4,          // quint2x4
    at::ScalarType::QUInt4x2,          // quint4x2
    at::kQUInt8,                       // quint8
    at::kShort,                        // short
    at::ScalarType::UInt1,             // uint1
    at::kUInt16,                       // uint16
    at::ScalarType::UInt2,             // uint2
    at::ScalarType::UInt3,             // uint3
    at::kUInt32,                       // uint32
    at::ScalarType::UInt4,             // uint4
    at::ScalarType::UInt5,             // uint5
    at::ScalarType::UInt6,             // uint6
    at::kUInt64,                       // uint64
    at::ScalarType::UInt7,             // uint7
    at::kByte,                         // uint8
};

constexpr TorchVersion kFirstWithBComplex32{2, 14};

at::ScalarType dtype_number(std::int64_t number, c10::string_view captured_by) {
  const std::string_view torch(captured_by.data(), captured_by.size());
  auto version = parse_torch_version(torch);
  if (!version) version = parse_torch_version(torch_version());
  const std::int64_t place = number - (version >= kFirstWithBComplex32 ? 1 : 0);
  TORCH_CHECK_INDEX(place >= 0 && place < std::ssize(kDtypes), "there is no dtype number ", number,
                    " in torch ", torch.empty() ? torch_version() : torch);
  return kDtypes[static_cast<std::size_t>(place)];
}

// Concatenates the tensors rank by rank. A tensor whose padding was removed earlier (in versions
// with `unpadded_input_indices`) is padded with zeros if the group size does not divide its first
// dimension.
at::Tensor pre_bucket_reduce_scatter(
    const c10::List<at::Tensor>& inputs, std::int64_t group_size,
    const std::optional<c10::List<std::int64_t>>& unpadded_input_indices) {
  TORCH_CHECK(inputs.size() > 0, "the bucket is empty");
  if (!unpadded_input_indices) {
    std::vector<at::Tensor> flat;
    for (const at::Tensor& input : inputs)
      flat.push_back(input.reshape({group_size, input.numel() / group_size}));
    return at::cat(flat, 1).flatten();
  }
  std::vector<at::Tensor> filled;
  for (const at::Tensor& input : inputs)
    if (input.numel() != 0) filled.push_back(input);
  const at::Tensor first = inputs[0];
  if (filled.empty()) return at::empty({0}, first.options());
  return at::_chunk_cat(filled, 0, group_size).flatten();
}

at::Tensor pre_bucket_all_gather(const c10::List<at::Tensor>& inputs, std::int64_t group_size,
                                 at::ScalarType dtype, const c10::List<std::int64_t>& dtype_indices,
                                 std::int64_t rank,
                                 const std::optional<c10::List<std::int64_t>>& /*foreach_groups*/,
                                 const std::optional<std::string>& /*group_name*/,
                                 c10::string_view captured_by) {
  TORCH_CHECK(inputs.size() == dtype_indices.size(), "there are ", inputs.size(), " tensors and ",
              dtype_indices.size(), " dtypes");
  const auto bucket_item = static_cast<std::int64_t>(c10::elementSize(dtype));
  std::vector<at::ScalarType> dtypes;
  std::vector<std::int64_t> sizes;
  std::int64_t total = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    dtypes.push_back(dtype_number(dtype_indices[i], captured_by));
    const at::Tensor input = inputs[i];
    sizes.push_back(input.numel() * static_cast<std::int64_t>(c10::elementSize(dtypes.back())) /
                    bucket_item);
    total += sizes.back();
  }
  TORCH_CHECK(inputs.size() > 0, "the bucket is empty");
  const at::Tensor first = inputs[0];
  at::Tensor gathered = at::empty({total * group_size}, first.options().dtype(dtype));
  const std::vector<at::Tensor> parts =
      gathered.narrow(0, total * rank, total).split_with_sizes(sizes);
  std::vector<at::Tensor> to, from;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const at::Tensor input = inputs[i];
    to.push_back(parts[i].view(dtypes[i]));
    from.push_back(input.reshape({-1}));
  }
  at::_foreach_copy_(to, from);
  return gathered;
}

std::tuple<at::Tensor, at::Tensor> all_gather_copy_in(at::TensorList inputs,
                                                      const at::Tensor& output,
                                                      at::IntArrayRef sizes, std::int64_t numel,
                                                      std::int64_t rank) {
  at::Tensor input = output.narrow(0, numel * rank, numel);
  at::_foreach_copy_(input.split_with_sizes(sizes), inputs);
  return {input, output};
}

void split_with_sizes_copy(const at::Tensor& gathered, at::IntArrayRef sizes, std::int64_t dim,
                           at::TensorList out) {
  at::split_with_sizes_copy_out(out, gathered, sizes, dim);
}

void chunk_cat(at::TensorList tensors, std::int64_t dim, std::int64_t chunks, at::Tensor out) {
  at::_chunk_cat_out(out, tensors, dim, chunks);
}

void copy(at::Tensor tensor, const at::Tensor& data) {
  tensor.copy_(data);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(bucketing, m) {
  m.def(
      "_pre_bucket_reduce_scatter(Tensor[] rs_ins, SymInt group_size, SymInt[]? "
      "unpadded_input_indices=None) -> Tensor",
      torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd,
                      TORCH_FN(pre_bucket_reduce_scatter)));
  m.def(
      "_pre_bucket_all_gather(Tensor[] ag_ins, SymInt group_size, ScalarType dtype, SymInt[] "
      "out_dtype_ints, SymInt rank, SymInt[]? foreach_group_indices=None, str? group_name=None, "
      "str captured_by=\"\") -> Tensor",
      torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd,
                      TORCH_FN(pre_bucket_all_gather)));
}

TORCH_LIBRARY_FRAGMENT(fsdp, m) {
  constexpr auto kAny = c10::DispatchKey::CompositeExplicitAutograd;
  m.def(
      "all_gather_copy_in(Tensor[] all_gather_inputs, Tensor all_gather_output, SymInt[] "
      "inp_split_sizes, SymInt all_gather_input_numel, SymInt rank) -> (Tensor, Tensor)",
      torch::dispatch(kAny, TORCH_FN(all_gather_copy_in)));
  m.def(
      "split_with_sizes_copy(Tensor all_gather_output, SymInt[] all_gather_input_split_sizes, int "
      "dim=0, *, Tensor(a!)[] out) -> ()",
      torch::dispatch(kAny, TORCH_FN(split_with_sizes_copy)));
  m.def("chunk_cat(Tensor[] tensors, int dim, int num_chunks, *, Tensor(a!) out) -> ()",
        torch::dispatch(kAny, TORCH_FN(chunk_cat)));
  m.def("copy_(Tensor(a!) tensor, Tensor data) -> ()", torch::dispatch(kAny, TORCH_FN(copy)));
}

}  // namespace jointer::runner
