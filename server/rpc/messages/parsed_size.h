// SPDX-License-Identifier: MIT
// What the bytes of a message become in memory. Protobuf makes an object of hundreds of bytes of
// two bytes that say "an empty part", so a request of megabytes may stand for hundreds of them;
// this counts before anything is made. See SECURITY.md, "Parties"
#pragma once

#include <cstdint>

#include <google/protobuf/descriptor.h>

#include "compiler/base/bytes.h"
#include "compiler/base/result.h"

namespace kiln::rpc {

// About the bytes that the message takes once it is parsed, or a number above `most` as soon as
// that is passed. Bytes that are no message count as far as they can be read: the parser refuses
// them. Costs one look at each field.
uint64_t ParsedBytes(ByteView wire, const google::protobuf::Descriptor& type, uint64_t most);

// What is sent in earnest takes up to seven times its bytes. The constant lets through as many
// parts as lists may have (limits of 20,000), so these are refused by name.
constexpr uint64_t MostParsed(uint64_t wire) { return (uint64_t{4} << 20) + 16 * wire; }

// Errors: kInvalidArgument with MALFORMED_REQUEST, for bytes that stand for more than MostParsed.
Result<void> CheckParts(ByteView wire, const google::protobuf::Descriptor& type);

}  // namespace kiln::rpc
