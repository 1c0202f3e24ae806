// SPDX-License-Identifier: MIT
// What can be wrong with a pack: each error says where and what to do. See spec/cache 10.11
#pragma once

#include <string>
#include <string_view>

#include "compiler/base/result.h"

namespace kiln::pack {

inline constexpr std::string_view kNotAPack = "PACK_NOT_A_PACK";
inline constexpr std::string_view kNeedsNewer = "PACK_NEEDS_NEWER";
inline constexpr std::string_view kTooOld = "PACK_TOO_OLD";
inline constexpr std::string_view kTruncated = "PACK_TRUNCATED";
inline constexpr std::string_view kCorrupt = "PACK_CORRUPT";
inline constexpr std::string_view kBaseMissing = "PACK_BASE_MISSING";
inline constexpr std::string_view kBlockMissing = "PACK_BLOCK_MISSING";
inline constexpr std::string_view kSignatureMissing = "PACK_SIGNATURE_MISSING";
inline constexpr std::string_view kSignatureBad = "PACK_SIGNATURE_BAD";
inline constexpr std::string_view kLimit = "PACK_LIMIT";

inline Error PackError(std::string_view reason, std::string context) {
  const ErrorCode code = reason == kLimit ? ErrorCode::kResourceExhausted
                         : reason == kNeedsNewer || reason == kTooOld ? ErrorCode::kUnimplemented
                         : reason == kBaseMissing ? ErrorCode::kFailedPrecondition
                                                  : ErrorCode::kCorrupt;
  return {.code = code, .context = std::move(context), .reason = std::string(reason)};
}

}  // namespace kiln::pack
