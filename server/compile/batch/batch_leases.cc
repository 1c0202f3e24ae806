// SPDX-License-Identifier: MIT
// What keeps the results and sources of a batch from eviction while it runs (spec/daemon 7.2,
// spec/cache 8.4), and the pin that keeps them behind it.
#include "server/compile/batch/batch_leases.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cache/key.h"

namespace kiln::compile {
namespace {

constexpr Duration kRenewLease = std::chrono::minutes(1);

// Under which the leases of a run are held, and the note of its pin.
std::string NameOf(const BatchRun& run) { return "batch " + run.id.hex(); }

// The list of files to include, and the files: they may be needed again. Requires a set that is
// shared by all programs of a batch: a list of 20,000 files is read once.
void AddIncluded(const BatchContext& context, const HlslInputs& inputs, const cache::Call& call,
                 std::set<cache::Key>& sources) {
  std::shared_ptr<const FileList> files = inputs.files;
  if (inputs.list.has_value()) {
    const cache::Key key = cache::ContentKey(*inputs.list);
    if (!sources.insert(key).second) {
      return;  // programs of a manifest share one
    }
    if (files == nullptr) {
      const Result<cache::Blob> text = context.store.Get(key, call);
      Result<FileList> list = text.ok() ? FileList::Read(AsText(text->bytes)) : text.error();
      files = list.ok() ? std::make_shared<const FileList>(std::move(list).value()) : nullptr;
    }
  }
  if (files != nullptr) {
    for (const ListedFile& file : files->files()) {
      sources.insert(cache::ContentKey(file.digest));
    }
  }
}

}  // namespace

// One chunk in a minute renews the lease for all of them: it notes that first, so that no other
// begins meanwhile.
void HoldLeases(const BatchContext& context, BatchRun& run, const cache::Call& call) {
  if (context.options.leases == nullptr) {
    return;
  }
  {
    const MutexLock lock(run.mutex);
    const Duration now = context.clock.Monotonic();
    if (run.held_at != Duration::min() && now - run.held_at < kRenewLease) {
      return;
    }
    run.held_at = now;
  }
  (void)context.options.leases->Hold(NameOf(run));  // without a database nothing is evicted
  std::set<cache::Key> sources;  // no record names them: to be asked for is to be leased
  for (const BatchProgram& program : run.request.programs) {
    for (const Source& source : program.program.sources) {
      sources.insert(cache::ContentKey(source.digest));
    }
    AddIncluded(context, program.program.hlsl, call, sources);
  }
  // FindMissing is called for its effect: what it reports as present is leased (spec/cache 5.1).
  // Sources that are missing show when they are asked for.
  (void)context.store.FindMissing(std::vector<cache::Key>(sources.begin(), sources.end()), call);
}

// Runs out ten minutes later (spec/cache 8.4).
void ReleaseLeases(const BatchContext& context, const BatchRun& run) {
  if (context.options.leases != nullptr) {
    (void)context.options.leases->Release(NameOf(run));
  }
}

// What memory has and the database has not, because somebody emptied that, no pin can hold: it
// counts as not stored.
void PinResults(const BatchContext& context, BatchRun& run) {
  std::vector<cache::Key> keys;
  {
    const MutexLock lock(run.mutex);
    if (run.Over()) {
      return;
    }
    const BatchResults results = run.Told();
    for (size_t i = 0; i < results.size(); ++i) {
      keys.push_back(
          {.level = cache::Level::kSignature, .space = 0, .id = results.Row(i).signature});
    }
  }
  const Result<uint64_t> pinned =
      context.options.pins == nullptr
          ? Error{.code = ErrorCode::kFailedPrecondition,
                  .context = "results are kept in memory only",
                  .reason = std::string(cache::kReadOnly)}
          : context.options.pins->Add(
                {.name = run.request.pin, .note = NameOf(run), .owner = run.pin_owner}, keys);
  // Of the keys that were given, so many had no row.
  const uint64_t lost = pinned.ok() ? keys.size() - std::min<uint64_t>(*pinned, keys.size()) : 0;
  if (pinned.ok() && lost == 0) {
    return;
  }
  const Error why =
      pinned.ok()
          ? Error{.code = ErrorCode::kDataLoss,
                  .context = fmt::format(
                      "{} of {} results are in the memory of kilnd and not in its cache any "
                      "more; stop it with 'kiln stop' and build again",
                      lost, keys.size()),
                  .reason = "NOT_STORED"}
          : pinned.error();
  const std::string said = "pin '" + run.request.pin + "': " + why.context;
  const MutexLock lock(run.mutex);
  run.Add({.kind = BatchEvent::Kind::kMessage, .text = said});
  run.NoteUnstored(pinned.ok() ? lost : keys.size(), {.code = why.code, .context = said});
}

}  // namespace kiln::compile
