// SPDX-License-Identifier: MIT
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
#include "compiler/base/threads/stop.h"

namespace kiln::compile {
namespace {

constexpr Duration kRenewLease = std::chrono::minutes(1);
// Content that no record names is leased for an hour from when it was put, and no longer.
constexpr Duration kPutAgain = std::chrono::minutes(30);

// Under which the leases of a run are held, and the note of its pin.
std::string NameOf(const BatchRun& run) { return "batch " + run.id.hex(); }

// A batch may take longer than a lease of its sources lasts. What is there and is put again is as
// if it had just come.
void PutAgain(const BatchContext& context, const std::set<cache::Key>& sources,
              const cache::Call& call) {
  for (const cache::Key& key : sources) {
    CheckStop();
    const Result<cache::Blob> text = context.store.Get(key, call);
    if (text.ok()) {
      const cache::Item item =
          cache::ContentItem(Digest{.id = key.id, .size = text->bytes.size()}, *text);
      (void)context.store.Put(std::span(&item, 1), cache::Durability::kRelaxed, call);
    }
  }
}

// The list of files to include, and the files: they may be needed again.
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
  bool put_again = false;
  {
    const MutexLock lock(run.mutex);
    const Duration now = context.clock.Monotonic();
    if (run.held_at != Duration::min() && now - run.held_at < kRenewLease) {
      return;
    }
    put_again = run.held_at != Duration::min() && now / kPutAgain != run.held_at / kPutAgain;
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
  (void)context.store.FindMissing(std::vector<cache::Key>(sources.begin(), sources.end()), call);
  if (put_again) {
    PutAgain(context, sources, call);
  }
}

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
