#include "sealed_file.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../data/files/digest.h"
#include "../../data/files/printable.h"
#include "../../data/files/replaced_file.h"

namespace headwave {

namespace {

// The file: a line that names its purpose, the identity, the bytes, and a digest of everything before it.
constexpr std::size_t digest_length = 64;

std::string first_line(const SealedKind& kind) {
  return fmt::format("headwave: {}, 1\n", kind.name);
}

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

Texts texts_in(const std::string& identity) {
  ByteReader reader(identity);
  Texts texts;
  for (auto left = reader.read<std::uint64_t>(); left > 0; --left) {
    std::string name = reader.read<std::string>();
    texts[std::move(name)] = reader.read<std::string>();
  }
  return texts;
}

/// "seed: 1 there, 2 here"; the digits of digests are left out.
std::string difference(const std::string& name, const Texts& there, const Texts& here) {
  if (name.ends_with("sha256")) return name + ": other files";
  const auto text = [&](const Texts& texts) {
    const auto found = texts.find(name);
    return found == texts.end() || found->second.empty() ? "nothing" : printable(found->second, 40);
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

std::string identity_text(const Attributes& identity) {
  ByteWriter bytes;
  bytes.write<std::uint64_t>(identity.size());
  for (const auto& [name, value] : identity) {
    bytes.write(name);
    bytes.write(text_of(value));
  }
  return bytes.taken();
}

void require_same_identity(const std::string& there, const std::string& here, const std::string& name,
                           const std::vector<Remedy>& remedies) {
  if (there != here)
    throw FormatError(
        fmt::format("{}: belongs to another run ({})", name, differences(texts_in(there), texts_in(here))), remedies);
}

SealedFile::SealedFile(const std::filesystem::path& file, const SealedKind& kind, const Attributes& identity)
    : file_(file) {
  std::string_view text = file_.text();
  const auto demand = [&](bool holds, const std::string& problem) {
    if (!holds) throw FormatError(fmt::format("{}: {}", shown_path(file), problem), kind.anew);
  };
  const std::string line = first_line(kind);
  demand(text.starts_with(line), fmt::format("expected the file of {}, found other content", kind.name));
  demand(text.size() >= line.size() + digest_length &&
             sha256_of_text(text.substr(0, text.size() - digest_length)) == text.substr(text.size() - digest_length),
         fmt::format("is damaged: its bytes do not match its digest{}",
                     kind.anew.empty() ? "; remove it and run its part again" : ""));
  text.remove_suffix(digest_length);
  ByteReader reader(text.substr(line.size()));
  const auto there = reader.read<std::string>();
  if (!identity.empty()) require_same_identity(there, identity_text(identity), shown_path(file), kind.other);
  bytes_ = reader.rest();
}

void write_sealed(const std::filesystem::path& file, const SealedKind& kind, const Attributes& identity,
                  const std::function<void(ByteWriter&)>& write) {
  ReplacedFile replaced(file);
  Sha256 digest;
  ByteWriter bytes([&](std::string_view piece) {
    digest.add(piece);
    replaced.write(piece);
  });
  const std::string line = first_line(kind);
  bytes.put(line.data(), line.size());
  bytes.write(identity_text(identity));
  write(bytes);
  bytes.flush();
  replaced.write(digest.hexadecimal());
  replaced.commit();
}

}  // namespace headwave
