#pragma once

// Python's list.sort. It is stable like std::stable_sort, but some of Inductor's comparisons are
// not transitive, and then the result depends on which elements the algorithm compares.
//
// Steps: runs that are sorted already are found and extended to a minimal length by binary
// insertion, then merged, with exponential search ("galloping") where one run wins repeatedly.
// Source: Objects/listobject.c of CPython 3.11.

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/base/small_vector.h"

namespace jointer::kernels {

// `Values` is a vector or a SmallVector.
template <class Values, class Less>
class PythonSort {
  using Value = typename Values::value_type;

 public:
  PythonSort(Values& values, Less less) : values_(values), less_(std::move(less)) {}

  void sort() {
    std::size_t rest = values_.size(), low = 0;
    if (rest < 2) return;
    const std::size_t min_run = min_run_of(rest);
    while (rest > 0) {
      std::size_t run = count_run(low, values_.size());
      if (run < min_run) {
        const std::size_t forced = std::min(rest, min_run);
        insert_sorted(low, low + run, low + forced);
        run = forced;
      }
      push_run(low, run);
      low += run;
      rest -= run;
    }
    while (runs_.size() > 1) {
      std::size_t at = runs_.size() - 2;
      if (at > 0 && runs_[at - 1].length < runs_[at + 1].length) --at;
      merge_at(at);
    }
  }

 private:
  struct Run {
    std::size_t base, length;
    int power;
  };

  static std::size_t min_run_of(std::size_t count) {
    std::size_t rest = 0;
    while (count >= 64) {
      rest |= count & 1U;
      count >>= 1U;
    }
    return count + rest;
  }

  // Length of the run at `low`; a strictly descending one is reversed.
  std::size_t count_run(std::size_t low, std::size_t high) {
    if (low + 1 == high) return 1;
    std::size_t at = low + 2;
    if (less_(values_[low + 1], values_[low])) {
      while (at < high && less_(values_[at], values_[at - 1])) ++at;
      std::reverse(begin(low), begin(at));
    } else {
      while (at < high && !less_(values_[at], values_[at - 1])) ++at;
    }
    return at - low;
  }

  void insert_sorted(std::size_t low, std::size_t start, std::size_t high) {
    if (start == low) ++start;
    for (; start < high; ++start) {
      std::size_t left = low, right = start;
      while (left < right) {
        const std::size_t middle = left + (right - left) / 2;
        if (less_(values_[start], values_[middle]))
          right = middle;
        else
          left = middle + 1;
      }
      std::rotate(begin(left), begin(start), begin(start + 1));
    }
  }

  // Depth at which two neighboring runs meet in a balanced merge tree.
  static int power(std::size_t first, std::size_t length, std::size_t next, std::size_t count) {
    std::size_t a = 2 * first + length, b = a + length + next;
    for (int result = 1;; ++result) {
      if (a >= count) {
        a -= count;
        b -= count;
      } else if (b >= count) {
        return result;
      }
      a <<= 1U;
      b <<= 1U;
    }
  }

  void push_run(std::size_t base, std::size_t length) {
    if (!runs_.empty()) {
      const int now = power(runs_.back().base, runs_.back().length, length, values_.size());
      while (runs_.size() > 1 && runs_[runs_.size() - 2].power > now) merge_at(runs_.size() - 2);
      runs_.back().power = now;
    }
    runs_.push_back({base, length, 0});
  }

  void merge_at(std::size_t at) {
    Run& first = runs_[at];
    const Run second = runs_[at + 1];
    std::size_t base = first.base, length = first.length;
    first.length += second.length;
    runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    const std::size_t skipped = gallop_right(values_[second.base], values_, base, length, 0);
    base += skipped;
    length -= skipped;
    if (length == 0) return;
    const std::size_t right = gallop_left(values_[base + length - 1], values_, second.base,
                                          second.length, second.length - 1);
    if (right == 0) return;
    if (length <= right)
      merge_low(base, length, second.base, right);
    else
      merge_high(base, length, second.base, right);
  }

  // The index in [0, count] at which `key` belongs, before equal elements.
  std::size_t gallop_left(const Value& key, const Values& in, std::size_t base, std::size_t count,
                          std::size_t hint) {
    const auto at = [&](std::size_t i) -> const Value& { return in[base + i]; };
    std::size_t last = 0, offset = 1;
    if (less_(at(hint), key)) {
      const std::size_t max_offset = count - hint;
      while (offset < max_offset && less_(at(hint + offset), key)) {
        last = offset;
        offset = (offset << 1U) + 1;
      }
      offset = std::min(offset, max_offset);
      last += hint + 1;
      offset += hint;
    } else {
      const std::size_t max_offset = hint + 1;
      while (offset < max_offset && !less_(at(hint - offset), key)) {
        last = offset;
        offset = (offset << 1U) + 1;
      }
      offset = std::min(offset, max_offset);
      const std::size_t old = last;
      last = hint + 1 - offset;
      offset = hint - old;
    }
    while (last < offset) {
      const std::size_t middle = last + (offset - last) / 2;
      if (less_(at(middle), key))
        last = middle + 1;
      else
        offset = middle;
    }
    return offset;
  }

  // The index in [0, count] at which `key` belongs, after equal elements.
  std::size_t gallop_right(const Value& key, const Values& in, std::size_t base, std::size_t count,
                           std::size_t hint) {
    const auto at = [&](std::size_t i) -> const Value& { return in[base + i]; };
    std::size_t last = 0, offset = 1;
    if (less_(key, at(hint))) {
      const std::size_t max_offset = hint + 1;
      while (offset < max_offset && less_(key, at(hint - offset))) {
        last = offset;
        offset = (offset << 1U) + 1;
      }
      offset = std::min(offset, max_offset);
      const std::size_t old = last;
      last = hint + 1 - offset;
      offset = hint - old;
    } else {
      const std::size_t max_offset = count - hint;
      while (offset < max_offset && !less_(key, at(hint + offset))) {
        last = offset;
        offset = (offset << 1U) + 1;
      }
      offset = std::min(offset, max_offset);
      last += hint + 1;
      offset += hint;
    }
    while (last < offset) {
      const std::size_t middle = last + (offset - last) / 2;
      if (less_(key, at(middle)))
        offset = middle;
      else
        last = middle + 1;
    }
    return offset;
  }

  // Merges [base, base + left) with the run to its right. The left run is not longer, and its first
  // element belongs after the first one of the right run.
  void merge_low(std::size_t base, std::size_t left, std::size_t right_base, std::size_t right) {
    const Values copy(begin(base), begin(base + left));
    std::size_t a = 0, b = right_base, to = base;
    const std::size_t a_end = left, b_end = right_base + right;
    const auto finish = [&] {
      std::copy(copy.begin() + static_cast<std::ptrdiff_t>(a), copy.end(), begin(to));
    };
    const auto finish_last = [&] {  // the last element of the left run goes to the end
      std::copy(begin(b), begin(b_end), begin(to));
      values_[to + (b_end - b)] = copy[a];
    };
    values_[to++] = values_[b++];
    if (b == b_end) return finish();
    if (a_end - a == 1) return finish_last();
    for (;;) {
      std::size_t a_wins = 0, b_wins = 0;
      for (;;) {
        if (less_(values_[b], copy[a])) {
          values_[to++] = values_[b++];
          ++b_wins;
          a_wins = 0;
          if (b == b_end) return finish();
          if (b_wins >= gallop_) break;
        } else {
          values_[to++] = copy[a++];
          ++a_wins;
          b_wins = 0;
          if (a_end - a == 1) return finish_last();
          if (a_wins >= gallop_) break;
        }
      }
      ++gallop_;
      do {
        gallop_ -= gallop_ > 1 ? 1 : 0;
        std::size_t won = gallop_right(values_[b], copy, a, a_end - a, 0);
        a_wins = won;
        for (; won > 0; --won) values_[to++] = copy[a++];
        if (a_end == a) return finish();  // only if comparisons are inconsistent
        if (a_end - a == 1) return finish_last();
        values_[to++] = values_[b++];
        if (b == b_end) return finish();
        won = gallop_left(copy[a], values_, b, b_end - b, 0);
        b_wins = won;
        for (; won > 0; --won) values_[to++] = values_[b++];
        if (b == b_end) return finish();
        values_[to++] = copy[a++];
        if (a_end - a == 1) return finish_last();
      } while (a_wins >= kMinGallop || b_wins >= kMinGallop);
      ++gallop_;
    }
  }

  // Like `merge_low`, where the right run is shorter: from the end.
  void merge_high(std::size_t base, std::size_t left, std::size_t right_base, std::size_t right) {
    const Values copy(begin(right_base), begin(right_base + right));
    // Elements that remain in the left run and in the copy of the right one; the next goes to base
    // + a + b - 1.
    std::size_t a = left, b = right;
    const auto finish = [&] {
      std::copy(copy.begin(), copy.begin() + static_cast<std::ptrdiff_t>(b), begin(base));
    };
    const auto finish_first = [&] {  // the first element of the right run goes to the front
      std::copy_backward(begin(base), begin(base + a), begin(base + a + 1));
      values_[base] = copy[0];
    };
    const auto take_left = [&] {
      values_[base + a + b - 1] = values_[base + a - 1];
      --a;
    };
    const auto take_right = [&] {
      values_[base + a + b - 1] = copy[b - 1];
      --b;
    };
    take_left();
    if (a == 0) return finish();
    if (b == 1) return finish_first();
    for (;;) {
      std::size_t a_wins = 0, b_wins = 0;
      for (;;) {
        if (less_(copy[b - 1], values_[base + a - 1])) {
          take_left();
          ++a_wins;
          b_wins = 0;
          if (a == 0) return finish();
          if (a_wins >= gallop_) break;
        } else {
          take_right();
          ++b_wins;
          a_wins = 0;
          if (b == 1) return finish_first();
          if (b_wins >= gallop_) break;
        }
      }
      ++gallop_;
      do {
        gallop_ -= gallop_ > 1 ? 1 : 0;
        std::size_t won = a - gallop_right(copy[b - 1], values_, base, a, a - 1);
        a_wins = won;
        for (; won > 0; --won) take_left();
        if (a == 0) return finish();
        take_right();
        if (b == 1) return finish_first();
        won = b - gallop_left(values_[base + a - 1], copy, 0, b, b - 1);
        b_wins = won;
        for (; won > 0; --won) take_right();
        if (b == 1) return finish_first();
        if (b == 0) return;  // only if comparisons are inconsistent
        take_left();
        if (a == 0) return finish();
      } while (a_wins >= kMinGallop || b_wins >= kMinGallop);
      ++gallop_;
    }
  }

  auto begin(std::size_t at) { return values_.begin() + static_cast<std::ptrdiff_t>(at); }

  static constexpr std::size_t kMinGallop = 7;
  Values& values_;
  Less less_;
  SmallVector<Run, 4> runs_;
  std::size_t gallop_ = kMinGallop;
};

template <class Values, class Less>
void python_sort(Values& values, Less less) {
  PythonSort<Values, Less>(values, std::move(less)).sort();
}

}  // namespace jointer::kernels
