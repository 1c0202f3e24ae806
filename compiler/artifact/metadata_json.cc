// SPDX-License-Identifier: MIT
#include "compiler/artifact/metadata_json.h"

#include <string>
#include <utility>

#include <fmt/format.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/util/json_util.h>

#include "compiler/artifact/metadata.h"
#include "proto/kiln/v1/metadata.pb.h"

namespace kiln::artifact {
namespace {

// Here the generated classes of protobuf are used, which know the names of fields; the runtime
// reads with metadata_wire.cc and links no protobuf.
using Wire = v1::PipelineMetadata;

// JSON of a message is longer than its bytes, by names and indentation, so its bound is a multiple
// of theirs.
constexpr size_t kMaxJsonBytes = 8 * kMaxMetadataBytes;

Error Invalid(std::string context) {
  return {ErrorCode::kInvalidArgument, std::move(context), "METADATA_INVALID"};
}

Result<Wire> Parse(ByteView bytes) {
  if (bytes.size() > kMaxMetadataBytes) {
    return Error{
        ErrorCode::kResourceExhausted,
        fmt::format("metadata has {} bytes, at most {} are read", bytes.size(), kMaxMetadataBytes),
        "LIMIT"};
  }
  const google::protobuf::LogSilencer quiet;  // damage is reported by the return value
  Wire wire;
  // The size fits an int, as the limit above is far below its largest value.
  if (!wire.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Invalid(fmt::format("{} bytes are not a PipelineMetadata message", bytes.size()));
  }
  return wire;
}

}  // namespace

Result<std::string> MetadataJson(ByteView bytes) {
  // Parsed from the bytes and not from the structs, so fields that this version does not use are
  // shown, too.
  KILN_TRY(const Wire wire, Parse(bytes));
  google::protobuf::util::JsonPrintOptions options;
  // A value that is the default is printed too, as whoever reads the JSON does not know defaults.
  options.always_print_primitive_fields = true;
  options.add_whitespace = true;
  std::string json;
  if (const auto status = google::protobuf::util::MessageToJsonString(wire, &json, options);
      !status.ok()) {
    return Invalid(fmt::format("metadata has no JSON form: {}", std::string(status.message())));
  }
  return json;
}

Result<Bytes> MetadataFromJson(std::string_view json) {
  if (json.size() > kMaxJsonBytes) {
    return Error{ErrorCode::kResourceExhausted,
                 fmt::format("the JSON of metadata has {} bytes, at most {} are read", json.size(),
                             kMaxJsonBytes),
                 "LIMIT"};
  }
  google::protobuf::util::JsonParseOptions options;
  // JSON may come from a later version or have been written by hand.
  options.ignore_unknown_fields = true;
  Wire wire;
  if (const auto status =
          google::protobuf::util::JsonStringToMessage({json.data(), json.size()}, &wire, options);
      !status.ok()) {
    return Invalid(fmt::format("no JSON of metadata: {}", std::string(status.message())));
  }
  // The size is computed once and the message is written where it ends up.
  Bytes bytes(wire.ByteSizeLong());
  wire.SerializeToArray(bytes.data(), static_cast<int>(bytes.size()));
  return bytes;
}

}  // namespace kiln::artifact
