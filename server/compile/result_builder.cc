// SPDX-License-Identifier: MIT
#include "server/compile/result_builder.h"

#include <chrono>
#include <span>

#include "cache/call_bounds.h"
#include "server/compile/programs/build_keys.h"
#include "server/jobs/job.h"

namespace kiln::compile {
namespace {

uint64_t MicrosecondsOf(Duration time) {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(time).count());
}

}  // namespace

// Nothing: `is_known` said that the result is known. Code that the store has need not be written as
// words again (kNew); if the store has lost it since, a copy is written after all.
std::optional<driver::BuildResult> ResultBuilder::Assemble(
    const ResultRequest& wanted, const driver::VariantAssembler::IsKnown& is_known,
    const cache::Call& call) {
  const PreparedProgram& program = wanted.program;
  const bool all_code = wanted.how.code == driver::ModuleSelection::kAll;
  // Assemblers that are shared remember what they lowered, and so does what comes after them. A
  // call that may not write leaves no trace there.
  const AssemblerPool::Lease assembler =
      call.may_write && wanted.how.use == ProgramUse::kManyVariants
          ? assemblers_.Take({.entry = program.entry, .family = program.family}, program.linked,
                             program.request.entries, program.target.target)
          : AssemblerPool::MakeOwn(program.linked, program.request.entries, program.target.target);
  // An assembler counts over its whole life; the difference is the work of this variant.
  const driver::VariantAssembler::Counts before = assembler->counts();
  std::optional<driver::BuildResult> built =
      assembler->BuildUnless(is_known, wanted.values, wanted.how.code);
  if (built.has_value() && built->ok() && !all_code && !recorder_.IsKept(*built->products, call)) {
    built = assembler->BuildCopy(wanted.values);
  }
  const driver::VariantAssembler::Counts after = assembler->counts();
  counters_.regions_lowered += after.regions_lowered - before.regions_lowered;
  wanted.trace.regions_lowered += after.regions_lowered - before.regions_lowered;
  counters_.modules_written += after.modules_written - before.modules_written;
  return built;
}

// A call that may not write gets an assembler of its own, and therefore looks only where there is
// something to find.
Result<CachedResultPtr> ResultBuilder::Walk(const ResultRequest& wanted, const cache::Call& call) {
  CachedResultPtr known = Poisoned(wanted, call);
  if (known != nullptr || (!call.may_write && !lookup_.HasResults(wanted.program, call))) {
    return known;
  }
  KILN_TRY_VOID(cache::WhileWanted(
      call, jobs::kCallBytes, clock_,
      [&]() -> Result<void> {
        const jobs::CrashGuard::Running running(call.may_write ? attempts_ : nullptr,
                                                ResultKey(wanted.variant));
        // The walk answers true to the question whether the result is known, whatever was found: so
        // it ends there, and nothing is built.
        (void)Assemble(
            wanted,
            [&](std::span<const driver::OptionRead> reads) {
              ++counters_.walked;
              known = lookup_.KnownSignature(wanted, SignatureKeyOf(wanted.program.entry, reads),
                                             reads, call);
              return true;
            },
            call);
        return {};
      },
      jobs::kJobCpu));
  if (known != nullptr && call.may_write) {
    recorder_.WriteKeys(wanted, known, call);
  }
  return known;
}

CachedResultPtr ResultBuilder::Poisoned(const ResultRequest& wanted, const cache::Call& call) {
  return attempts_ != nullptr && attempts_->IsPoisoned(ResultKey(wanted.variant))
             ? lookup_.KnownSignature(wanted, wanted.variant, std::nullopt, call)
             : nullptr;
}

// The assembler resolves the variant and asks, before it lowers anything, whether somebody knows
// what was read so far. Until then the attempt is noted under the variant key; from then on under
// the signature, which all variants that lead here have in common.
CachedResultPtr ResultBuilder::Compile(const ResultRequest& wanted, Duration begin,
                                       const cache::Call& call) {
  CachedResultPtr found;
  Hash128 signature;
  std::optional<jobs::CrashGuard::Running> running;
  running.emplace(attempts_, ResultKey(wanted.variant));
  std::optional<driver::BuildResult> built = Assemble(
      wanted,
      [&](std::span<const driver::OptionRead> reads) {
        ++counters_.walked;
        signature = SignatureKeyOf(wanted.program.entry, reads);
        found = lookup_.KnownSignature(wanted, signature, reads, call);
        if (found == nullptr) {  // what is built now is the same for all variants that lead here
          running.emplace(attempts_, ResultKey(signature));
        }
        return found != nullptr;
      },
      call);
  // From here on nothing of the input runs: what the store does is not to blame on it.
  running.reset();
  if (built.has_value()) {
    found = recorder_.Keep(wanted, *std::move(built), signature,
                           MicrosecondsOf(clock_.ThreadCpu() - begin), call);
  } else {
    recorder_.WriteKeys(wanted, found, call);
  }
  return found;
}

}  // namespace kiln::compile
