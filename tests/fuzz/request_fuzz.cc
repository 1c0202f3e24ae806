// SPDX-License-Identifier: MIT
// libFuzzer: any bytes as a request of the wire. Conversion never fails otherwise than by a Result,
// and what it takes keeps the limits.
#include <cstddef>
#include <cstdint>
#include <span>

#include "compiler/base/check.h"
#include "server/rpc/messages/convert_batch.h"
#include "server/rpc/messages/convert_request.h"
#include "server/rpc/messages/message_limits.h"
#include "server/rpc/service_limits.h"

namespace {

template <class Message>
bool Parsed(Message& message, const uint8_t* data, size_t size) {
  return message.ParseFromArray(data, static_cast<int>(size));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kiln;
  if (size == 0 || size > rpc::ServiceLimits{}.request_message) {
    return 0;
  }
  const uint8_t kind = data[0] % 5;
  ++data;
  --size;
  if (v1::StartBatchRequest request; kind == 0 && Parsed(request, data, size)) {
    const auto batch = rpc::FromProto(request);
    KILN_CHECK(!batch.ok() || batch->programs.size() == static_cast<size_t>(request.spaces_size()));
    KILN_CHECK(rpc::BatchIdOf(request) == rpc::BatchIdOf(request));
  }
  if (v1::Program program; kind == 1 && Parsed(program, data, size)) {
    const auto converted = rpc::FromProto(program);
    KILN_CHECK(!converted.ok() || converted->program.sources.size() <= rpc::kMaxSources);
  }
  if (v1::ProgramSpace space; kind == 2 && Parsed(space, data, size)) {
    const auto points = rpc::FromProto(space, nullptr);
    KILN_CHECK(!points.ok() || points->variants.size() == points->variant_targets.size());
  }
  if (v1::Target target; kind == 3 && Parsed(target, data, size)) {
    const auto converted = rpc::FromProto(target);
    KILN_CHECK(!converted.ok() || !converted->name.empty());
  }
  if (kind == 4) {  // a row of the journal
    (void)rpc::BatchFromSpec({}, std::as_bytes(std::span(data, size)));
  }
  return 0;
}
