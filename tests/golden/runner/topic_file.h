// SPDX-License-Identifier: MIT
// Goldens of one topic in one file: each input behind a line with its name, and what is expected of
// it behind a line that says so. Both texts end with a line end; an input that does not is a file
// of its own.
//   //--- RPL1101.rpl
//   // run: stage=check
//   …
//   //--- expected
//   …
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::golden {

struct TopicCase {
  std::string name;  // of the input, as a file beside the topic file would be called
  std::string source;
  std::optional<std::string> expected;
};

// In the order of the file. Empty if it does not begin with a name, or says twice what is expected.
std::vector<TopicCase> ParseTopic(std::string_view text);

// The way back: ParseTopic of it gives the same cases.
std::string TopicText(const std::vector<TopicCase>& cases);

}  // namespace kiln::golden
