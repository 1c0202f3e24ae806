// SPDX-License-Identifier: MIT
#include "server/rpc/messages/convert_batch.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "compiler/base/threads/stop.h"
#include "compiler/driver/fingerprint.h"
#include "server/jobs/job.h"
#include "server/rpc/messages/convert_reply.h"
#include "server/rpc/messages/convert_request.h"
#include "server/rpc/messages/message_limits.h"
#include "server/rpc/messages/request_error.h"

namespace kiln::rpc {
namespace {

// The targets of a program that the batch names; all of them if it names none. A program that has
// none of these is no part of the batch.
std::vector<compile::NamedTarget> Selected(const std::vector<compile::NamedTarget>& targets,
                                           const std::set<std::string_view>& names) {
  if (names.empty()) {
    return targets;
  }
  std::vector<compile::NamedTarget> selected;
  for (const compile::NamedTarget& target : targets) {
    if (names.contains(target.name)) {
      selected.push_back(target);
    }
  }
  return selected;
}

// Indexes of explicit variants, of all targets of the program -> of the selected ones. A variant
// of none of these is left out.
void KeepTargets(const std::vector<compile::NamedTarget>& all,
                 const std::vector<compile::NamedTarget>& selected, project::SpaceRequest& points) {
  project::SpaceRequest kept = points;
  kept.variants.clear();
  kept.warm.clear();
  kept.variant_targets.clear();
  for (size_t i = 0; i < points.variants.size(); ++i) {
    std::vector<uint32_t> targets;
    for (const uint32_t target : points.variant_targets[i]) {
      const auto found = std::ranges::find(selected, all[target].name, &compile::NamedTarget::name);
      if (found != selected.end()) {
        targets.push_back(static_cast<uint32_t>(found - selected.begin()));
      }
    }
    if (targets.empty() && !points.variant_targets[i].empty()) {
      continue;
    }
    kept.variants.push_back(std::move(points.variants[i]));
    kept.warm.push_back(points.warm[i]);
    kept.variant_targets.push_back(std::move(targets));
  }
  points = std::move(kept);
}

// A product that wraps would turn a generous budget into a tiny one.
uint64_t Saturated(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<uint64_t>::max() : product;
}

// Nobody may ask for more results than a program can have.
Result<void> CheckResults(std::string_view field, uint64_t results) {
  return results > compile::kMaxResults
             ? Result<void>(AsksTooMuch(field, "distinct results per program", compile::kMaxResults,
                                        results))
             : Result<void>();
}

// What can be said without looking into programs is checked first, so that a wrong request costs
// nothing.
Result<void> CheckSupported(const v1::StartBatchRequest& request) {
  // A batch that is stored must contain what it builds: content that it only named might be gone
  // when it is resumed.
  if (request.has_spaces_digest()) {
    return Malformed("spaces_digest", "the sender has to resolve it");
  }
  if (!request.pin().empty()) {
    KILN_TRY_VOID(CheckPinName("pin", request.pin()));
  }
  if (request.priority() > jobs::kMostUrgent) {
    return Malformed("priority", "a number from 0 to 9");
  }
  if (request.spaces_size() == 0) {
    return Malformed("spaces", "a batch has at least one program");
  }
  if (static_cast<uint64_t>(request.spaces_size()) > kMaxPrograms) {
    return AboveLimit("programs per manifest", kMaxPrograms,
                      static_cast<uint64_t>(request.spaces_size()));
  }
  KILN_TRY_VOID(CheckResults("budget.results", request.budget().results()));
  return CheckResults("explore", request.explore());
}

// Anything unknown goes on: a batch that does more than was asked for can be cancelled, one that
// stopped early has to be found out.
compile::OnError OnErrorFrom(v1::StartBatchRequest::OnError on_error) {
  return on_error == v1::StartBatchRequest::STOP           ? compile::OnError::kStop
         : on_error == v1::StartBatchRequest::STOP_PROGRAM ? compile::OnError::kStopProgram
                                                           : compile::OnError::kContinue;
}

}  // namespace

Result<compile::BatchRequest> FromProto(const v1::StartBatchRequest& request) {
  KILN_TRY_VOID(CheckSupported(request));
  KILN_TRY_VOID(CheckName("project", request.project()));
  compile::BatchRequest out{.project = request.project(),
                            .programs = {},
                            .on_error = OnErrorFrom(request.on_error()),
                            .retry_failed = request.retry_failed(),
                            .explore = request.explore(),
                            .pin = request.pin(),
                            .priority = request.priority(),
                            .quorum = request.durability() == v1::DURABILITY_QUORUM};
  if (request.budget().results() != 0) {
    out.budget.results = request.budget().results();
  }
  out.budget.variants = request.budget().variants();
  out.budget.cpu_us = Saturated(request.budget().cpu_ms(), 1000);
  out.budget.output = request.budget().output();
  const std::set<std::string_view> targets_wanted(request.targets().begin(),
                                                  request.targets().end());
  for (const v1::ProgramSpace& space : request.spaces()) {
    CheckStop();
    KILN_TRY_VOID(CheckResults("spaces.budget.results", space.budget().results()));
    KILN_TRY(ProgramAndTargets program, FromProto(space.program()));
    if (space.priority() > jobs::kMostUrgent) {
      return Malformed("spaces.priority", "a number from 0 to 9");
    }
    if (program.targets.empty()) {
      return Malformed("program.targets", "a program has at least one target");
    }
    KILN_TRY(project::SpaceRequest points,
             FromProto(space, request.has_filter() ? &request.filter() : nullptr));
    std::vector<compile::NamedTarget> targets = Selected(program.targets, targets_wanted);
    if (targets.empty()) {
      continue;
    }
    KeepTargets(program.targets, targets, points);
    out.programs.push_back({.program = std::move(program.program),
                            .space = std::move(points),
                            .targets = std::move(targets),
                            .results = space.budget().results(),
                            .variants = space.budget().variants(),
                            .priority = space.priority(),
                            .family = space.family()});
  }
  // Names that are in no program are likely to be mistakes of typing; a batch of nothing would end
  // at once and look well.
  if (out.programs.empty()) {
    return Malformed("targets", "no program has a target of these names");
  }
  // Programs of the same priority stay in the order of the manifest.
  std::ranges::stable_sort(out.programs, std::greater(), &compile::BatchProgram::priority);
  return out;
}

// Maps of a message have no order of their own, and the id of a batch is a hash of these bytes.
std::string CanonicalBytes(const google::protobuf::Message& message) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    message.SerializeToCodedStream(&coded);
  }
  return bytes;
}

Hash128 BatchIdOf(const v1::StartBatchRequest& request) {
  v1::StartBatchRequest canonical = request;
  canonical.clear_detach();  // who watches does not change what is built
  canonical.clear_priority();
  for (v1::ProgramSpace& space : *canonical.mutable_spaces()) {
    CheckStop();
    for (v1::SourceRef& ref : *space.mutable_program()->mutable_sources()) {
      // A source is named by its digest, whether it came inline or not: the same batch has one id
      // in both forms.
      if (!ref.has_digest()) {
        ToProto(DigestOf(std::string_view(ref.inline_())), *ref.mutable_digest());
      }
      ref.clear_inline_();
    }
  }
  std::string bytes = CanonicalBytes(canonical);
  // Another build may make other results, so a batch of it is another batch.
  for (const driver::FrontEnd& front : driver::kFrontEnds) {
    bytes += IdBytes(driver::FrontFingerprint(front.language));
  }
  bytes += IdBytes(driver::BackFingerprint());
  return HashBytes(AsBytes(bytes));
}

Result<compile::BatchRequest> BatchFromSpec(const Hash128& id, ByteView spec) {
  v1::StartBatchRequest request;
  // The id is the hash of the row, so a damaged row cannot pass for a batch. Nothing else of the
  // database is believed either: the request is checked like one from the wire.
  if (spec.size() > kMaxStoredRequest ||
      !request.ParseFromArray(spec.data(), static_cast<int>(spec.size())) ||
      BatchIdOf(request) != id) {
    return Error{.code = ErrorCode::kDataLoss,
                 .context = "the row of batch " + id.hex() + " is of another build, or damaged",
                 .reason = "DAMAGED"};
  }
  return FromProto(request);
}

}  // namespace kiln::rpc
