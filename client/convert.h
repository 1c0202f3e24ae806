// SPDX-License-Identifier: MIT
// Plain types of the client <-> messages of the wire. Private to client/*.cc.
#pragma once

#include <grpcpp/support/status.h>

#include "client/types.h"
#include "compiler/base/result.h"
#include "proto/kiln/v1/batch.pb.h"
#include "proto/kiln/v1/compile.pb.h"

namespace kiln::client {

void ToProto(const Program& program, v1::Program* out);
void ToProto(const Option& option, v1::OptionValue* out);
void ToProto(const ProgramSpace& space, v1::ProgramSpace* out);
// With the place that messages about it are to name.
void ToFilter(const std::string& text, v1::Expression& out);
void ToProto(const Budget& budget, v1::Budget* out);
void ToProto(const Digest& digest, v1::Digest* out);

Option FromProto(const v1::OptionValue& message);
Outcome FromProto(const v1::Outcome& message);
BatchProgress FromProto(const v1::BatchProgress& m);
BatchItem FromProto(const v1::BatchItem& message);
BatchInfo FromProto(const v1::Batch& message);
VariantCount FromProto(const v1::VariantCount& message);
VariantRow FromProto(const v1::VariantRow& message);
std::vector<PlacedDiagnostic> FromProto(
    const google::protobuf::RepeatedPtrField<v1::Diagnostic>& diagnostics);
// Errors: kInvalidArgument unless it is 16 bytes of id.
Result<Digest> FromProto(const v1::Digest& message);

std::string HexOf(const std::string& bytes);

// At most 4 KiB of what a daemon says in words, with a note that it was cut.
std::string CutText(const std::string& text);

// The status, with reason, help and missing sources from its detail.
Error FromStatus(const grpc::Status& status);

}  // namespace kiln::client
