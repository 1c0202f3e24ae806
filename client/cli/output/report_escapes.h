// SPDX-License-Identifier: MIT
// Text of others (names of manifests, paths, messages of a daemon) -> text inside of a report: no
// control character that the form does not have, and nothing that the form takes for its own.
#pragma once

#include <string>
#include <string_view>

namespace kiln::cli {

std::string XmlText(std::string_view text);  // of elements and attributes

// Of a workflow command of GitHub: what stands behind its "::", or the value of a property.
std::string AnnotationText(std::string_view text);
std::string AnnotationProperty(std::string_view text);

// One line of Markdown: in a paragraph, a heading or the cell of a table, as it is; or in a span of
// code, with what encloses it. A span is not for cells, where '|' would end it.
std::string MarkdownText(std::string_view text);
std::string MarkdownCode(std::string_view text);

}  // namespace kiln::cli
