// SPDX-License-Identifier: MIT
// Plain types of server/compile -> messages of replies. What is said is bounded, whatever a source
// or an author named: see spec/daemon 3, 7.3
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/kiln/v1/batch.pb.h"
#include "proto/kiln/v1/common.pb.h"
#include "proto/kiln/v1/compile.pb.h"
#include "proto/kiln/v1/diagnostic.pb.h"
#include "server/compile/batch/batch.h"
#include "server/compile/batch/merged_failures.h"
#include "server/compile/request.h"

namespace kiln::rpc {

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
