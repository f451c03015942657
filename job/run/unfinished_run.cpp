#include "unfinished_run.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/numbers/error.h"
#include "../../data/files/digest.h"
#include "../../data/files/printable.h"
#include "../../data/files/replaced_file.h"

namespace headwave {

namespace {

// The file: this line, the identity, how many documents, their sums, and the digest of all before it.
constexpr std::string_view first_line = "headwave: an unfinished run, 1\n";
constexpr std::size_t digest_length = 64;

using Texts = std::map<std::string, std::string>;

std::string text_of(const Attribute& attribute) {
  return std::visit(
      [](const auto& value) {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::vector<double>>)
          return fmt::format("{}", fmt::join(value, ","));
        else
          return fmt::format("{}", value);
      },
      attribute);
}

std::string bytes_of(const Attributes& identity) {
  ByteWriter bytes;
  bytes.write<std::uint64_t>(identity.size());
  for (const auto& [name, value] : identity) {
    bytes.write(name);
    bytes.write(text_of(value));
  }
  return bytes.taken();
}

Texts texts_in(const std::string& identity) {
  ByteReader reader(identity);
  Texts texts;
  for (auto left = reader.read<std::uint64_t>(); left > 0; --left) {
    std::string name = reader.read<std::string>();
    texts[std::move(name)] = reader.read<std::string>();
  }
  return texts;
}

/// "seed: 1 there, 2 here"; of a digest nobody wants to see the digits.
std::string difference(const std::string& name, const Texts& there, const Texts& here) {
  if (name.ends_with("sha256")) return name + ": of other files";
  const auto text = [&](const Texts& texts) {
    const auto found = texts.find(name);
    return found == texts.end() ? "nothing" : printable(found->second, 40);
  };
  return fmt::format("{}: {} there, {} here", name, text(there), text(here));
}

std::string differences(const Texts& there, const Texts& here) {
  constexpr std::size_t most = 3;
  std::set<std::string> names;
  std::vector<std::pair<std::string, std::string>> changed;
  std::set_symmetric_difference(there.begin(), there.end(), here.begin(), here.end(), std::back_inserter(changed));
  for (const auto& [name, text] : changed) names.insert(name);
  std::vector<std::string> words;
  for (const std::string& name : names)
    if (words.size() < most) words.push_back(difference(name, there, here));
  const std::size_t more = names.size() - words.size();
  return fmt::format("{}{}", fmt::join(words, "; "), more > 0 ? fmt::format("; and {} more", more) : "");
}

}  // namespace

UnfinishedRun::UnfinishedRun(const std::filesystem::path& file, const Attributes& identity, double seconds)
    : file_(file),
      identity_(bytes_of(identity)),
      between_(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {
  if (!std::filesystem::exists(file)) return;
  const std::string anew = "begin anew with --force and without --resume";
  found_.emplace(file);
  std::string_view text = found_->text();
  const auto demand = [&](bool holds, const std::string& problem) {
    if (!holds) throw FormatError(fmt::format("{}: {}", shown_path(file), problem));
  };
  demand(text.starts_with(first_line), "is not what an unfinished run left; remove it, or " + anew);
  demand(text.size() >= first_line.size() + digest_length &&
             sha256_of_text(text.substr(0, text.size() - digest_length)) == text.substr(text.size() - digest_length),
         "is damaged; " + anew);
  text.remove_suffix(digest_length);
  ByteReader reader(text.substr(first_line.size()));
  const auto there = reader.read<std::string>();
  demand(there == identity_, fmt::format("is of another run ({}); go on with it by that run's options, or {}",
                                         differences(texts_in(there), texts_in(identity_)), anew));
  documents_ = reader.read<Index>();
  sums_ = reader.rest();
}

bool UnfinishedRun::is_due() const {
  return Clock::now() - kept_ >= between_;
}

void UnfinishedRun::keep(Index documents, const std::function<void(ByteWriter&)>& sums) {
  const Clock::time_point begin = Clock::now();
  ReplacedFile replaced(file_);
  Sha256 digest;
  ByteWriter bytes([&](std::string_view piece) {
    digest.add(piece);
    replaced.write(piece);
  });
  bytes.put(first_line.data(), first_line.size());
  bytes.write(identity_);
  bytes.write<Index>(documents);
  sums(bytes);
  bytes.flush();
  replaced.write(digest.hexadecimal());
  replaced.commit();
  kept_ = Clock::now();
  if (between_ > Clock::duration::zero()) between_ = std::max(between_, 100 * (kept_ - begin));
}

void UnfinishedRun::remove() {
  std::error_code ignored;
  std::filesystem::remove(file_, ignored);
}

}  // namespace headwave
