#include "core/kernels/memory_order.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

#include "core/base/index.h"
#include "core/graph/dtype.h"

namespace jointer::kernels {

namespace {

// Adds a place unless it was the last one added; callers visit places in order.
void add_place(Places& places, Place place) {
  if (places.empty() || places.back() != place) places.push_back(place);
}

// Adds the places that are missing.
void merge_places(Places& places, const Places& others) {
  for (const Place place : others)
    if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
}

}  // namespace

MemoryPlan::MemoryPlan(const Scheduling& scheduling, std::span<const NodeIndex> nodes)
    : s_(scheduling),
      nodes_(nodes.begin(), nodes.end()),
      buffers_(scheduling.ir().buffers.size()),
      plan_(nodes.size()) {
  find_sizes();
  find_users();
  connect();
}

void MemoryPlan::find_sizes() {
  std::vector<char> is_result(buffers_.size(), 0);
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const BufferId id = static_cast<BufferId>(i);
    const Buffer& buffer = s_.buffer(id);
    if (buffer.op < 0 || s_.is_dead(buffer.op) || is_result[i] != 0) continue;
    if (s_.real(id) == id && !buffer.has_no_layout && buffer.has_many_results) {
      for (const User& user : s_.users(id)) {
        if (user.op < 0 || s_.op(user.op).kind != Op::Kind::multi_output) continue;
        for (const BufferId output : s_.op(user.op).outputs) is_result[as_index(output)] = 1;
      }
    }
    find_size(id, false);
  }
}

std::int64_t MemoryPlan::find_size(BufferId id, bool is_result) {
  PlannedBuffer& planned = buffers_[as_index(id)];
  const Buffer& buffer = s_.buffer(id);
  if (s_.real(id) != id || buffer.has_no_layout) return 0;
  std::int64_t size = 0;
  if (buffer.has_many_results) {
    for (const User& user : s_.users(id)) {
      if (user.op < 0 || s_.op(user.op).kind != Op::Kind::multi_output) continue;
      for (const BufferId output : s_.op(user.op).outputs) size += find_size(output, true);
    }
  } else {
    size = buffer.numel * item_size(buffer.dtype);
    planned.freed = size;
  }
  planned.allocated = is_result ? 0 : size;
  return size;
}

void MemoryPlan::find_users() {
  const auto lives_on = [&](AccessId access) {
    return !s_.table.is_weak(access) || s_.table[access].access.keeps_alive;
  };
  for (Place place = 0; as_index(place) < nodes_.size(); ++place) {
    for (const AccessId access : node(place).reads) {
      const BufferId id = s_.table.buffer(access);
      if (id < 0 || s_.buffer(id).op >= 0 || !s_.buffer(id).may_be_freed) continue;
      PlannedBuffer& planned = buffers_[as_index(id)];
      if (!planned.is_planned_input) {
        planned.is_planned_input = true;
        inputs_.push_back(id);
      }
      planned.allocated = planned.freed = s_.table[access].access.bytes;
      add_place(planned.users_for_order, place);
      if (lives_on(access)) add_place(planned.users, place);
    }
    for (const AccessId access : node(place).unmet) {
      PlannedBuffer& planned = buffers_[as_index(s_.table.buffer(access))];
      add_place(planned.users_for_order, place);
      if (lives_on(access)) add_place(planned.users, place);
    }
  }
  const std::span<const BufferId> mutations = s_.mutations();
  for (std::size_t i = mutations.size(); i-- > 0;) {
    const BufferId real = s_.real(mutations[i]);
    if (real == mutations[i] || s_.buffer(real).op < 0) continue;
    const PlannedBuffer& changed = buffers_[as_index(mutations[i])];
    PlannedBuffer& planned = buffers_[as_index(real)];
    merge_places(planned.users, changed.users);
    merge_places(planned.users_for_order, changed.users_for_order);
  }
}

void MemoryPlan::connect() {
  for (Place place = 0; as_index(place) < nodes_.size(); ++place) {
    PlannedNode& own = plan_[as_index(place)];
    for (const BufferId id : node(place).outputs) {
      const PlannedBuffer& buffer = buffers_[as_index(id)];
      own.size += buffer.allocated;
      for (const Place user : buffer.users_for_order)
        if (user != place) own.after.push_back(user);
      for (const Place user : buffer.users) plan_[as_index(user)].reads.push_back(id);
    }
    // Each once, in order. Nodes with many users are rare, so sorting would cost more.
    std::size_t kept = 0;
    for (const Place user : own.after) {
      const auto end = own.after.begin() + static_cast<std::ptrdiff_t>(kept);
      if (std::find(own.after.begin(), end, user) == end) own.after[kept++] = user;
    }
    own.after.resize(kept);
    for (const Place user : own.after) plan_[as_index(user)].before.push_back(place);
  }
  for (const BufferId id : inputs_)
    for (const Place user : buffers_[as_index(id)].users) plan_[as_index(user)].reads.push_back(id);
}

bool MemoryPlan::needs(Place later, Place earlier) const {
  const BufferIds& outputs = node(earlier).outputs;
  const AccessIds& unmet = node(later).unmet;
  return std::any_of(unmet.begin(), unmet.end(), [&](AccessId access) {
    return std::find(outputs.begin(), outputs.end(), s_.table.buffer(access)) != outputs.end();
  });
}

std::vector<BufferLife> MemoryPlan::lives(std::span<const Place> order) const {
  std::vector<std::int32_t> step_of(order.size());
  for (std::size_t step = 0; step < order.size(); ++step)
    step_of[as_index(order[step])] = static_cast<std::int32_t>(step);
  const auto last_step = [&](const PlannedBuffer& buffer) {
    std::int32_t last = -1;
    for (const Place user : buffer.users) last = std::max(last, step_of[as_index(user)]);
    return last;
  };
  std::vector<BufferLife> result;
  result.reserve(buffers_.size());
  for (const BufferId id : inputs_) {
    const PlannedBuffer& planned = buffers_[as_index(id)];
    const std::int32_t last = s_.buffer(id).is_output ? -1 : last_step(planned);
    result.push_back({id, planned.freed, planned.freed, 0, last});
  }
  for (std::size_t step = 0; step < order.size(); ++step)
    for (const BufferId id : node(order[step]).outputs) {
      const PlannedBuffer& planned = buffers_[as_index(id)];
      const auto first = static_cast<std::int32_t>(step);
      std::int32_t last = -1;
      if (!s_.buffer(id).is_output) {
        last = last_step(planned);
        if (last < 0) last = first;
      }
      result.push_back({id, planned.allocated, planned.freed, first, last});
    }
  return result;
}

MemoryPlan::Peak MemoryPlan::peak(std::span<const Place> order) const {
  return peak_of(lives(order), order.size());
}

MemoryPlan::Peak MemoryPlan::peak_of(std::vector<BufferLife> lives, std::size_t steps) {
  Peak result;
  result.lives = std::move(lives);
  std::vector<std::int64_t> allocated(steps, 0), freed(steps, 0);
  if (steps == 0) return result;
  for (const BufferLife& life : result.lives) {
    allocated[as_index(life.first)] += life.allocated;
    if (life.last >= 0) freed[as_index(life.last)] += life.freed;
  }
  result.after_allocation.reserve(steps);
  result.after_release.reserve(steps);
  std::int64_t now = 0;
  for (std::size_t step = 0; step < steps; ++step) {
    now += allocated[step];
    result.peak = std::max(result.peak, now);
    result.after_allocation.push_back(now);
    now -= freed[step];
    result.after_release.push_back(now);
  }
  return result;
}

std::int64_t MemoryPlan::simple_peak(std::span<const Place> order) const {
  const bool frees_outputs_first = !s_.has({2, 12});
  std::vector<std::int64_t> change(order.size() + 1, 0);
  for (const BufferLife& life : lives(order)) {
    change[as_index(life.first)] += life.allocated;
    if (life.last >= 0 || frees_outputs_first) change[as_index(life.last + 1)] -= life.freed;
  }
  std::int64_t now = 0, max_live = 0;
  for (const std::int64_t each : change) {
    now += each;
    max_live = std::max(max_live, now);
  }
  return max_live;
}

std::vector<Place> MemoryPlan::order(MemoryOrder method) const {
  switch (method) {
    case MemoryOrder::least_peak_first:
      return least_peak_first();
    case MemoryOrder::breadth_first:
      return breadth_first();
    case MemoryOrder::depth_first:
      return depth_first();
    case MemoryOrder::as_fused:
      break;
  }
  std::vector<Place> places(nodes_.size());
  std::iota(places.begin(), places.end(), 0);
  return places;
}

// Picks a ready kernel that does not raise the peak, or else the one that allocates least; among
// those that do not raise it, the one after which the fewest bytes are live.
std::vector<Place> MemoryPlan::least_peak_first() const {
  const std::size_t count = nodes_.size();
  std::vector<std::int32_t> missing(count), users(buffers_.size(), 0);
  std::vector<std::int64_t> to_free(count, 0);
  std::vector<Place> ready, result;
  result.reserve(count);
  std::int64_t live = 0, outputs = 0;
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const Buffer& buffer = s_.buffer(static_cast<BufferId>(i));
    users[i] = static_cast<std::int32_t>(buffers_[i].users.size()) + (buffer.is_output ? 1 : 0);
    if (buffers_[i].is_planned_input) live += buffers_[i].freed;
    if (buffer.is_output) outputs += buffers_[i].freed;
  }
  std::int64_t max_live = std::max(live, outputs);
  for (std::size_t i = 0; i < count; ++i) {
    missing[i] = static_cast<std::int32_t>(plan_[i].before.size());
    if (missing[i] == 0) ready.push_back(static_cast<Place>(i));
    for (const BufferId id : plan_[i].reads)
      if (users[as_index(id)] == 1) to_free[i] += buffers_[as_index(id)].freed;
    for (const BufferId id : node(static_cast<Place>(i)).outputs)
      if (users[as_index(id)] == 0) to_free[i] += buffers_[as_index(id)].freed;
  }
  while (!ready.empty()) {
    const std::int64_t gap = max_live - live;
    const auto key = [&](Place place) {
      const std::int64_t size = plan_[as_index(place)].size;
      return std::tuple(size > gap ? size : 0, size - to_free[as_index(place)], place);
    };
    std::size_t best = 0;
    auto best_key = key(ready[0]);
    for (std::size_t i = 1; i < ready.size(); ++i)
      if (const auto other = key(ready[i]); other < best_key) {
        best = i;
        best_key = other;
      }
    const Place chosen = ready[best];
    ready[best] = ready.back();
    ready.pop_back();
    result.push_back(chosen);
    const PlannedNode& own = plan_[as_index(chosen)];
    live += own.size;
    max_live = std::max(max_live, live);
    live -= to_free[as_index(chosen)];
    for (const Place next : own.after)
      if (--missing[as_index(next)] == 0) ready.push_back(next);
    for (const BufferId id : own.reads)
      if (--users[as_index(id)] == 1)
        for (const Place user : buffers_[as_index(id)].users)
          to_free[as_index(user)] += buffers_[as_index(id)].freed;
  }
  return result;
}

// Picks the ready kernel whose predecessors ran first.
std::vector<Place> MemoryPlan::breadth_first() const {
  const std::size_t count = nodes_.size();
  std::vector<std::int32_t> missing(count), step_of(count, -1);
  std::vector<SmallVector<std::int32_t, 4>> steps_before(count);
  const auto is_later = [&](Place a, Place b) {
    const auto &first = steps_before[as_index(a)], &second = steps_before[as_index(b)];
    return first == second ? a > b : first > second;
  };
  std::priority_queue<Place, std::vector<Place>, decltype(is_later)> ready(is_later);
  const auto add = [&](Place place) {
    SmallVector<std::int32_t, 4>& steps = steps_before[as_index(place)];
    for (const Place before : plan_[as_index(place)].before)
      steps.push_back(step_of[as_index(before)]);
    std::sort(steps.begin(), steps.end());
    ready.push(place);
  };
  for (std::size_t i = 0; i < count; ++i) {
    missing[i] = static_cast<std::int32_t>(plan_[i].before.size());
    if (missing[i] == 0) add(static_cast<Place>(i));
  }
  std::vector<Place> result;
  result.reserve(count);
  while (!ready.empty()) {
    const Place chosen = ready.top();
    ready.pop();
    step_of[as_index(chosen)] = static_cast<std::int32_t>(result.size());
    result.push_back(chosen);
    for (const Place next : plan_[as_index(chosen)].after)
      if (--missing[as_index(next)] == 0) add(next);
  }
  return result;
}

// Visits kernels in ascending order of the bytes that they read and allocate. Each comes after the
// kernels whose results it reads.
std::vector<Place> MemoryPlan::depth_first() const {
  const std::size_t count = nodes_.size();
  std::vector<std::int64_t> size(count);
  std::vector<Place> maker(buffers_.size(), -1);
  for (std::size_t i = 0; i < count; ++i) {
    for (const BufferId id : node(static_cast<Place>(i)).outputs)
      maker[as_index(id)] = static_cast<Place>(i);
    size[i] = plan_[i].size;
    for (const BufferId id : plan_[i].reads) size[i] += buffers_[as_index(id)].freed;
  }
  const auto is_smaller = [&](Place a, Place b) {
    return std::pair(size[as_index(a)], a) < std::pair(size[as_index(b)], b);
  };
  std::vector<Place> roots(count), result, before;
  std::iota(roots.begin(), roots.end(), 0);
  std::sort(roots.begin(), roots.end(), is_smaller);
  std::vector<char> seen(count, 0);
  struct Visit {
    Place place;
    std::size_t first, next, last;  // indices in `before`
  };
  std::vector<Visit> stack;
  const auto enter = [&](Place place) {
    seen[as_index(place)] = 1;
    const std::size_t first = before.size();
    for (const AccessId access : node(place).unmet)
      if (const Place made = maker[as_index(s_.table.buffer(access))]; made >= 0)
        before.push_back(made);
    std::sort(before.begin() + static_cast<std::ptrdiff_t>(first), before.end(), is_smaller);
    stack.push_back({place, first, first, before.size()});
  };
  for (const Place root : roots) {
    if (seen[as_index(root)] != 0) continue;
    enter(root);
    while (!stack.empty()) {
      Visit& top = stack.back();
      if (top.next == top.last) {
        result.push_back(top.place);
        before.resize(top.first);
        stack.pop_back();
        continue;
      }
      const Place next = before[top.next++];
      if (seen[as_index(next)] == 0) enter(next);
    }
  }
  return result;
}

}  // namespace jointer::kernels
