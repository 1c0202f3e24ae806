// SPDX-License-Identifier: MIT
// An independent compiler: rows of meaning_rows that glslang reads are run in both forms on one
// device. Where the results differ in a bit, glslang_differs.txt says why; a line of it that no row
// needs fails.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <regex>

#include <fmt/format.h>

#include "tests/hlsl/glslang_reader.h"
#include "tests/hlsl/meaning_rows.h"
#include "tests/hlsl/meaning_run.h"
#include "tests/oracle/operator_fixture.h"

namespace kiln::hlsl {
namespace {

// A line of the list: what it is about, and which rows, by a regular expression over their names.
struct Listed {
  std::string kind;  // "refuses" or "differs"
  std::string pattern;
  std::regex rows;
  uint32_t uses = 0;
};

std::vector<Listed> ReadList() {
  std::ifstream file(KILN_SOURCE_DIR "/tests/hlsl/glslang_differs.txt");
  std::vector<Listed> list;
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find('|');
    const size_t second = line.find('|', first + 1);
    if (!line.starts_with('#') && second != std::string::npos) {
      const std::string pattern = line.substr(first + 1, second - first - 1);
      list.push_back({line.substr(0, first), pattern, std::regex(pattern)});
    }
  }
  return list;
}

class Glslang : public oracle::OperatorFixture {
 protected:
  void SetUp() override { list_ = ReadList(); }

  bool IsListed(std::string_view kind, const MeaningRow& row) {
    bool found = false;
    for (Listed& listed : list_) {
      if (listed.kind == kind && std::regex_match(row.name, listed.rows)) {
        ++listed.uses;
        found = true;
      }
    }
    return found;
  }

  // "refuses", "differs" or nothing, for rows that are run together.
  static std::string Compare(std::vector<MeaningRow>::const_iterator begin,
                             std::vector<MeaningRow>::const_iterator end) {
    const std::string source = ProgramOf(begin, end);
    const ReadByGlslang other = CompileWithGlslang(source);
    if (other.words.empty()) {
      return "refuses";
    }
    const BuiltVariant variant(MeaningRequest(source, begin->version));
    if (!variant.ok()) {
      return variant.messages();
    }
    const oracle::ComputeRun run = MeaningRun(static_cast<size_t>(end - begin));
    const Result<oracle::ComputeMemory> ours = oracle::RunCompute(bench(), variant, run);
    const Result<oracle::ComputeMemory> theirs =
        oracle::RunCompute(bench(), variant, other.words, run);
    if (!ours.ok() || !theirs.ok()) {
      return ErrorText(ours.ok() ? theirs.error() : ours.error());
    }
    return ours->buffers.at("made") == theirs->buffers.at("made") ? "" : "differs";
  }

  void Check(std::vector<MeaningRow>::const_iterator begin,
             std::vector<MeaningRow>::const_iterator end) {
    const std::string outcome = Compare(begin, end);
    if (outcome.empty()) {
      agreed_ += static_cast<uint32_t>(end - begin);
    } else if (end - begin > 1) {
      const auto middle = begin + (end - begin) / 2;
      Check(begin, middle);
      Check(middle, end);
    } else if (!IsListed(outcome, *begin)) {
      ADD_FAILURE() << outcome << ": " << begin->name << "\n" << begin->statements;
    }
  }

  std::vector<Listed> list_;
  uint32_t agreed_ = 0;
};

// A row in eight of those that both may know, which a seed of the day does not change; all with
// KILN_FULL.
TEST_F(Glslang, SharedRows_AgreeBitForBit) {
  const size_t stride = std::getenv("KILN_FULL") != nullptr ? 1 : 8;
  std::vector<MeaningRow> rows = MeaningRows();
  std::erase_if(rows, [](const MeaningRow& row) {
    return row.open || row.integer_matrix || row.version != Version::k2021;
  });
  std::vector<MeaningRow> chosen;
  for (size_t i = 0; i < rows.size(); i += stride) {
    chosen.push_back(rows[i]);
  }
  constexpr size_t kBatch = 16;
  for (size_t first = 0; first < chosen.size(); first += kBatch) {
    Check(chosen.begin() + static_cast<std::ptrdiff_t>(first),
          chosen.begin() + static_cast<std::ptrdiff_t>(std::min(first + kBatch, chosen.size())));
  }
  RecordProperty("agreed", static_cast<int>(agreed_));
  EXPECT_GT(agreed_ * 10, chosen.size() * 6);
  for (const Listed& listed : list_) {
    EXPECT_TRUE(stride > 1 || listed.uses > 0) << "no row needs: " << listed.pattern;
  }
}

}  // namespace
}  // namespace kiln::hlsl
