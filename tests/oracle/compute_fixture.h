// SPDX-License-Identifier: MIT
// What tests of compute programs share: how a program is run both ways, and what memory holds
// before.
#pragma once

#include <array>
#include <bit>
#include <cstring>

#include "tests/oracle/operator_fixture.h"
#include "tests/support/compute_rig.h"

namespace kiln::oracle {

class Compute : public OperatorFixture {
 protected:
  // Runs `main` of the source both ways and compares all memory. Fails the test where it differs.
  static Comparison Agree(const std::string& source, const ComputeRun& run,
                          std::vector<std::string> options = {},
                          std::string_view environment = "vulkan1.1");
  // The same where nothing is open.
  static void Decided(const std::string& source, const ComputeRun& run,
                      std::vector<std::string> options = {},
                      std::string_view environment = "vulkan1.1");

  static std::vector<std::byte> Zeros(size_t bytes) { return std::vector<std::byte>(bytes); }
  static std::vector<std::byte> Words(size_t count);    // random
  static std::vector<std::byte> Numbers(size_t count);  // floats, multiples of 1/8 in [-8, 8]
  // Texels that the format holds exactly.
  static StorageImage Image(ir::ImageFormat format, std::array<uint32_t, 3> size);
};

}  // namespace kiln::oracle
