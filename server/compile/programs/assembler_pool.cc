// SPDX-License-Identifier: MIT
// Assemblers that are free, kept with what they have lowered. A second variant of a program is
// quick only with an assembler that built the first. Threads lease one at a time; the mutex guards
// the list.
#include "server/compile/programs/assembler_pool.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace kiln::compile {

AssemblerPool::Lease::Lease(AssemblerPool* pool, const Names& names, LinkedPtr linked,
                            std::unique_ptr<driver::VariantAssembler> assembler)
    : pool_(pool),
      names_(names),
      linked_(std::move(linked)),
      assembler_(std::move(assembler)),
      exceptions_(std::uncaught_exceptions()) {}

AssemblerPool::Lease::~Lease() {
  // An assembler that an exception left half done must not be used again. The count is compared
  // with that of the beginning, because the lease itself may live inside of an unwinding that is
  // older.
  if (pool_ == nullptr || assembler_ == nullptr || std::uncaught_exceptions() > exceptions_) {
    return;
  }
  const uint64_t bytes = assembler_->bytes_used();
  pool_->Return({.names = names_,
                 .linked = std::move(linked_),
                 .assembler = std::move(assembler_),
                 .bytes = bytes});
}

// Not of the pool, and not returned to it: for builds that must not see what others lowered.
AssemblerPool::Lease AssemblerPool::MakeOwn(const LinkedPtr& linked,
                                            std::span<const resolve::EntryPoint> entries,
                                            const target::Target& target) {
  return Lease(nullptr, {}, linked,
               std::make_unique<driver::VariantAssembler>(*linked->value, entries, target));
}

std::optional<AssemblerPool::Row> AssemblerPool::TakeFree(const Names& names,
                                                          const LinkedPtr& linked) {
  // First one that has built this very program: everything it lowered fits. Else one of the same
  // family, from before an edit, whose unchanged parts are carried over. The list is short, so it
  // is searched from the front.
  auto found = std::find_if(free_.begin(), free_.end(),
                            [&](const Row& row) { return row.names.entry == names.entry; });
  const bool reused = found != free_.end();
  if (!reused) {
    found = std::find_if(free_.begin(), free_.end(), [&](const Row& row) {
      return row.names.family == names.family && row.assembler->CanServe(*linked->value);
    });
  }
  // One that is carried over counts as made as well; Usage takes those out of the misses.
  counters_.made += reused ? 0 : 1;
  if (found == free_.end()) {
    return std::nullopt;
  }
  ++(reused ? counters_.reused : counters_.carried);
  Row row = std::move(*found);
  free_.erase(found);
  counters_.bytes -= row.bytes;
  return row;
}

AssemblerPool::Lease AssemblerPool::Take(const Names& names, const LinkedPtr& linked,
                                         std::span<const resolve::EntryPoint> entries,
                                         const target::Target& target) {
  std::optional<Row> row;
  {
    const MutexLock lock(mutex_);
    row = TakeFree(names, linked);
  }
  if (!row.has_value()) {
    return Lease(this, names, linked,
                 std::make_unique<driver::VariantAssembler>(*linked->value, entries, target));
  }
  // It goes on with the linked program that it was made for: its tables refer to that one.
  if (row->names.entry == names.entry) {
    return Lease(this, names, std::move(row->linked), std::move(row->assembler));
  }
  return Lease(this, names, linked,
               std::make_unique<driver::VariantAssembler>(*linked->value, entries, target,
                                                          std::move(*row->assembler)));
}

// To the front, because the one used last is the likeliest to be asked for again and its memory is
// warm.
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

CacheUsage AssemblerPool::Usage() {
  const MutexLock lock(mutex_);
  return {.name = "assemblers",
          .bytes = counters_.bytes,
          .max_bytes = limit_,
          .entries = free_.size(),
          .hits = counters_.reused + counters_.carried,
          .misses = counters_.made - counters_.carried};
}

}  // namespace kiln::compile
