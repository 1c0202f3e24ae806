// SPDX-License-Identifier: MIT
// What Pipelines are made of. Internal to this folder.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/base/mutex.h"
#include "compiler/base/threads/thread.h"
#include "runtime/pipeline/create/build.h"
#include "runtime/pipeline/create/build_journal.h"
#include "runtime/pipeline/create/build_queue.h"
#include "runtime/pipeline/create/debug_checks.h"
#include "runtime/pipeline/create/pipeline_factory.h"
#include "runtime/pipeline/create/warm_record.h"
#include "runtime/pipeline/create/warm_up_draws.h"
#include "runtime/pipeline/driver/binary_cache.h"
#include "runtime/pipeline/pipelines.h"
#include "runtime/vk/retire.h"

namespace kiln::runtime {

// What an id stands for at one time. Never changes.
struct Version {
  std::shared_ptr<Build> build;
  LayoutSet layouts;  // of the build, with the generation of the id
};

struct PipelineSlot {
  std::atomic<const Version*> version = nullptr;  // what is drawn with
  std::atomic<const Error*> replace_error = nullptr;
  std::atomic<uint64_t> bound = 0;
  std::atomic<uint64_t> first_frame = 0;
  std::atomic<uint64_t> order = 0;  // of the first bind among all; 0: none

  // Guarded by PipelinesState::mutex.
  std::unique_ptr<const Version> owner;
  std::shared_ptr<Build> next;                        // replaces the version when it is ready
  std::shared_ptr<Build> failed;                      // keeps replace_error alive
  std::optional<std::vector<OptionSetting>> options;  // by which it is found; nothing: it is not
};

// Slots by index; they never move, so readers need no lock.
class SlotTable {
 public:
  PipelineSlot& operator[](PipelineId id) const {
    return chunks_[id.index / kChunk].load(std::memory_order_acquire)[id.index % kChunk];
  }
  uint32_t size() const { return size_.load(std::memory_order_acquire); }

  // One thread at a time. Requires: size() < kMax.
  PipelineId Append(std::unique_ptr<const Version> version) {
    const uint32_t index = size_.load(std::memory_order_relaxed);
    KILN_CHECK(index < kMax, "{} pipelines", index);
    if (index % kChunk == 0) {
      owners_.push_back(std::make_unique<PipelineSlot[]>(kChunk));
      chunks_[index / kChunk].store(owners_.back().get(), std::memory_order_release);
    }
    PipelineSlot& slot = owners_.back()[index % kChunk];
    slot.owner = std::move(version);
    slot.version.store(slot.owner.get(), std::memory_order_release);
    size_.store(index + 1, std::memory_order_release);
    return {index};
  }

 private:
  static constexpr uint32_t kChunk = 1024;
  static constexpr uint32_t kMax = 1 << 20;

  std::array<std::atomic<PipelineSlot*>, kMax / kChunk> chunks_ = {};
  std::vector<std::unique_ptr<PipelineSlot[]>> owners_;
  std::atomic<uint32_t> size_ = 0;
};

// How builds of a ticket are made in child processes before they are queued.
struct Isolation {
  WarmTicket ticket;
  std::optional<Lane> lane;
};

struct Ticket {
  std::vector<std::shared_ptr<Build>> builds;  // none once it was waited for: nothing is kept alive
  Duration start = {};
  bool cancelled = false;
  std::optional<Isolation> isolation;  // to be done by whoever waits; threads take it themselves
  std::optional<WarmReport> report;    // once it was waited for
};

// Whether the driver compiles at the first draw.
enum class Laziness : uint8_t { kUnknown, kLazy, kEager };
// Whether FAIL_ON_PIPELINE_COMPILE_REQUIRED tells the truth. See spec/pso 7.2
enum class CacheControl : uint8_t { kUnknown, kWorks, kBroken };

struct PipelinesState {
  PipelinesState(const Device& of, const PipelinesConfig& how, uint32_t threads);

  Ticket TicketOf(WarmTicket ticket) const;  // as it is now
  bool IsCancelled(WarmTicket ticket) const;

  void Record(HitchKind kind, const Build& build, Duration duration);
  Build& BuildOf(PipelineId id) const {
    return *slots[id].version.load(std::memory_order_acquire)->build;
  }

  const Device* device;
  const PipelinesConfig config;
  bool build_on_add = false;
  NullLog silence;
  LogSink* log;
  PipelineFactory factory;
  std::unique_ptr<BinaryCache> cache;     // null: nothing is kept
  std::unique_ptr<BuildJournal> journal;  // the same
  Hash128 identity;                       // of the driver; zero: nothing is kept
  WarmRecord last_start;                  // as an earlier run has kept it
  SlotTable slots;
  LayoutFamilies families;
  std::atomic<uint64_t> frame = 0;
  std::atomic<bool> lost = false;
  std::atomic<Laziness> laziness = Laziness::kUnknown;
  std::atomic<CacheControl> cache_control = CacheControl::kUnknown;
  std::atomic<uint64_t> cache_hits = 0;
  std::atomic<uint64_t> binds = 0;    // first ones
  std::atomic<uint64_t> refused = 0;  // binds, because the pass has other formats
  SystemClock system_clock;
  Clock* clock;
  std::atomic<uint64_t> made = 0;        // pipelines by the driver
  std::atomic<uint64_t> made_saved = 0;  // of these: when the cache was saved
  std::atomic<Duration> saved_at = Duration{};
  std::atomic<bool> saving = false;

  mutable Mutex mutex;
  std::map<Hash128, std::weak_ptr<Build>> by_key KILN_GUARDED_BY(mutex);
  std::map<Hash128, PipelineId> found KILN_GUARDED_BY(mutex);  // by what Find was asked
  std::vector<std::shared_ptr<const ArtifactSource>> sources KILN_GUARDED_BY(mutex);
  std::vector<PipelineId> replacing KILN_GUARDED_BY(mutex);
  std::vector<Ticket> tickets KILN_GUARDED_BY(mutex);
  std::vector<Hitch> hitches KILN_GUARDED_BY(mutex);
  std::string current KILN_GUARDED_BY(mutex);  // name of the last one that began
  size_t saved KILN_GUARDED_BY(mutex) = 0;
  size_t replaced KILN_GUARDED_BY(mutex) = 0;

  // Of the thread that draws.
  vk::Retire retire;
  std::unique_ptr<WarmUpDraws> draws;
  uint32_t lazy_seen = 0;
  uint32_t first_uses_seen = 0;

  BuildQueue queue;  // its threads end before the rest goes

  std::atomic<bool> closing = false;
  std::vector<Thread> isolating KILN_GUARDED_BY(mutex);
};

}  // namespace kiln::runtime
