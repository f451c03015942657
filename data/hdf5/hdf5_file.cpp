#include "hdf5_file.h"

#include <atomic>
#include <utility>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../files/file_bytes.h"
#include "../files/printable.h"
#include "hdf5_answers.h"
#include "hdf5_fence.h"
#include "hdf5_node_bytes.h"

namespace headwave {

namespace {

std::atomic<bool> all_trusted{false};

class ReaderHere : public Hdf5Reader {
 public:
  ReaderHere(const std::filesystem::path& path, std::uintmax_t bytes, Hdf5Trust trust) : answers_(path, bytes, trust) {}
  std::string ask(const Hdf5Request& request, const Hdf5Room& room) override { return answers_.answer(request, room); }

 private:
  Hdf5Answers answers_;
};

std::unique_ptr<Hdf5Reader> reader_of(const std::filesystem::path& path, std::uintmax_t bytes, Hdf5Trust trust) {
  if (trust == Hdf5Trust::foreign && !all_trusted) return fenced_hdf5_reader(path, bytes);
  return std::make_unique<ReaderHere>(path, bytes, trust);
}

/// Lets the messages of some work say what they are about; those about files do.
template <class Work>
auto named(const std::string& name, Work work) {
  try {
    return work();
  } catch (const FormatError& problem) {
    throw FormatError(fmt::format("{}: {}", name, problem.what()));
  } catch (const ShapeError& problem) {
    throw ShapeError(fmt::format("{}: {}", name, problem.what()));
  }
}

std::string ask_named(const std::string& file, Hdf5Reader& reader, const Hdf5Request& request, const Hdf5Room& room) {
  const std::string name = fmt::format("{}: {}", file, printable(request.object));
  try {
    return named(name, [&] { return reader.ask(request, room); });
  } catch (const IoError& problem) {
    throw IoError(fmt::format("{}: {}", name, problem.what()));
  }
}

}  // namespace

void trust_hdf5_files() {
  all_trusted = true;
}

Hdf5File::Hdf5File(const std::filesystem::path& path, Hdf5Trust trust)
    : path_(path), name_(shown_path(path)), trust_(trust) {
  open();
}

void Hdf5File::open() {
  // This says what cannot be opened and why better than the library does.
  bytes_ = std::make_unique<FileBytes>(path_);
  pieces_ = std::make_unique<Hdf5PieceReader>(*bytes_);
  try {
    reader_ = named(name_, [&] { return reader_of(path_, bytes_->size(), trust_); });
  } catch (const IoError& problem) {
    throw IoError(fmt::format("{}: {}", name_, problem.what()));
  }
  if (!bytes_->is_still_named())
    throw IoError(fmt::format("{}: was replaced by another file while it was opened: try again", name_));
}

Hdf5File::~Hdf5File() = default;

template <class Answer>
Answer Hdf5File::ask(const Hdf5Request& request) const {
  const std::string bytes = ask_named(name_, *reader_, request, {});
  return ByteReader(bytes).read<Answer>();
}

template <class Number>
std::vector<Number> Hdf5File::numbers(const Hdf5Request& request) const {
  std::vector<Number> values;
  ask_named(name_, *reader_, request, [&](std::size_t bytes) {
    values.resize(bytes / sizeof(Number));
    return values.data();
  });
  return values;
}

std::vector<Hdf5Node> Hdf5File::nodes(const Hdf5Request& request) const {
  const std::string bytes = ask_named(name_, *reader_, request, {});
  ByteReader reader(bytes);
  return read_hdf5_nodes(reader);
}

std::vector<Hdf5Node> Hdf5File::tree() const {
  return nodes({Hdf5Question::tree});
}

Hdf5Tree Hdf5File::listed_tree() {
  try {
    return {tree(), ""};
  } catch (const Error& problem) {
    const std::string place = reader_->last_place();
    if (place.empty() || place == "/") throw;
    open();
    return {nodes({Hdf5Question::tree, place}), problem.what()};
  }
}

std::vector<std::string> Hdf5File::names(const std::string& group) const {
  return ask<std::vector<std::string>>({Hdf5Question::names, group});
}

bool Hdf5File::has(const std::string& object) const {
  return ask<std::uint8_t>({Hdf5Question::has, object}) != 0;
}

Hdf5Node Hdf5File::node(const std::string& object) const {
  return std::move(nodes({Hdf5Question::node, object}).at(0));
}

Attributes Hdf5File::attributes(const std::string& object) const {
  return std::move(nodes({Hdf5Question::attributes, object}).at(0).attributes);
}

std::vector<std::string> Hdf5File::attribute_texts(const std::string& object, const std::string& attribute) const {
  return ask<std::vector<std::string>>({Hdf5Question::attribute_texts, object, attribute});
}

std::vector<std::string> Hdf5File::scales(const std::string& dataset) const {
  return ask<std::vector<std::string>>({Hdf5Question::scales, dataset});
}

std::vector<double> Hdf5File::doubles(const std::string& dataset) const {
  return numbers<double>({Hdf5Question::doubles, dataset});
}

std::vector<float> Hdf5File::floats(const std::string& dataset) const {
  std::vector<float> values;
  read_floats(dataset, {}, room_in(values));
  return values;
}

void Hdf5File::read(const std::string& dataset, const ArrayBlock& block, const FloatRoom& room) const {
  read_floats(dataset, block, room);
}

void Hdf5File::read_floats(const std::string& dataset, const std::optional<ArrayBlock>& block,
                           const FloatRoom& room) const {
  if (const Hdf5Places* known = places(dataset)) {
    named(fmt::format("{}: {}", name_, printable(dataset)),
          [&] { pieces_->read(*known, block.value_or(whole_block(known->shape)), room); });
    return;
  }
  ask_named(name_, *reader_, {Hdf5Question::floats, dataset, {}, block},
            [&room](std::size_t bytes) { return room(bytes / sizeof(float)); });
}

const Hdf5Places* Hdf5File::places(const std::string& dataset) const {
  const std::lock_guard lock(asking_);
  auto found = places_.find(dataset);
  if (found == places_.end()) {
    auto told = ask<std::optional<Hdf5Places>>({Hdf5Question::places, dataset});
    if (told && !told->are_sound(bytes_->size())) told.reset();
    found = places_.emplace(dataset, std::move(told)).first;
  }
  return found->second ? &*found->second : nullptr;
}

std::vector<std::int64_t> Hdf5File::integers(const std::string& dataset) const {
  return numbers<std::int64_t>({Hdf5Question::integers, dataset});
}

std::vector<std::string> Hdf5File::strings(const std::string& dataset) const {
  return ask<std::vector<std::string>>({Hdf5Question::strings, dataset});
}

}  // namespace headwave
