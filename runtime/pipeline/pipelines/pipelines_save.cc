// SPDX-License-Identifier: MIT
// A save that fails is not tried again at once: its time counts. What was made while a save ran is
// not in the file for certain, so the number is taken before.
#include "runtime/pipeline/pipelines/pipelines_save.h"

#include <chrono>

namespace kiln::runtime {
namespace {

// A crash loses a minute of compilation at most, and a save of some hundred megabytes does not run
// all the time.
constexpr std::chrono::seconds kSaveEvery{60};

}  // namespace

Result<void> SaveCache(PipelinesState& state) {
  if (state.cache == nullptr) {
    return {};
  }
  const uint64_t known = state.made.load();
  state.saved_at =
      state.clock->Monotonic();  // also of a save that fails: the next one is not at once
  KILN_TRY_VOID(state.cache->Save());
  state.made_saved = known;
  return {};
}

// True for one caller only, who then has to call SaveAndTell.
bool SaveIsDue(PipelinesState& state) {
  // The exchange comes last, or a caller that has nothing to save would keep others from saving.
  return state.cache != nullptr && state.made.load() != state.made_saved.load() &&
         state.clock->Monotonic() - state.saved_at.load() >= kSaveEvery &&
         !state.saving.exchange(true);
}

void SaveAndTell(PipelinesState& state) {
  if (const Result<void> saved = SaveCache(state); !saved.ok()) {
    state.log->Write(LogLevel::kWarning, "pipelines", "the driver cache was not saved",
                     {{"why", ErrorText(saved.error())}});
  }
  state.saving = false;
}

}  // namespace kiln::runtime
