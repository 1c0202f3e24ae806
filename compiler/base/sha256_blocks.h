// SPDX-License-Identifier: MIT
// The compression function of SHA-256 over whole blocks, with the instructions that the processor
// has for it. Internal to base.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace kiln {

inline constexpr size_t kSha256Block = 64;  // bytes

using Sha256State = std::array<uint32_t, 8>;

// Works `count` blocks into the state, one after the other.
void Sha256Blocks(Sha256State& state, const std::byte* blocks, size_t count);
// The same for two messages in one loop. Rounds of one message wait for each other, and those of
// two do not: on a processor with the instructions both take little more than one. Requires: two
// states.
void Sha256BlocksOfTwo(Sha256State& first, const std::byte* first_blocks, Sha256State& second,
                       const std::byte* second_blocks, size_t count);
// The same as Sha256Blocks on any processor, for tests as well.
void Sha256BlocksPlain(Sha256State& state, const std::byte* blocks, size_t count);

}  // namespace kiln
