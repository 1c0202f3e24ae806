// SPDX-License-Identifier: MIT
// Assemblers that are not in use, by the entry id that they serve, least recently used first out,
// bounded in bytes. An assembler is lent to one thread at a time, so several workers on one entry
// have several of them. After an edit the assembler of the sources before goes
// on with the new ones, as far as they declare the same things. See spec/architecture 10.7
//
// Threads: all functions may run concurrently, and leases may end on any thread. One mutex guards
// the list; assemblers are made and dropped outside of it.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>

#include "compiler/base/cache_usage.h"
#include "compiler/base/digest.h"
#include "compiler/base/mutex.h"
#include "compiler/driver/variant_assembler.h"

namespace kiln::compile {

class AssemblerPool final : public CountedCache {
 public:
  using LinkedPtr = std::shared_ptr<const Diagnosed<driver::LinkedProgram>>;

  // `limit`: bytes of assemblers kept. One that alone takes more is dropped after use.
  explicit AssemblerPool(uint64_t limit) : limit_(limit) {}

  struct Names {
    Hash128 entry;   // program, entry points and target
    Hash128 family;  // the same, but names of the sources instead of what is in them
  };

  // An assembler for the time of the lease. It goes back when the lease ends, unless an exception
  // ends it: what threw may have left it half done.
  class Lease {
   public:
    Lease(Lease&& other) noexcept = default;
    ~Lease();
    driver::VariantAssembler& operator*() const { return *assembler_; }
    driver::VariantAssembler* operator->() const { return assembler_.get(); }

   private:
    friend class AssemblerPool;
    Lease(AssemblerPool* pool, const Names& names, LinkedPtr linked,
          std::unique_ptr<driver::VariantAssembler> assembler);

    AssemblerPool* pool_;  // null: it ends with the lease
    Names names_;
    LinkedPtr linked_;  // outlives the assembler
    std::unique_ptr<driver::VariantAssembler> assembler_;
    int exceptions_;
  };

  // Made if none of this entry is free; of what a free one of the family has, if there is one.
  Lease Take(const Names& names, const LinkedPtr& linked,
             std::span<const resolve::EntryPoint> entries, const target::Target& target);

  // One that nobody used before and nobody will use again.
  static Lease MakeOwn(const LinkedPtr& linked, std::span<const resolve::EntryPoint> entries,
                       const target::Target& target);

  struct Counters {
    uint64_t made = 0;
    uint64_t reused = 0;
    uint64_t carried = 0;  // made of one of the family
    uint64_t dropped = 0;  // for their bytes
    uint64_t bytes = 0;    // of free ones
  };
  Counters counters();
  CacheUsage Usage() override;

 private:
  struct Row {
    Names names;
    LinkedPtr linked;
    std::unique_ptr<driver::VariantAssembler> assembler;
    uint64_t bytes = 0;
  };

  void Return(Row row);
  std::optional<Row> TakeFree(const Names& names, const LinkedPtr& linked) KILN_REQUIRES(mutex_);

  const uint64_t limit_;
  Mutex mutex_;
  std::list<Row> free_ KILN_GUARDED_BY(mutex_);  // most recently used first
  Counters counters_ KILN_GUARDED_BY(mutex_);
};

}  // namespace kiln::compile
