#pragma once

// A value shared by all of its copies, for large members of small structs. It is immutable: to
// change it, assign a new one. Several threads may read copies.

#include <memory>
#include <utility>

namespace jointer {

template <class T>
class Shared {
 public:
  Shared() {
    static const std::shared_ptr<const T> none = std::make_shared<const T>();
    value_ = none;
  }
  Shared(T value) : value_(std::make_shared<const T>(std::move(value))) {}
  // For a value that was built in place, to avoid moving it. Must not be null.
  Shared(std::shared_ptr<const T> value) : value_(std::move(value)) {}

  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }
  operator const T&() const { return *value_; }

  friend bool operator==(const Shared& a, const Shared& b) {
    return a.value_ == b.value_ || *a.value_ == *b.value_;
  }

 private:
  std::shared_ptr<const T> value_;  // never null, except after a move
};

}  // namespace jointer
