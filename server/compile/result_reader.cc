// SPDX-License-Identifier: MIT
// From a record to an answer. A record is complete only if all content that it names is there; what
// is not sends the caller back to build (spec/cache 8.5).
#include "server/compile/result_reader.h"

#include <algorithm>
#include <utility>

#include "compiler/diag/encode.h"
#include "compiler/driver/stages.h"
#include "server/compile/poison.h"
#include "server/compile/product_list.h"
#include "server/compile/programs/program_preparer.h"

namespace kiln::compile {

std::optional<Outcome> ResultReader::BareOutcomeOf(const CachedResult& found,
                                                   const std::string& target,
                                                   const cache::Call& call) {
  Outcome outcome;
  outcome.artifact = ArtifactOf(*found.record, found.signature);
  if (!outcome.artifact.has_value()) {
    return std::nullopt;
  }
  outcome.artifact->target = target;
  outcome.artifact->origin = found.origin;
  std::vector<cache::Key> asked = {cache::ContentKey(outcome.artifact->metadata)};
  for (const StageCodeDigest& code : outcome.artifact->code) {
    asked.push_back(cache::ContentKey(code.digest));
  }
  // A result is complete or it is none: nobody is told of content that cannot be had. See
  // spec/cache 1.5
  const Result<std::vector<cache::Key>> missing = store_.FindMissing(asked, call);
  return missing.ok() && missing->empty() ? std::optional(std::move(outcome)) : std::nullopt;
}

Result<cache::Blob> ResultReader::ContentOf(std::span<const FreshBlob> fresh, const Digest& digest,
                                            const cache::Call& call) {
  // A handful of blobs, so a list is searched. They are at hand even if the store was too full to
  // take them.
  for (const FreshBlob& one : fresh) {
    if (one.digest == digest) {
      return one.blob;
    }
  }
  return store_.Get(cache::ContentKey(digest), call);
}

// Diagnostics are kept without lines and columns, which an edit of a comment moves: places are
// found in the texts of this request. Those of parsing and linking are the program's, not the
// record's.
Result<Outcome> ResultReader::OutcomeOf(const PreparedProgram& program, const CachedResult& found,
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
    KILN_TRY(outcome.diagnostics, PlaceAll(pool_, program, *diagnostics, call));
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
