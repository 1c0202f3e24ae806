// SPDX-License-Identifier: MIT
// Open-addressing hash tables for hot interners. There is no iteration on purpose: the order of a
// hash table must not reach an output.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/base/digest.h"

namespace kiln {

// A full-avalanche mix of 64 bits.
constexpr uint64_t Mix64(uint64_t x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  x ^= x >> 32;
  return x;
}

// Default hash of FlatMap: integers, enums, ids, text and hashes.
struct FlatHash {
  template <class T>
  requires std::integral<T> || std::is_enum_v<T> uint64_t operator()(T number) const {
    return Mix64(static_cast<uint64_t>(number));
  }
  template <class Tag>
  uint64_t operator()(const Tag& id) const requires requires {
    { id.value } -> std::convertible_to<uint32_t>;
  }
  { return Mix64(id.value); }
  uint64_t operator()(std::string_view text) const { return Hash64(text); }
  uint64_t operator()(const Hash128& hash) const { return Hash128Hash{}(hash); }
};

// Finds the number of a row that is stored elsewhere (a Table, an arena) by the row's hash.
class InternIndex {
 public:
  // Returns the number for which equal(number) holds, or the one add() returns after storing the
  // row. Requires: equal rows have equal hashes; add() returns less than 2^32 - 1.
  template <class Equal, class AddRow>
  uint32_t FindOrAdd(uint64_t hash, Equal equal, AddRow add) {
    if ((count_ + 1) * 4 > slots_.size() * 3) {
      Grow(slots_.empty() ? 16 : slots_.size() * 2);
    }
    Slot& slot = Probe(hash, equal);
    if (slot.number == kFree) {
      slot = {.hash = hash, .number = add()};
      ++count_;
    }
    return slot.number;
  }

  // The number for which equal(number) holds, or kFree.
  template <class Equal>
  uint32_t Find(uint64_t hash, Equal equal) const {
    return slots_.empty() ? kFree : const_cast<InternIndex*>(this)->Probe(hash, equal).number;
  }

  // Forgets a number; those behind it that it has displaced move up. Requires: FindOrAdd stored it
  // with this hash.
  void Erase(uint64_t hash, uint32_t number) {
    const size_t mask = slots_.size() - 1;
    size_t gap = hash & mask;
    while (slots_[gap].number != number) {
      gap = (gap + 1) & mask;
    }
    for (size_t i = (gap + 1) & mask; slots_[i].number != kFree; i = (i + 1) & mask) {
      const size_t displaced = (i - slots_[i].hash) & mask;
      if (displaced >= ((i - gap) & mask)) {
        slots_[gap] = slots_[i];
        gap = i;
      }
    }
    slots_[gap] = Slot();
    --count_;
  }

  void Reserve(size_t count) {
    size_t capacity = 16;
    while (count * 4 > capacity * 3) {
      capacity *= 2;
    }
    if (capacity > slots_.size()) {
      Grow(capacity);
    }
  }
  void Clear() {
    slots_.clear();
    count_ = 0;
  }
  size_t size() const { return count_; }

  static constexpr uint32_t kFree = 0xffffffffu;

 private:
  struct Slot {
    uint64_t hash = 0;
    uint32_t number = kFree;
  };

  template <class Equal>
  Slot& Probe(uint64_t hash, Equal equal) {
    const size_t mask = slots_.size() - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
      Slot& slot = slots_[i];
      if (slot.number == kFree || (slot.hash == hash && equal(slot.number))) {
        return slot;
      }
    }
  }

  void Grow(size_t capacity) {
    std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(capacity));
    for (const Slot& slot : old) {
      if (slot.number != kFree) {
        Probe(slot.hash, [](uint32_t) { return false; }) = slot;
      }
    }
  }

  std::vector<Slot> slots_;  // size is zero or a power of two; at most three quarters are taken
  size_t count_ = 0;
};

// Key to value. Pointers to values are invalidated by inserting. Key needs ==.
template <class Key, class Value, class Hash = FlatHash>
class FlatMap {
 public:
  Value* Find(const Key& key) {
    const uint32_t row =
        index_.Find(Hash{}(key), [&](uint32_t i) { return rows_[i].first == key; });
    return row == InternIndex::kFree ? nullptr : &rows_[row].second;
  }
  const Value* Find(const Key& key) const { return const_cast<FlatMap*>(this)->Find(key); }
  bool Contains(const Key& key) const { return Find(key) != nullptr; }

  // The value of key and whether it was inserted now; an existing value stays.
  std::pair<Value*, bool> Insert(Key key, Value value) {
    return FindOrMake(std::move(key), [&] { return std::move(value); });
  }

  // Like Insert; make() runs only when the key is new.
  template <class Make>
  std::pair<Value*, bool> FindOrMake(Key key, Make make) {
    const size_t before = rows_.size();
    const uint32_t row = index_.FindOrAdd(
        Hash{}(key), [&](uint32_t i) { return rows_[i].first == key; },
        [&] {
          rows_.emplace_back(std::move(key), make());
          return static_cast<uint32_t>(rows_.size() - 1);
        });
    return {&rows_[row].second, rows_.size() != before};
  }

  Value& operator[](Key key) {
    return *FindOrMake(std::move(key), [] { return Value{}; }).first;
  }

  size_t size() const { return rows_.size(); }
  bool empty() const { return rows_.empty(); }
  void Reserve(size_t count) {
    index_.Reserve(count);
    rows_.reserve(count);
  }
  void Clear() {
    index_.Clear();
    rows_.clear();
  }

 private:
  InternIndex index_;
  std::vector<std::pair<Key, Value>> rows_;
};

}  // namespace kiln
