#pragma once

// A vector that stores a few elements in the object itself, so that short lists need no allocation.
// It has the functions of std::vector that this project uses, with the same meaning, and converts
// from and to it. Unlike with std::vector, a move invalidates references to elements, because
// elements in the object itself move with it.

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace jointer {

// True if an object can be moved by copying its bytes and forgetting the original: it has no
// pointer to itself. Specialize it for structs that contain SmallVectors of such types.
template <class T>
inline constexpr bool kMovesAsBytes = std::is_trivially_copyable_v<T>;

// `Inline` is the number of elements that need no allocation. A vector holds at most 2^32 - 1
// elements.
template <class T, std::size_t Inline>
class SmallVector {
  static_assert(std::is_nothrow_move_constructible_v<T>);
  static constexpr bool kIsPlain = std::is_trivially_copyable_v<T>;

 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = const T&;
  using pointer = T*;
  using const_pointer = const T*;
  using iterator = T*;
  using const_iterator = const T*;
  using reverse_iterator = std::reverse_iterator<iterator>;
  using const_reverse_iterator = std::reverse_iterator<const_iterator>;

  SmallVector() noexcept {}
  explicit SmallVector(std::size_t count, const T& value = T()) { assign(count, value); }
  SmallVector(std::initializer_list<T> values) { append_copies(values.begin(), values.size()); }
  template <std::forward_iterator Iterator>
  SmallVector(Iterator first, Iterator last) {
    assign(first, last);
  }
  SmallVector(const std::vector<T>& values) { append_copies(values.data(), values.size()); }
  SmallVector(const SmallVector& other) { copy(other); }
  SmallVector(SmallVector&& other) noexcept { take(other); }
  ~SmallVector() { release(); }

  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) {
      clear();
      copy(other);
    }
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this != &other) {
      release();
      size_ = 0;
      capacity_ = Inline;
      take(other);
    }
    return *this;
  }
  SmallVector& operator=(std::initializer_list<T> values) {
    clear();
    append_copies(values.begin(), values.size());
    return *this;
  }
  operator std::vector<T>() const { return std::vector<T>(begin(), end()); }

  [[nodiscard]] T* data() noexcept { return is_inline() ? own() : heap(); }
  [[nodiscard]] const T* data() const noexcept { return is_inline() ? own() : heap(); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

  [[nodiscard]] iterator begin() noexcept { return data(); }
  [[nodiscard]] iterator end() noexcept { return data() + size_; }
  [[nodiscard]] const_iterator begin() const noexcept { return data(); }
  [[nodiscard]] const_iterator end() const noexcept { return data() + size_; }
  [[nodiscard]] reverse_iterator rbegin() noexcept { return reverse_iterator(end()); }
  [[nodiscard]] reverse_iterator rend() noexcept { return reverse_iterator(begin()); }
  [[nodiscard]] const_reverse_iterator rbegin() const noexcept {
    return const_reverse_iterator(end());
  }
  [[nodiscard]] const_reverse_iterator rend() const noexcept {
    return const_reverse_iterator(begin());
  }

  [[nodiscard]] T& operator[](std::size_t i) noexcept { return data()[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return data()[i]; }
  [[nodiscard]] T& front() noexcept { return data()[0]; }
  [[nodiscard]] const T& front() const noexcept { return data()[0]; }
  [[nodiscard]] T& back() noexcept { return data()[size_ - 1]; }
  [[nodiscard]] const T& back() const noexcept { return data()[size_ - 1]; }

  void reserve(std::size_t count) {
    if (count > capacity_) grow(count);
  }
  void clear() noexcept {
    std::destroy_n(data(), size_);
    size_ = 0;
  }
  void resize(std::size_t count, const T& value = T()) {
    if (count < size_) {
      std::destroy_n(data() + count, size_ - count);
    } else if (count > size_) {
      const T copy = value;
      reserve(count);
      std::uninitialized_fill_n(data() + size_, count - size_, copy);
    }
    size_ = static_cast<std::uint32_t>(count);
  }
  void assign(std::size_t count, const T& value) {
    const T copy = value;
    clear();
    resize(count, copy);
  }
  // The values must not be elements of this vector.
  template <std::forward_iterator Iterator>
  void assign(Iterator first, Iterator last) {
    clear();
    insert(end(), first, last);
  }

  void push_back(const T& value) { emplace_back(value); }
  void push_back(T&& value) { emplace_back(std::move(value)); }
  template <class... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == capacity_) {
      // The arguments may refer to an element, so they are used before the elements move.
      T made{std::forward<Args>(args)...};
      grow(std::size_t{capacity_} * 2);
      return *std::construct_at(data() + size_++, std::move(made));
    }
    return *::new (static_cast<void*>(data() + size_++)) T{std::forward<Args>(args)...};
  }
  void pop_back() noexcept { std::destroy_at(data() + --size_); }

  // The values that are inserted must not be elements of this vector.
  template <std::forward_iterator Iterator>
  iterator insert(const_iterator before, Iterator first, Iterator last) {
    const auto at = before - begin();
    const auto count = static_cast<std::size_t>(std::distance(first, last));
    reserve(size_ + count);
    std::uninitialized_copy(first, last, data() + size_);
    size_ += static_cast<std::uint32_t>(count);
    std::rotate(begin() + at, end() - static_cast<std::ptrdiff_t>(count), end());
    return begin() + at;
  }
  iterator insert(const_iterator before, std::size_t count, const T& value) {
    const auto at = before - begin();
    resize(size_ + count, value);
    std::rotate(begin() + at, end() - static_cast<std::ptrdiff_t>(count), end());
    return begin() + at;
  }
  iterator insert(const_iterator before, const T& value) { return insert(before, 1, value); }
  iterator erase(const_iterator first, const_iterator last) {
    const iterator to = begin() + (first - begin());
    const iterator rest = std::move(begin() + (last - begin()), end(), to);
    resize(static_cast<std::size_t>(rest - begin()));
    return to;
  }
  iterator erase(const_iterator at) { return erase(at, at + 1); }

  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    if (a.size_ != b.size_) return false;
    const T *one = a.data(), *other = b.data();
    for (std::uint32_t i = 0; i < a.size_; ++i)
      if (!(one[i] == other[i])) return false;
    return true;
  }
  friend auto operator<=>(const SmallVector& a, const SmallVector& b) {
    return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  static constexpr std::size_t kBytes = std::max(Inline * sizeof(T), sizeof(T*));

  [[nodiscard]] bool is_inline() const noexcept { return capacity_ == Inline; }
  [[nodiscard]] T* own() noexcept { return std::launder(reinterpret_cast<T*>(bytes_)); }
  [[nodiscard]] const T* own() const noexcept {
    return std::launder(reinterpret_cast<const T*>(bytes_));
  }
  // In the next two functions, gcc does not see that the bytes are either initialized or unused.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
  [[nodiscard]] T* heap() const noexcept {
    T* made = nullptr;
    std::memcpy(&made, bytes_, sizeof made);
    return made;
  }

  // Copies the other vector's inline elements and the unused bytes after them or, if its elements
  // are on the heap, the pointer to them.
  void copy_bytes(const SmallVector& other) noexcept {
    std::memcpy(bytes_, other.bytes_, kBytes);
  }
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

  // This vector must be empty.
  void copy(const SmallVector& other) {
    if constexpr (kIsPlain) {
      // A copy of a known number of bytes is faster than a copy of only the existing elements.
      if (is_inline() && other.is_inline()) {
        copy_bytes(other);
        size_ = other.size_;
        return;
      }
    }
    append_copies(other.data(), other.size());
  }

  void append_copies(const T* values, std::size_t count) {
    reserve(size_ + count);
    std::uninitialized_copy_n(values, count, data() + size_);
    size_ += static_cast<std::uint32_t>(count);
  }

  void grow(std::size_t count) {
    const std::size_t wanted = std::max<std::size_t>(count, Inline + 1);
    T* made = std::allocator<T>().allocate(wanted);
    relocate(data(), size_, made);
    if (!is_inline()) std::allocator<T>().deallocate(heap(), capacity_);
    std::memcpy(bytes_, &made, sizeof made);
    capacity_ = static_cast<std::uint32_t>(wanted);
  }

  static void relocate(T* from, std::size_t count, T* to) noexcept {
    if constexpr (kMovesAsBytes<T>) {
      if (count > 0)
        std::memcpy(static_cast<void*>(to), static_cast<const void*>(from), count * sizeof(T));
    } else {
      std::uninitialized_move_n(from, count, to);
      std::destroy_n(from, count);
    }
  }

  // This vector must be empty and must not have allocated memory; the other one is left in that
  // state.
  void take(SmallVector& other) noexcept {
    if (kMovesAsBytes<T> || !other.is_inline())
      copy_bytes(other);
    else
      relocate(other.own(), other.size_, own());
    size_ = std::exchange(other.size_, 0U);
    capacity_ = std::exchange(other.capacity_, static_cast<std::uint32_t>(Inline));
  }

  void release() noexcept {
    std::destroy_n(data(), size_);
    if (!is_inline()) std::allocator<T>().deallocate(heap(), capacity_);
  }

  std::uint32_t size_ = 0, capacity_ = Inline;
  alignas(T) alignas(T*) std::byte bytes_[kBytes];
};

template <class T, std::size_t Inline>
inline constexpr bool kMovesAsBytes<SmallVector<T, Inline>> = kMovesAsBytes<T>;

// Like std::erase_if for std::vector.
template <class T, std::size_t Inline, class Predicate>
std::size_t erase_if(SmallVector<T, Inline>& values, Predicate predicate) {
  const auto rest = std::remove_if(values.begin(), values.end(), std::move(predicate));
  const auto count = static_cast<std::size_t>(values.end() - rest);
  values.erase(rest, values.end());
  return count;
}

}  // namespace jointer
