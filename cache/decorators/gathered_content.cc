// SPDX-License-Identifier: MIT
// An open group per kind, and all that waits by its id.
#include "cache/decorators/gathered_content.h"

#include <set>
#include <utility>

#include "cache/compression/content_blocks.h"
#include "compiler/base/threads/thread.h"

namespace kiln::cache {
namespace {

// What may wait of a kind when nobody can put it.
constexpr uint64_t kMostWaiting = 8 * kBlockBytes;

}  // namespace

GatheredContent::Group::~Group() {
  if (gathered_ != nullptr && !CatchAll([&] { gathered_->GiveBack(items_); }).ok()) {
    gathered_->Forget(items_);
  }
}

void GatheredContent::Group::Done() { std::exchange(gathered_, nullptr)->Forget(items_); }

GatheredContent::Group GatheredContent::TakeKind(ContentKind kind) {
  Open& open = open_[static_cast<size_t>(kind)];
  for (const Item& item : open.items) {
    // What is being put stays findable until it is in the store. `taken` tells who comes with a row
    // that it must wait.
    waiting_[item.key.id].taken = true;
  }
  return {*this, std::exchange(open, {}).items};
}

std::vector<GatheredContent::Group> GatheredContent::Add(std::span<const Item> contents) {
  std::vector<Group> full;
  const MutexLock lock(mutex_);
  for (const Item& item : contents) {
    const ContentKind kind = ContentKindOf(item.value.bytes);
    // Waits already, or is being put; a second copy is not needed.
    if (!waiting_.try_emplace(item.key.id, Waiting{.blob = item.value, .kind = kind}).second) {
      continue;
    }
    Open& open = open_[static_cast<size_t>(kind)];
    // The block is full: whoever adds gets the group to put, outside of the mutex.
    if (open.bytes != 0 && open.bytes + item.value.bytes.size() > kBlockBytes) {
      full.reserve(full.size() + 1);  // no group may be lost under the mutex
      full.push_back(TakeKind(kind));
    }
    open.bytes += item.value.bytes.size();
    open.items.push_back(item);
  }
  return full;
}

std::optional<Blob> GatheredContent::Find(const Hash128& id) const {
  const MutexLock lock(mutex_);
  const auto found = waiting_.find(id);
  return found == waiting_.end() ? std::nullopt : std::optional(found->second.blob);
}

// Those that others put now are waited for: a row must not overtake what it names. They wait for
// the store alone, and whoever waits here has taken nothing yet, so nobody waits in a circle.
std::vector<GatheredContent::Group> GatheredContent::TakeWith(std::span<const Item> rows) {
  std::vector<Group> groups;
  groups.reserve(kContentKindCount);  // none may be lost under the mutex
  const MutexLock lock(mutex_);
  for (;;) {
    std::set<ContentKind> kinds;
    bool being_put = false;
    for (const Item& row : waiting_.empty() ? std::span<const Item>() : rows) {
      // All contents of a kind go together, even if the rows name one of them: they are one block.
      for (const Hash128& id : row.refs) {
        if (const auto found = waiting_.find(id); found != waiting_.end()) {
          being_put = being_put || found->second.taken;
          kinds.insert(found->second.kind);
        }
      }
    }
    if (being_put) {
      put_.Wait(mutex_);
      continue;
    }
    for (const ContentKind kind : kinds) {
      groups.push_back(TakeKind(kind));
    }
    return groups;
  }
}

std::vector<GatheredContent::Group> GatheredContent::TakeAll() {
  std::vector<Group> groups;
  groups.reserve(kContentKindCount);
  const MutexLock lock(mutex_);
  std::vector<Hash128> being_put;
  for (const auto& [id, waiting] : waiting_) {
    if (waiting.taken) {
      being_put.push_back(id);
    }
  }
  // Waits for those that others are putting now, each by its id, because the table changes while
  // this waits.
  for (const Hash128& id : being_put) {
    for (auto found = waiting_.find(id); found != waiting_.end() && found->second.taken;
         found = waiting_.find(id)) {
      put_.Wait(mutex_);
    }
  }
  for (uint32_t kind = 0; kind < kContentKindCount; ++kind) {
    if (!open_[kind].items.empty()) {
      groups.push_back(TakeKind(static_cast<ContentKind>(kind)));
    }
  }
  return groups;
}

void GatheredContent::Forget(std::span<const Item> items) {
  const MutexLock lock(mutex_);
  for (const Item& item : items) {
    waiting_.erase(item.key.id);
  }
  put_.NotifyAll();
}

// What may throw comes before the first change.
void GatheredContent::GiveBack(std::vector<Item>& items) {
  const MutexLock lock(mutex_);
  for (Open& open : open_) {
    open.items.reserve(open.items.size() + items.size());
  }
  for (Item& item : items) {
    const auto waiting = waiting_.find(item.key.id);
    Open& open = open_[static_cast<size_t>(waiting->second.kind)];
    // The store refuses for a long time; beyond this bound contents are dropped instead of kept in
    // memory.
    if (open.bytes > kMostWaiting) {
      waiting_.erase(waiting);
      continue;
    }
    waiting->second.taken = false;
    open.bytes += item.value.bytes.size();
    open.items.push_back(std::move(item));
  }
  put_.NotifyAll();
}

}  // namespace kiln::cache
