// SPDX-License-Identifier: MIT
// Messages of the wire <-> plain types of server/compile. What comes in is hostile: everything is
// checked here, and behind this file nothing knows protobuf. See spec/daemon 3, 10, 11.6
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/bounded_pins.h"
#include "compiler/base/clock.h"
#include "compiler/base/result.h"
#include "proto/kiln/v1/batch.pb.h"
#include "proto/kiln/v1/common.pb.h"
#include "proto/kiln/v1/compile.pb.h"
#include "proto/kiln/v1/diagnostic.pb.h"
#include "server/compile/batch.h"
#include "server/compile/merged_failures.h"
#include "server/compile/request.h"

namespace kiln::rpc {

// Limits of class S (spec/daemon 10). Sizes in bytes.
inline constexpr uint64_t kMaxStreamMessage = uint64_t{1} << 20;
inline constexpr uint64_t kMaxInlineSource = uint64_t{256} << 10;
inline constexpr uint64_t kMaxSourceFile = uint64_t{4} << 20;
inline constexpr uint64_t kMaxSourceSet = uint64_t{512} << 20;
inline constexpr uint64_t kMaxSourceFiles = 20'000;                // of a manifest, as one upload
inline constexpr uint64_t kMaxStoredRequest = uint64_t{64} << 20;  // one that came by spaces_digest
inline constexpr uint64_t kMaxSources = 256;
inline constexpr uint64_t kMaxPrograms = 20'000;
inline constexpr uint64_t kMaxListedPrograms = 1'000;
inline constexpr uint64_t kMaxAxisValues = 4096;
inline constexpr uint64_t kMaxExpression = 4096;
inline constexpr uint64_t kMaxDigests = 10'000;
inline constexpr uint64_t kMaxPackEntries = 1'000'000;
inline constexpr uint64_t kMaxPinName = cache::kMaxPinName;
inline constexpr uint64_t kMaxRecipes = 8;
// What one stream of replies may hold in memory for its reader (spec/daemon 2.7).
inline constexpr uint64_t kMaxStreamBuffer = uint64_t{4} << 20;
inline constexpr uint64_t kMaxTargets = 64;
inline constexpr uint64_t kMaxAxes = 4096;         // of a program: as many as it may have options
inline constexpr uint64_t kMaxExpressions = 4096;  // of a program, exclusions and requirements
// Of a unary reply whose size follows from what a request names and not from its own.
inline constexpr uint64_t kMaxReply = uint64_t{64} << 20;

// Bytes of all labels of readers in a ListOptionsReply. Each has the path of its source, so a short
// request could ask for a reply that is a hundred times as long, and longer than what clients take
// (4 MiB unless they say otherwise); readers beyond are left out.
inline constexpr uint64_t kMaxReaderLabels = uint64_t{2} << 20;

// path_hint of an upload that is no source but the spaces of a batch.
inline constexpr std::string_view kSpacesHint = ":spaces";

// Reasons of errors that are decided here; see proto/kiln/v1/README.md.
inline constexpr std::string_view kMalformed = "MALFORMED_REQUEST";
inline constexpr std::string_view kLimitExceeded = "LIMIT_EXCEEDED";
inline constexpr std::string_view kNotBuiltIn = "NOT_BUILT_IN";

Error Malformed(std::string_view field, std::string_view what);
Error NotBuiltIn(std::string_view what);
// kResourceExhausted, LIMIT_EXCEEDED.
Error AboveLimit(std::string_view limit, uint64_t max, uint64_t actual);
// The same about a number that `field` asks for: kInvalidArgument.
Error AsksTooMuch(std::string_view field, std::string_view limit, uint64_t max, uint64_t actual);
// The field that an error of Malformed named, dotted; empty for any other error.
std::string FieldOf(const Error& error);
// What an error of AboveLimit said, for the detail of the reply; nothing for any other error.
struct LimitHit {
  std::string limit;
  uint64_t max = 0, actual = 0;
};
std::optional<LimitHit> LimitOf(const Error& error);

// A program of the wire with the targets it is for.
struct ProgramAndTargets {
  compile::ProgramRequest program;
  std::vector<compile::NamedTarget> targets;
};

// All of these: kInvalidArgument for what is malformed, kResourceExhausted with LIMIT_EXCEEDED,
// kUnimplemented with NOT_BUILT_IN.
Result<Digest> FromProto(const v1::Digest& digest);
// At most a year, which every clock can add. Errors: kInvalidArgument, naming the field.
Result<Duration> DurationFromMs(std::string_view field, uint64_t milliseconds);
// Not empty, at most kMaxPinName bytes. Errors: kInvalidArgument, naming the field.
// Names that are printed and stored, of projects, programs and entry points: at most 1,024 bytes,
// printable (IsPrintable). Errors: Malformed.
inline constexpr size_t kMaxNameOfRequest = 1024;
Result<void> CheckName(std::string_view field, std::string_view name);
Result<void> CheckPinName(std::string_view field, const std::string& name);
Result<Hash128> IdFromProto(std::string_view field, const std::string& bytes);
Result<resolve::OptionSetting> FromProto(const v1::OptionValue& value);
Result<compile::Source> FromProto(const v1::SourceRef& ref);
Result<compile::NamedTarget> FromProto(const v1::Target& target);
Result<ProgramAndTargets> FromProto(const v1::Program& program);
// The axes of a space; a filter, if there is one, keeps only variants where it is true.
Result<project::SpaceRequest> FromProto(const v1::ProgramSpace& space,
                                        const v1::Expression* filter);
Result<compile::BatchRequest> FromProto(const v1::StartBatchRequest& request);

// The same bytes for equal messages, maps too.
std::string CanonicalBytes(const google::protobuf::Message& message);

// The request that was kept under an id. Errors: kDataLoss if it is malformed, or of another build.
Result<compile::BatchRequest> BatchFromSpec(const Hash128& id, ByteView spec);

// Names a request: equal requests of one build have equal ids, however their sources travel.
Hash128 BatchIdOf(const v1::StartBatchRequest& request);

void ToProto(const Digest& digest, v1::Digest& out);
v1::EntryPoint::Stage StageTo(const std::optional<ir::Stage>& stage);
std::string IdBytes(const Hash128& id);
void ToProto(const resolve::OptionSetting& setting, v1::OptionValue& out);
// At most 20 errors and 100 diagnostics; the last one says how many were left out.
void ToProto(const std::vector<PlacedDiagnostic>& diagnostics, v1::Outcome& out);
// The same, with a variant that has each of them.
void ToProto(const std::vector<compile::MergedFailure>& failures, v1::Outcome& out);
void ToProto(const PlacedDiagnostic& diagnostic, v1::Diagnostic& out);
void ToProto(const compile::Outcome& outcome, v1::Outcome& out);
void ToProto(const compile::BatchProgress& progress, v1::BatchCounts& out);
void ToProto(const compile::BatchProgress& progress, v1::BatchProgress& out);
void ToProto(const compile::BatchSummary& summary, v1::Batch& out);
void ToProto(const compile::BatchEvent& event, v1::BatchEvent& out);
void ToProto(const compile::BatchItem& item, v1::BatchItem& out);
v1::Batch::State ToProto(compile::BatchState state);

}  // namespace kiln::rpc
