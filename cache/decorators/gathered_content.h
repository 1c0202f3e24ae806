// SPDX-License-Identifier: MIT
// Content that was put without a wish for durability and waits for more of its kind, so that it is
// compressed together (content_blocks.h). It is found here meanwhile, and until the store below has
// it. Bounded: a group leaves when it is as large as a block. See spec/cache 5.3
//
// Threads: all functions may run concurrently; one mutex, held for look-ups and moves only. Whoever
// gets a group puts it, outside of the mutex.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cache/compression/dictionary.h"
#include "cache/store.h"
#include "compiler/base/mutex.h"

namespace kiln::cache {

class GatheredContent {
 public:
  // Contents of one kind, in the order in which they came, that their holder puts. They wait again,
  // for somebody else, if it goes before it was said what became of them; they are dropped if too
  // much waits already.
  class Group {
   public:
    Group(Group&& other) noexcept
        : gathered_(std::exchange(other.gathered_, nullptr)), items_(std::move(other.items_)) {}
    Group& operator=(Group&&) = delete;
    ~Group();
    std::span<const Item> items() const { return items_; }
    // The store below has it, or refused it.
    void Done();

   private:
    friend class GatheredContent;
    Group(GatheredContent& gathered, std::vector<Item> items)
        : gathered_(&gathered), items_(std::move(items)) {}
    GatheredContent* gathered_;  // null: it is done
    std::vector<Item> items_;
  };

  // Takes contents; one that is here already is not taken again. The groups that are full now are
  // for the caller to put.
  std::vector<Group> Add(std::span<const Item> contents);

  // Nothing: it is not here.
  std::optional<Blob> Find(const Hash128& id) const;

  // The groups with content that these rows name, for the caller to put; those that others have
  // taken have been put when it returns. Requires: the caller holds no group.
  std::vector<Group> TakeWith(std::span<const Item> rows);
  // All groups, likewise.
  std::vector<Group> TakeAll();

 private:
  struct Waiting {
    Blob blob;
    ContentKind kind = ContentKind::kCode;
    bool taken = false;
  };
  struct Open {
    std::vector<Item> items;
    uint64_t bytes = 0;
  };

  Group TakeKind(ContentKind kind) KILN_REQUIRES(mutex_);
  void GiveBack(std::vector<Item>& items);
  void Forget(std::span<const Item> items);

  mutable Mutex mutex_;
  CondVar put_;
  std::unordered_map<Hash128, Waiting, Hash128Hash> waiting_ KILN_GUARDED_BY(mutex_);
  std::array<Open, kContentKindCount> open_ KILN_GUARDED_BY(mutex_);
};

}  // namespace kiln::cache
