// SPDX-License-Identifier: MIT
// Records -> outcomes: the products and messages of a known result, with the content they name.
#include <algorithm>
#include <utility>

#include "compiler/diag/encode.h"
#include "compiler/driver/stages.h"
#include "server/compile/cached_build.h"
#include "server/compile/product_list.h"

namespace kiln::compile {

std::optional<Outcome> CachedBuild::Find(const std::string& target, const Hash128& signature,
                                         const cache::Call& call) {
  const FoundPtr found = AnyRecordOf(signature, call);
  Outcome outcome;
  outcome.artifact = found == nullptr ? std::nullopt : ArtifactOf(*found->record, signature);
  if (!outcome.artifact.has_value()) {
    return std::nullopt;
  }
  outcome.artifact->target = target;
  outcome.artifact->origin = found->origin;
  std::vector<cache::Key> asked = {cache::ContentKey(outcome.artifact->metadata)};
  for (const StageCodeDigest& code : outcome.artifact->code) {
    asked.push_back(cache::ContentKey(code.digest));
  }
  const Result<std::vector<cache::Key>> missing = store_.FindMissing(asked, call);
  return missing.ok() && missing->empty() ? std::optional(std::move(outcome)) : std::nullopt;
}

Result<cache::Blob> CachedBuild::Read(const Outcome& outcome, const Digest& digest,
                                      const cache::Call& call) {
  return ContentOf(outcome.fresh, digest, call);
}

Result<cache::Blob> CachedBuild::ContentOf(std::span<const FreshBlob> fresh, const Digest& digest,
                                           const cache::Call& call) {
  for (const FreshBlob& one : fresh) {
    if (one.digest == digest) {
      return one.blob;
    }
  }
  return store_.Get(cache::ContentKey(digest), call);
}

Result<Outcome> CachedBuild::OutcomeOf(const PreparedProgram& program, const CachedResult& found,
                                       const cache::Call& call) {
  const Origin origin = found.origin;
  const cache::Record& record = *found.record;
  Outcome outcome;
  if (const Digest* digest = record.Find("diag"); digest != nullptr) {
    KILN_TRY(const cache::Blob blob, ContentOf(found.fresh, *digest, call));
    Result<std::vector<Diagnostic>> diagnostics = DecodeDiagnostics(blob.bytes);
    if (!diagnostics.ok()) {  // as if they were not there: the result is built again
      return Error{.code = ErrorCode::kNotFound, .context = diagnostics.error().context};
    }
    driver::FillPositions(program.program(), *diagnostics);
    SortAndMerge(*diagnostics);
    KILN_TRY(outcome.diagnostics, PlaceAll(program, *diagnostics, call));
  }
  outcome.diagnostics.insert(outcome.diagnostics.begin(), program.diagnostics.begin(),
                             program.diagnostics.end());
  SortForReading(outcome.diagnostics);
  if (record.kind != cache::RecordKind::kOk) {
    outcome.kind = record.kind == cache::RecordKind::kLimit    ? OutcomeKind::kLimit
                   : record.kind == cache::RecordKind::kPoison ? OutcomeKind::kPoison
                                                               : OutcomeKind::kSourceError;
    outcome.from_negative_cache = origin != Origin::kCompiled;
    if (outcome.kind == OutcomeKind::kPoison) {
      outcome.diagnostics.push_back(PoisonDiagnostic("this variant"));
    }
    return outcome;
  }
  std::optional<Artifact> artifact = ArtifactOf(record, found.signature);
  if (!artifact.has_value()) {
    return Error{.code = ErrorCode::kCorrupt, .context = "a record without metadata", .reason = {}};
  }
  artifact->target = program.target.name;
  artifact->origin = origin;
  artifact->stored = found.stored;
  outcome.artifact = std::move(artifact);
  outcome.fresh = found.fresh;
  return outcome;
}

}  // namespace kiln::compile
