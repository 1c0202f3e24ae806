// SPDX-License-Identifier: MIT
#include "server/build/assembler_pool.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace kiln::build {

AssemblerPool::Lease::Lease(AssemblerPool& pool, const Hash128& entry, LinkedPtr linked,
                            std::unique_ptr<driver::VariantAssembler> assembler)
    : pool_(&pool),
      entry_(entry),
      linked_(std::move(linked)),
      assembler_(std::move(assembler)),
      exceptions_(std::uncaught_exceptions()) {}

AssemblerPool::Lease::~Lease() {
  if (assembler_ == nullptr || std::uncaught_exceptions() > exceptions_) {
    return;
  }
  const uint64_t bytes = assembler_->bytes_used();
  pool_->Return({.entry = entry_,
                 .linked = std::move(linked_),
                 .assembler = std::move(assembler_),
                 .bytes = bytes});
}

AssemblerPool::Lease AssemblerPool::Take(const Hash128& entry, const LinkedPtr& linked,
                                         std::span<const resolve::EntryPoint> entries,
                                         const target::Target& target) {
  {
    const MutexLock lock(mutex_);
    const auto found = std::find_if(free_.begin(), free_.end(),
                                    [&](const Row& row) { return row.entry == entry; });
    if (found != free_.end()) {
      Row row = std::move(*found);
      free_.erase(found);
      counters_.bytes -= row.bytes;
      ++counters_.reused;
      return Lease(*this, entry, std::move(row.linked), std::move(row.assembler));
    }
    ++counters_.made;
  }
  return Lease(*this, entry, linked,
               std::make_unique<driver::VariantAssembler>(*linked->value, entries, target));
}

void AssemblerPool::Return(Row row) {
  std::list<Row> dropped;  // ends outside of the lock
  const MutexLock lock(mutex_);
  counters_.bytes += row.bytes;
  free_.push_front(std::move(row));
  while (counters_.bytes > limit_) {
    counters_.bytes -= free_.back().bytes;
    ++counters_.dropped;
    dropped.splice(dropped.begin(), free_, std::prev(free_.end()));
  }
}

AssemblerPool::Counters AssemblerPool::counters() {
  const MutexLock lock(mutex_);
  return counters_;
}

}  // namespace kiln::build
