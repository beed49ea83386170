#include "tests/support/kernel_reference.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <numeric>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/index.h"
#include "core/graph/dtype.h"

namespace jointer::test {

using kernels::Access;
using kernels::Buffer;
using kernels::BufferId;
using kernels::Index;
using kernels::IndexTerm;
using kernels::Ir;
using kernels::Op;
using kernels::OpId;
using kernels::User;
using nlohmann::json;

namespace {

// A recursive-descent parser of sums of products, divisions and ModularIndexing.
class IndexParser {
 public:
  explicit IndexParser(std::string_view text) : rest_(text) {}
  Index parse() {
    Index index = sum();
    std::sort(index.terms.begin(), index.terms.end());
    return index;
  }

 private:
  bool take(std::string_view token) {
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  static void scale(Index& index, std::int64_t factor) {
    index.offset *= factor;
    for (IndexTerm& term : index.terms) term.coefficient *= factor;
  }

  static void add(Index& index, const Index& other) {
    index.offset += other.offset;
    for (const IndexTerm& term : other.terms) {
      const auto same =
          std::find_if(index.terms.begin(), index.terms.end(), [&](const IndexTerm& each) {
            return each.inner == term.inner && each.inner_offset == term.inner_offset &&
                   each.divisor == term.divisor && each.modulus == term.modulus;
          });
      if (same == index.terms.end())
        index.terms.push_back(term);
      else
        same->coefficient += term.coefficient;
    }
  }

  // One term of the quotient and the remainder of a linear index.
  static Index divided(const Index& index, std::int64_t divisor, std::int64_t modulus) {
    IndexTerm term;
    term.divisor = divisor;
    term.modulus = modulus;
    term.inner_offset = index.offset;
    for (const IndexTerm& each : index.terms)
      for (const IndexTerm::Inner& inner : each.inner)
        term.inner.push_back({inner.loop, inner.loop < 0 ? inner.coefficient
                                                         : inner.coefficient * each.coefficient});
    std::sort(term.inner.begin(), term.inner.end());
    return {{term}, 0};
  }

  Index sum() {
    Index index;
    std::int64_t sign = take("-") ? -1 : 1;
    for (;;) {
      Index next = product();
      scale(next, sign);
      add(index, next);
      if (take("+"))
        sign = 1;
      else if (take("-"))
        sign = -1;
      else
        return index;
    }
  }

  Index product() {
    Index index = factor();
    for (;;) {
      if (take("//")) {
        index = divided(index, factor().offset, 0);
      } else if (take("*")) {
        Index other = factor();
        if (index.terms.empty()) std::swap(index, other);
        scale(index, other.offset);
      } else {
        return index;
      }
    }
  }

  std::int64_t number() {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return error == std::errc{} ? value : 0;
  }

  Index factor() {
    if (take("(")) {
      Index index = sum();
      take(")");
      return index;
    }
    if (take("ModularIndexing(")) {
      const Index index = sum();
      take(",");
      const std::int64_t divisor = number();
      take(",");
      const std::int64_t modulus = number();
      take(")");
      return divided(index, divisor, modulus);
    }
    if (take("tmp") || take("indirect")) return variable(-1, number());
    if (take("d") || take("c") || take("p"))
      return variable(static_cast<std::int16_t>(number()), 1);
    return {{}, number()};
  }

  static Index variable(std::int16_t loop, std::int64_t coefficient) {
    IndexTerm term;
    term.inner.push_back({loop, coefficient});
    return {{term}, 0};
  }

  std::string_view rest_;
};

Op::Kind kind_of(const json& row) {
  const std::string kind = row.at("kind").get<std::string>();
  const std::string ir = row.at("ir").get<std::string>();
  if (kind == "pointwise") return Op::Kind::pointwise;
  if (kind == "reduction")
    return ir == "Scan" || ir == "SplitScan" ? Op::Kind::scan
           : ir == "Sort"                    ? Op::Kind::sort
                                             : Op::Kind::reduction;
  if (kind == "extern") return Op::Kind::extern_;
  if (kind == "multi_output") return Op::Kind::multi_output;
  if (kind == "view") return Op::Kind::view;
  if (kind == "collective") return Op::Kind::collective;
  if (kind == "wait") return Op::Kind::wait;
  if (kind == "template") return Op::Kind::template_;
  return Op::Kind::nop;
}

class ReferenceReader {
 public:
  explicit ReferenceReader(const json& document) : document_(document) {}

  Ir read() {
    for (const json& row : document_.at("inputs")) {
      Buffer buffer;
      buffer.name = row.at("name").get<std::string>();
      buffer.bytes = row.at("bytes");
      if (row.contains("dtype")) buffer.dtype = type_of(row);
      buffer.numel = buffer.bytes / item_size(buffer.dtype);
      add_input(std::move(buffer));
    }
    read_buffers();
    for (const json& row : document_.at("pre_fusion")) read_op(row);
    for (const json& output : document_.at("outputs"))
      if (const auto found = ids_.find(output.get<std::string>()); found != ids_.end())
        ir_.buffers[as_index(found->second)].is_output = true;
    find_splits();
    find_users();
    return std::move(ir_);
  }

 private:
  static DType type_of(const json& row) {
    const std::string name = row.at("dtype");
    return parse_dtype(name).value_or(DType::float32);
  }

  static OpId op_id(const std::string& name) { return std::stoi(name.substr(2)); }

  BufferId add_input(Buffer buffer) {
    buffer.is_input = true;
    buffer.may_be_freed = std::none_of(kKept.begin(), kKept.end(), [&](std::string_view kept) {
      return buffer.name.starts_with(kept);
    });
    const auto id = static_cast<BufferId>(ir_.buffers.size());
    ids_[buffer.name] = id;
    ir_.buffers.push_back(std::move(buffer));
    return id;
  }

  BufferId id_of(const std::string& name) {
    if (const auto found = ids_.find(name); found != ids_.end()) return found->second;
    Buffer constant;
    constant.name = name;
    const BufferId id = add_input(std::move(constant));
    ir_.buffers[as_index(id)].may_be_freed = false;
    return id;
  }

  void read_buffers() {
    const json& rows = document_.at("buffers");
    OpId last = -1;
    for (const auto& [name, row] : rows.items()) {
      Buffer buffer;
      buffer.name = name;
      buffer.op = op_id(row.at("op"));
      last = std::max(last, buffer.op);
      const std::string layout = row.at("layout");
      buffer.has_no_layout = layout == "NoneLayout";
      buffer.has_many_results = layout == "MultiOutputLayout";
      if (row.contains("shape")) {
        buffer.dtype = type_of(row);
        buffer.shape = row.at("shape").get<std::vector<std::int64_t>>();
        buffer.stride = row.at("stride").get<std::vector<std::int64_t>>();
        buffer.numel = std::accumulate(buffer.shape.begin(), buffer.shape.end(), std::int64_t{1},
                                       std::multiplies<>());
        buffer.bytes = buffer.numel * item_size(buffer.dtype);
      }
      ids_[name] = static_cast<BufferId>(ir_.buffers.size());
      ir_.buffers.push_back(std::move(buffer));
    }
    for (const json& row : document_.at("pre_fusion")) last = std::max(last, op_id(row.at("name")));
    ir_.ops.resize(static_cast<std::size_t>(last) + 1);
    for (const auto& [name, row] : rows.items()) {
      Buffer& buffer = ir_.buffers[as_index(ids_.at(name))];
      ir_.ops[as_index(buffer.op)].outputs.push_back(ids_.at(name));
      for (const char* key : {"mutates", "aliases"})
        if (row.contains(key))
          for (const json& other : row.at(key)) {
            const BufferId id = id_of(other.get<std::string>());
            Buffer& same = ir_.buffers[as_index(ids_.at(name))];  // id_of may move the buffers
            (*key == 'm' ? same.mutates : same.aliases).push_back(id);
          }
    }
  }

  Access read_access(const json& row) {
    Access access;
    access.buffer = id_of(row.at(0).get<std::string>());
    access.bytes = row.at(1);
    const std::string kind = row.at(2);
    access.kind = kind == "memory" ? Access::Kind::memory
                  : kind == "weak" ? Access::Kind::weak
                                   : Access::Kind::star;
    if (access.kind == Access::Kind::memory) {
      access.index = parse_kernel_index(row.at(3).get<std::string>());
      access.sizes = row.at(4).get<std::vector<std::int64_t>>();
    }
    return access;
  }

  void read_op(const json& row) {
    Op op;
    op.kind = kind_of(row);
    op.ir = row.at("ir").get<std::string>();
    for (const json& name : row.at("buffers")) op.outputs.push_back(id_of(name.get<std::string>()));
    for (const json& each : row.at("reads")) op.reads.push_back(read_access(each));
    for (const json& each : row.at("writes")) op.writes.push_back(read_access(each));
    if (row.contains("group")) {
      op.numel = row.at("group").at(0);
      op.rnumel = row.at("group").at(1);
      op.loops = row.at("ranges").at(0).get<std::vector<std::int64_t>>();
      op.reduced = row.at("ranges").at(1).get<std::vector<std::int64_t>>();
    }
    BufferId changing = op.outputs.empty() ? -1 : op.outputs.front();
    std::vector<BufferId> changed;
    for (const BufferId output : op.outputs) {
      const Buffer& buffer = ir_.buffers[as_index(output)];
      if (!buffer.mutates.empty()) changing = output;
      changed.insert(changed.end(), buffer.mutates.begin(), buffer.mutates.end());
      const json& named = document_.at("buffers");
      if (const auto found = named.find(buffer.name); found != named.end())
        op.is_on_gpu = op.is_on_gpu && found->value("device", "cuda:0") != "cpu";
    }
    for (Access& access : op.reads) {
      if (access.kind != Access::Kind::weak) continue;
      access.mutating = changing;
      for (const BufferId alias : ir_.buffers[as_index(access.buffer)].aliases)
        access.keeps_alive =
            access.keeps_alive || std::find(changed.begin(), changed.end(), alias) != changed.end();
    }
    op.has_side_effects = true;  // Inductor kept it
    ir_.ops[as_index(op_id(row.at("name")))] = std::move(op);
  }

  // A reduction whose result only the next op reduces, over the number of pieces, was split.
  void find_splits() {
    for (std::size_t i = 0; i + 1 < ir_.ops.size(); ++i) {
      Op& first = ir_.ops[i];
      const Op& second = ir_.ops[i + 1];
      if (first.kind != Op::Kind::reduction || second.kind != Op::Kind::reduction) continue;
      if (first.ir != second.ir || first.outputs.size() != 1 || second.reads.size() != 1) continue;
      if (second.reads.front().buffer != first.outputs.front()) continue;
      if (second.numel * second.rnumel != first.numel) continue;
      first.split = second.rnumel;
      first.unsplit_loops = second.loops;
      first.unsplit_reduced = {second.rnumel * first.rnumel};
    }
  }

  // As Inductor's Scheduler.compute_dependencies does.
  void find_users() {
    std::vector<std::int32_t> list_of(ir_.buffers.size());
    std::iota(list_of.begin(), list_of.end(), 0);
    for (const Op& op : ir_.ops)
      for (const BufferId output : op.outputs) {
        const Buffer& buffer = ir_.buffers[as_index(output)];
        if (buffer.has_no_layout && buffer.aliases.size() > 1) continue;
        for (const BufferId alias : buffer.aliases) {
          const std::int32_t from = list_of[as_index(output)], to = list_of[as_index(alias)];
          std::replace(list_of.begin(), list_of.end(), from, to);
        }
      }
    std::vector<std::vector<User>> lists(ir_.buffers.size());
    std::vector<BufferId> renames(ir_.buffers.size());
    std::iota(renames.begin(), renames.end(), 0);
    const auto renamed = [&](BufferId id) {
      while (renames[as_index(id)] != id) id = renames[as_index(id)];
      return id;
    };
    const auto add = [&](BufferId id, OpId op, bool is_weak) {
      std::vector<User>& list = lists[as_index(list_of[as_index(renamed(id))])];
      const User user{op, false, is_weak};
      if (std::find(list.begin(), list.end(), user) == list.end()) list.push_back(user);
    };
    for (std::size_t i = 0; i < ir_.ops.size(); ++i) {
      const Op& op = ir_.ops[i];
      const auto id = static_cast<OpId>(i);
      for (const BufferId output : op.outputs)
        for (const BufferId changed : ir_.buffers[as_index(output)].mutates) {
          const BufferId last = renamed(changed);
          add(last, id, false);
          const std::vector<User> readers = lists[as_index(list_of[as_index(last)])];
          for (const User& reader : readers)
            if (reader.op >= 0 && reader.op != id)
              for (const BufferId other : ir_.ops[as_index(reader.op)].outputs)
                add(other, id, true);
        }
      for (const Access& read : op.reads)
        if (read.kind != Access::Kind::weak) add(read.buffer, id, false);
      for (const BufferId output : op.outputs)
        for (const BufferId changed : ir_.buffers[as_index(output)].mutates) {
          renames[as_index(renamed(changed))] = output;
          renames[as_index(changed)] = output;
        }
    }
    for (std::size_t i = 0; i < ir_.buffers.size(); ++i)
      if (ir_.buffers[i].is_output ||
          (ir_.buffers[i].is_input && renames[i] != static_cast<BufferId>(i)))
        add(static_cast<BufferId>(i), -1, false);
    for (std::size_t i = 0; i < ir_.buffers.size(); ++i) {
      std::vector<User>& users = ir_.buffers[i].users;
      for (const User& user : lists[as_index(list_of[i])]) {
        const auto same = std::find_if(users.begin(), users.end(),
                                       [&](const User& each) { return each.op == user.op; });
        if (same == users.end())
          users.push_back(user);
        else
          same->is_weak = same->is_weak && user.is_weak;
      }
    }
  }

  static constexpr std::string_view kKeptNames[] = {"primals_", "arg", "fwd_rng_state",
                                                    "bwd_rng_state", "tangents"};
  static constexpr std::span<const std::string_view> kKept{kKeptNames};
  const json& document_;
  Ir ir_;
  std::map<std::string, BufferId> ids_;
};

}  // namespace

kernels::Index parse_kernel_index(std::string_view text) {
  return IndexParser(text).parse();
}

Result<KernelReference> read_kernel_reference(const std::string& path) {
  JOINTER_TRY(const PaddedBytes bytes, read_bytes(path));
  KernelReference reference;
  reference.json = json::parse(bytes.view());
  reference.torch =
      parse_torch_version(reference.json.at("torch").get<std::string>()).value_or(kNewestTorch);
  reference.ir = ReferenceReader(reference.json).read();
  return reference;
}

}  // namespace jointer::test
