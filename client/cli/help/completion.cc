// SPDX-License-Identifier: MIT
// `kiln completion SHELL` prints a script, and the hidden `kiln complete` answers it on each key
// press (spec/cli 10.3). An error is never shown in the middle of somebody's line: whatever fails
// offers nothing.
#include "client/cli/help/completion.h"

#include <algorithm>
#include <set>

#include "client/cli/add_verb.h"
#include "client/cli/failure.h"
#include "client/cli/output/print.h"
#include "client/cli/project/project.h"

namespace kiln::cli {
namespace {

// The scripts know nothing of kiln's verbs: each key press asks `kiln complete`, so they never have
// to be written anew. What it leaves open is completed as file names by the shell.
constexpr char kBash[] = R"(# kiln completion bash >> ~/.bashrc
_kiln() {
  local words=("${COMP_WORDS[@]:1:COMP_CWORD}")
  mapfile -t COMPREPLY < <(kiln complete -- "${words[@]}" 2>/dev/null)
  [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace
}
complete -o default -F _kiln kiln
)";
constexpr char kZsh[] = R"(#compdef kiln
# kiln completion zsh > "${fpath[1]}/_kiln"
_kiln() {
  local -a found
  found=("${(@f)$(kiln complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n ${found[1]} ]]; then
    compadd -- "${found[@]}"
  else
    _files
  fi
}
compdef _kiln kiln
)";
constexpr char kFish[] = R"(# kiln completion fish > ~/.config/fish/completions/kiln.fish
function __kiln_complete
  set -l words (commandline -opc) (commandline -ct)
  kiln complete -- $words[2..-1] 2>/dev/null
end
complete -c kiln -a '(__kiln_complete)'
)";

using Found = std::set<std::string>;

// The set sorts the candidates and drops those that both a verb and the root offer.
void Offer(std::string_view word, std::string candidate, Found& found) {
  if (candidate.starts_with(word)) {
    found.insert(std::move(candidate));
  }
}

// The verb that the words before the last one name. The last word that names a verb wins; words
// that name none, such as flags and their values, are passed over. A value that is spelled like a
// verb can mislead this, which costs a wrong offer and nothing else.
const CLI::App* VerbOf(const CLI::App& app, std::span<const std::string> words) {
  const CLI::App* verb = &app;
  for (const std::string& word : words) {
    // The filter asks for all declared verbs; without one only those that were parsed come back.
    for (const CLI::App* sub : verb->get_subcommands([](const CLI::App*) { return true; })) {
      if (sub->get_name() == word) {
        verb = sub;
        break;
      }
    }
  }
  return verb;
}

const CLI::Option* FlagNamed(const CLI::App& app, const std::string& name) {
  return name.starts_with("-") ? app.get_option_no_throw(name) : nullptr;
}

// Long names only. Short ones are typed faster than completed.
void OfferFlags(const CLI::App& app, std::string_view word, Found& found) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      Offer(word, "--" + name, found);
    }
  }
}

// "{auto,always,never}" as the parser describes the values of a flag.
void OfferValues(const CLI::Option& flag, std::string_view word, Found& found) {
  const std::string type = flag.get_type_name();
  const size_t open = type.find('{');
  const size_t close = type.find('}', open);
  if (open == std::string::npos || close == std::string::npos) {
    return;
  }
  for (size_t at = open + 1; at < close;) {
    const size_t end = std::min(type.find(',', at), close);
    Offer(word, type.substr(at, end - at), found);
    at = end + 1;
  }
}

std::string ValueText(const project::ManifestValue& value) {
  if (const auto* flag = std::get_if<bool>(&value.value)) {
    return *flag ? "true" : "false";
  }
  if (const auto* number = std::get_if<int64_t>(&value.value)) {
    return std::to_string(*number);
  }
  const auto* text = std::get_if<std::string>(&value.value);
  return text == nullptr ? std::string() : *text;
}

// "fog=", and behind the sign the values of its axis. The sign is part of the candidate, so that
// the shell can leave out the blank behind it (nospace in the script for bash).
void OfferOptions(const project::Manifest& manifest, std::span<const std::string> words,
                  std::string_view word, Found& found) {
  const bool has_value = word.find('=') != std::string_view::npos;
  for (const project::ManifestProgram& program : manifest.programs) {
    const bool named = std::ranges::find(words, program.name) != words.end();
    // If no word names a program, axes of all programs are offered.
    const bool any = std::ranges::none_of(manifest.programs, [&](const auto& other) {
      return std::ranges::find(words, other.name) != words.end();
    });
    if (!named && !any) {
      continue;
    }
    for (const auto& [name, axis] : program.axes) {
      if (!has_value) {
        Offer(word, name + "=", found);
        continue;
      }
      for (const project::ManifestValue& value : axis.values) {
        Offer(word, name + "=" + ValueText(value), found);
      }
    }
  }
}

// Does the verb take programs of the manifest?
bool TakesPrograms(const CLI::App& verb) {
  return std::ranges::any_of(verb.get_options(), [](const CLI::Option* option) {
    const std::string& name = option->get_name();
    return option->get_positional() && (name == "what" || name == "program" || name == "programs");
  });
}

// From the manifest and never from a daemon, which could have to be started: a key press has 100 ms
// (spec/cli 10.3). Without a manifest, or with a wrong one, nothing is offered and nothing is said.
void OfferPrograms(const Global& global, std::string_view word, Found& found) {
  if (const Result<project::Manifest> manifest = LoadManifest(global); manifest.ok()) {
    for (const project::ManifestProgram& program : manifest->programs) {
      Offer(word, program.name, found);
    }
  }
}

std::string CompletionScript(const std::string& shell) {
  return shell == "bash" ? kBash : shell == "zsh" ? kZsh : shell == "fish" ? kFish : "";
}

// `words` without the program; the last one, which may be empty, is being typed. Sorted. Words that
// name files are left to the shell.
std::vector<std::string> Candidates(const CLI::App& app, const Global& global,
                                    std::span<const std::string> words) {
  if (words.empty()) {
    return {};
  }
  const std::string& word = words.back();
  const std::span<const std::string> before = words.first(words.size() - 1);
  const CLI::App* verb = VerbOf(app, before);
  Found found;
  const CLI::Option* flag = nullptr;
  if (!before.empty()) {
    flag = FlagNamed(*verb, before.back());
    // Flags of every verb are declared at the root.
    flag = flag == nullptr ? FlagNamed(app, before.back()) : flag;
  }
  // A flag whose value may be left out, such as --list, does not take the next word for granted.
  const bool wants_value = flag != nullptr && flag->get_expected_min() > 0;
  // -o is the flag whose values are options of shaders, in every verb that has it.
  if (wants_value && flag->check_sname("o")) {
    if (const Result<project::Manifest> manifest = LoadManifest(global); manifest.ok()) {
      OfferOptions(*manifest, before, word, found);
    }
  } else if (wants_value) {
    OfferValues(*flag, word, found);
  } else if (word.starts_with("-")) {
    OfferFlags(*verb, word, found);
    OfferFlags(app, word, found);
  } else {
    for (const CLI::App* sub : verb->get_subcommands([](const CLI::App* any) {
           return !any->get_group().empty();  // no group: hidden
         })) {
      Offer(word, sub->get_name(), found);
    }
    if (verb != &app && TakesPrograms(*verb)) {
      OfferPrograms(global, word, found);
    }
  }
  return {found.begin(), found.end()};
}

}  // namespace

void AddCompletion(CLI::App& app, CommandLine& line) {
  const auto shell = std::make_shared<std::string>();
  const auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* script = AddVerb(app, line,
                             {"completion", "Print a completion script for a shell",
                              "  kiln completion bash >> ~/.bashrc\n"
                              "  kiln completion fish > ~/.config/fish/completions/kiln.fish"},
                             [shell] {
                               Print("{}", Lines{CompletionScript(*shell)});
                               return int{kSuccess};
                             });
  script->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  CLI::App* complete = AddVerb(
      app, line, {"complete", "What the last of the words may become", ""}, [&app, &line, words] {
        for (const std::string& candidate : Candidates(app, line.global, *words)) {
          Print("{}\n", candidate);
        }
        return int{kSuccess};
      });
  // No group hides the verb from the help: it is an interface of the scripts above, and their only
  // one.
  complete->group("")->add_option("words", *words, "Words so far, after --");
}

}  // namespace kiln::cli
