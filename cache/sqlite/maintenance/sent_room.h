// SPDX-License-Identifier: MIT
// Room for content that no record names: for its sender as far as his share goes, and from it for
// all puts when the store is full. See spec/cache 8.4
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "cache/leases/content_room.h"
#include "cache/sqlite/store_parts.h"

namespace kiln::cache::sqlite {

// Threads: safe from any thread; no state of its own.
class SentRoom final : public ContentRoom {
 public:
  // Requires: the parts outlive this.
  explicit SentRoom(StoreParts& parts) : parts_(parts) {}

  Result<std::vector<Hash128>> Admit(std::string_view owner, std::span<const Item> contents,
                                     const Call& call) override;
  void Forget(std::span<const Hash128> contents) override;

  // Removes what whoever has most sent first, leased or not, until the store uses at most so much.
  void MakeRoom(uint64_t target_bytes, const Call& call);
  // After a put: what a record names is nobody's any more, and the rest came with a request.
  void Note(std::span<const Item> put);

 private:
  Result<void> Drop(std::vector<Hash128> ids, const Call& call);
  int64_t NowSeconds() const;

  StoreParts& parts_;
};

}  // namespace kiln::cache::sqlite
