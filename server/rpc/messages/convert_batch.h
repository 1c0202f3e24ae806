// SPDX-License-Identifier: MIT
// What StartBatch asks for: checked and turned into plain types, named by its content, and read
// again from what an earlier daemon kept. See spec/daemon 7.1
#pragma once

#include <string>
#include <string_view>

#include "compiler/base/bytes.h"
#include "compiler/base/digest.h"
#include "compiler/base/result.h"
#include "proto/kiln/v1/batch.pb.h"
#include "server/compile/batch/batch.h"

namespace kiln::rpc {

// path_hint of an upload that is no source but the spaces of a batch.
inline constexpr std::string_view kSpacesHint = ":spaces";

// Errors: kInvalidArgument for what is malformed, kResourceExhausted with LIMIT_EXCEEDED,
// kUnimplemented with NOT_BUILT_IN.
Result<compile::BatchRequest> FromProto(const v1::StartBatchRequest& request);

// The same bytes for equal messages, maps too.
std::string CanonicalBytes(const google::protobuf::Message& message);

// The request that was kept under an id. Errors: kDataLoss if it is malformed, or of another build.
Result<compile::BatchRequest> BatchFromSpec(const Hash128& id, ByteView spec);

// Names a request: equal requests of one build have equal ids, however their sources travel.
Hash128 BatchIdOf(const v1::StartBatchRequest& request);

}  // namespace kiln::rpc
