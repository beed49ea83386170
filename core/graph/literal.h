#pragma once

#include <string_view>

#include "core/graph/graph.h"

namespace jointer {

// Builds a graph from a short text, for tests and examples. One statement per line; `#` starts a
// comment.
//
//   kind joint                       joint (the default), forward, backward, train_step
//   device cpu                       the device of the tensors that follow; cuda:0 by default
//   group tp: 0 1                    a process group and its ranks
//   w: f32[64,64] = parameter        or buffer, input, tangent, saved, constant
//   x: f32[8,64] = input
//   t: f32[64,64] = aten.t(w)        the default overload unless another is named
//   mm: f32[8,64] = aten.mm(x, t)    {layers.0.wq MUST_SAVE}
//   s: (f32[4,64], f32[4,64]) = aten.split.Tensor(mm, 4)
//   a: f32[4,64] = s[0]              short for _operator.getitem(s, 0)
//   ar: f32[4,64] = _c10d_functional.all_reduce(a, 'sum', 'tp')
//   wt: f32[4,64] = _c10d_functional.wait_tensor(ar)
//   n: none = aten._assert_async(x)  a call that returns nothing
//   g: f32[8,64] = aten.mul.Tensor(mm, dy)  {backward}
//   return [wt, g, None]
//
// In braces: `backward`, `recomputed`, a policy tag, or a module path. Arguments: node names,
// numbers, True, False, None, 'strings', [lists], (tuples), dtypes (bf16), key=value. A size may be
// a symbol: f32[u0,8]. Operator schemas determine storages; tensors without strides are dense.
// Error (input): the text has a mistake, whose line the message gives, or describes an invalid
// graph.
Result<Graph> parse_literal(std::string_view text);

}  // namespace jointer
