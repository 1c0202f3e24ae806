// SPDX-License-Identifier: MIT
// Writes the common case of an outcome as bytes of the protocol without a message: a fetch of fifty
// thousand results makes that many, and messages of them cost more than the rest. Bytes must be
// those that the message would have; a test compares the two (outcome_bytes_test).
#include "server/rpc/messages/outcome_bytes.h"

#include <span>
#include <string_view>

#include "compiler/base/check.h"
#include "proto/kiln/v1/compile.pb.h"
#include "server/rpc/messages/convert_reply.h"
#include "server/rpc/messages/wire.h"

namespace kiln::rpc {
namespace {

void AppendPart(std::span<const uint8_t> part, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(part.data()), part.size());
}

void AppendText(int field, std::string_view text, std::string& bytes) {
  AppendPart(WireHead().Length(field, text.size()).bytes(), bytes);
  bytes += text;
}

// Fields as proto3 writes them: zero or empty ones are left out.
WireHead& AddNumber(int field, uint64_t value, WireHead& head) {
  return value == 0 ? head : head.Number(field, value);
}

void AppendTextUnlessEmpty(int field, std::string_view text, std::string& bytes) {
  if (!text.empty()) {
    AppendText(field, text, bytes);
  }
}

WireHead DigestBytes(const Digest& digest) {
  WireHead head;
  head.Bytes(v1::Digest::kIdFieldNumber, digest.id.bytes);
  return AddNumber(v1::Digest::kSizeFieldNumber, digest.size, head);
}

// Fields in the order of their numbers, as messages are serialized.
void AppendArtifact(const compile::Artifact& artifact, std::string& bytes) {
  using Field = v1::Artifact;
  AppendTextUnlessEmpty(Field::kTargetFieldNumber, artifact.target, bytes);
  for (const compile::StageCodeDigest& code : artifact.code) {
    WireHead stage;
    AddNumber(v1::StageCode::kStageFieldNumber, static_cast<uint64_t>(StageTo(code.stage)), stage);
    stage.Bytes(v1::StageCode::kDigestFieldNumber, DigestBytes(code.digest).bytes());
    AppendPart(WireHead().Bytes(Field::kCodeFieldNumber, stage.bytes()).bytes(), bytes);
  }
  const WireHead metadata = DigestBytes(artifact.metadata);
  AppendPart(WireHead().Bytes(Field::kMetadataFieldNumber, metadata.bytes()).bytes(), bytes);
  for (const std::string& name : artifact.live_options) {
    AppendText(Field::kLiveOptionsFieldNumber, name, bytes);
  }
  WireHead rest;
  rest.Bytes(Field::kLayoutHashFieldNumber, artifact.layout_hash.bytes);
  rest.Bytes(Field::kStateIdFieldNumber, artifact.state_id.bytes);
  rest.Bytes(Field::kSignatureFieldNumber, artifact.signature.bytes);
  AddNumber(Field::kOriginFieldNumber, static_cast<uint64_t>(artifact.origin), rest);
  AddNumber(Field::kStoredFieldNumber, artifact.stored ? 1 : 0, rest);
  AddNumber(Field::kCpuUsFieldNumber, artifact.cpu_us, rest);
  AppendPart(rest.bytes(), bytes);
  AppendTextUnlessEmpty(Field::kBuildIdFieldNumber, artifact.build_id, bytes);
}

}  // namespace

// What can be written here; everything else goes through the message.
bool IsPlain(const compile::Outcome& outcome) {
  return outcome.kind == compile::OutcomeKind::kOk && outcome.artifact.has_value() &&
         outcome.diagnostics.empty() && !outcome.from_negative_cache;
}

void AppendOutcome(const compile::Outcome& outcome, uint64_t index, std::string& bytes) {
  KILN_CHECK(IsPlain(outcome));
  // The artifact is written first and its length inserted before it. That moves some hundred bytes,
  // and is less than computing the length beforehand.
  const size_t begin = bytes.size();
  AppendArtifact(*outcome.artifact, bytes);
  WireHead head;
  head.Number(v1::Outcome::kKindFieldNumber, v1::Outcome::OK);
  head.Length(v1::Outcome::kArtifactsFieldNumber, bytes.size() - begin);
  bytes.insert(begin, reinterpret_cast<const char*>(head.bytes().data()), head.bytes().size());
  WireHead end;
  AppendPart(AddNumber(v1::Outcome::kIndexFieldNumber, index, end).bytes(), bytes);
}

}  // namespace kiln::rpc
