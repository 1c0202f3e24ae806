// SPDX-License-Identifier: MIT
// Traps of Appendix A of spec/rpl: what a source means, checked in the interpreter and on a device;
// what it is refused with; what its code says.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tests/oracle/operator_fixture.h"

namespace kiln::oracle {

class RplTraps : public OperatorFixture {
 protected:
  // `source` defines `probe`. The first outputs of result.f0, .u0 or .s0 of every pixel, in the
  // interpreter and on the device.
  static void Floats(const std::string& source, const std::vector<float>& expected);
  static void Unsigneds(const std::string& source, const std::vector<uint32_t>& expected);
  static void Signeds(const std::string& source, const std::vector<int32_t>& expected);
  // "void probe (in u1 index) { statements }"
  static std::string Probe(const std::string& statements) {
    return "void probe (in u1 index)\n{\n" + statements + "\n}\n";
  }

  // What is said about a source; entries as "vertex:main fragment:main". Empty if nothing.
  static std::string Said(const std::string& source, std::string_view entries = "");
  static std::string SaidOfModules(std::vector<std::string> sources, std::string_view entries = "");
  // With the entry point "fragment:main" around the statements.
  static std::string SaidOfCode(const std::string& statements,
                                const std::string& declarations = "");

  // Disassembly of the first entry point of a source that is right.
  static std::string Code(const std::string& source, std::string_view entries);

 private:
  static void Outputs(const std::string& source, uint32_t first,
                      const std::vector<uint32_t>& expected);
};

}  // namespace kiln::oracle
