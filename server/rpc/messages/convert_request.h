// SPDX-License-Identifier: MIT
// Messages of requests -> plain types of server/compile: sources, targets, options, programs and
// their spaces. What comes in is hostile: everything is checked here, and behind this file nothing
// knows protobuf. Long lists ask CheckStop and are charged while they are read. See spec/daemon 3,
// 10, 11.6
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/clock.h"
#include "compiler/base/result.h"
#include "proto/kiln/v1/batch.pb.h"
#include "proto/kiln/v1/common.pb.h"
#include "proto/kiln/v1/compile.pb.h"
#include "server/compile/request.h"
#include "server/project/space.h"

namespace kiln::rpc {

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
// Names that are printed and stored, of projects, programs and entry points: at most
// kMaxNameOfRequest bytes, printable (IsPrintable). Errors: Malformed.
Result<void> CheckName(std::string_view field, std::string_view name);
// Of a pin that is made: not empty, at most kMaxPinName bytes, printable (IsPrintable). Errors:
// kInvalidArgument, naming the field.
Result<void> CheckPinName(std::string_view field, const std::string& name);
// Of a pin that may be there, of an earlier version too: printable or not.
Result<void> CheckPinLength(std::string_view field, const std::string& name);
Result<Hash128> IdFromProto(std::string_view field, const std::string& bytes);
Result<resolve::OptionSetting> FromProto(const v1::OptionValue& value);
Result<compile::Source> FromProto(const v1::SourceRef& ref);
Result<compile::NamedTarget> FromProto(const v1::Target& target);
Result<ProgramAndTargets> FromProto(const v1::Program& program);
// The axes of a space; a filter, if there is one, keeps only variants where it is true.
Result<project::SpaceRequest> FromProto(const v1::ProgramSpace& space,
                                        const v1::Expression* filter);

}  // namespace kiln::rpc
