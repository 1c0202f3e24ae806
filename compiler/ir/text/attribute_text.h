// SPDX-License-Identifier: MIT
// The text form of attributes, both ways, for generic modules and specialised variants alike.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/decls.h"
#include "compiler/ir/text/text_scanner.h"

namespace kiln::ir {

// "location(2)", "register(\"t3\", 1)", "offset 64"; `text` quotes the text of that number.
std::string AttributeText(const Attribute& attribute,
                          const std::function<std::string(uint32_t)>& text);

// The attributes that stand here, for one owner; `add_text` gives a text its number.
std::vector<Attribute> ReadAttributes(TextScanner& scanner, bool of_member, uint32_t owner,
                                      const std::function<uint32_t(std::string_view)>& add_text);

}  // namespace kiln::ir
