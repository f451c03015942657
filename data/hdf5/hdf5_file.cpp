#include "hdf5_file.h"

#include <atomic>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "../../core/bytes/bytes.h"
#include "../../core/errors/error.h"
#include "../files/file_bytes.h"
#include "../files/printable.h"
#include "hdf5_answers.h"

namespace headwave {

namespace {

constexpr std::size_t most_listed = 1'000'000;
constexpr int deepest_group = 64;

std::atomic<bool> all_trusted{false};

/// Makes the errors of some work name what it is about.
template <class Work>
auto named(const std::string& name, Work work) {
  const auto told = [&](const Error& problem) { return fmt::format("{}: {}", name, problem.finding()); };
  try {
    return work();
  } catch (const FormatError& problem) {
    throw FormatError(told(problem), problem.remedies());
  } catch (const ShapeError& problem) {
    throw ShapeError(told(problem), problem.remedies());
  } catch (const IoError& problem) {
    throw IoError(told(problem), problem.remedies());
  }
}

std::string text_answer(Hdf5Reader& reader, const Hdf5Request& request) {
  std::string bytes;
  reader.ask(request, [&](std::size_t size) {
    bytes.resize(size);
    return bytes.data();
  });
  return bytes;
}

std::vector<std::string> text_list(Hdf5Reader& reader, const Hdf5Request& request) {
  const std::string bytes = text_answer(reader, request);
  return ByteReader(bytes).read<std::vector<std::string>>();
}

std::string object_name(const std::string& file, const std::string& object) {
  return fmt::format("{}: {}", file, printable(object));
}

}  // namespace

void trust_hdf5_files() {
  all_trusted = true;
}

Hdf5File::Hdf5File(const std::filesystem::path& path, Hdf5ReadBy by) : path_(path), name_(shown_path(path)), by_(by) {
  open();
}

Hdf5File::~Hdf5File() = default;

void Hdf5File::open() {
  const std::uintmax_t bytes = FileBytes(path_).size();  // says what cannot be opened and why better than the library
  named(name_, [&] {
    if (by_ == Hdf5ReadBy::child_process && !all_trusted)
      reader_ = hdf5_reader_in_child(path_, bytes);
    else
      reader_ = std::make_unique<Hdf5Answers>(path_, bytes, by_ == Hdf5ReadBy::child_process);
  });
}

void Hdf5File::list(const std::string& path, int depth, std::vector<Hdf5Node>& nodes,
                    std::set<std::string>& entered) const {
  if (nodes.size() >= most_listed) throw FormatError(fmt::format("more than {} objects are not listed", most_listed));
  const auto unreadable = [&](const Error& problem) {
    if (reader_->has_died() || path == "/") named(printable(path), [] { throw; });  // of the handlers below
    return Hdf5Node{path, "unreadable", {}, "", std::string(problem.finding()), {}, ""};
  };
  const std::size_t at = nodes.size();
  try {
    nodes.push_back(read_hdf5_node(text_answer(*reader_, {Hdf5Question::member, path})));
  } catch (const Error& problem) {  // one broken object does not hide the others
    nodes.push_back(unreadable(problem));
  }
  if (nodes[at].kind != "group") return;
  if (depth > deepest_group) {
    nodes[at] = unreadable(FormatError(fmt::format("groups nested more than {} deep are not listed", deepest_group)));
    return;
  }
  if (!entered.insert(nodes[at].identity).second) {
    nodes[at].storage = "listed above";
    return;
  }
  std::vector<std::string> names;
  try {
    names = text_list(*reader_, {Hdf5Question::names, path});
  } catch (const Error& problem) {
    nodes[at].storage = unreadable(problem).storage;
  }
  for (const std::string& name : names)
    list(fmt::format("{}/{}", path == "/" ? "" : path, name), depth + 1, nodes, entered);
}

std::vector<Hdf5Node> Hdf5File::tree() const {
  std::vector<Hdf5Node> nodes;
  std::set<std::string> entered;
  named(name_, [&] { list("/", 0, nodes, entered); });
  return nodes;
}

Hdf5Tree Hdf5File::listed_tree() {
  Hdf5Tree tree;
  std::set<std::string> entered;
  try {
    named(name_, [&] { list("/", 0, tree.nodes, entered); });
  } catch (const Error& problem) {
    if (!reader_->has_died() || tree.nodes.empty()) throw;
    tree.end = problem.what();
    open();
  }
  return tree;
}

std::vector<std::string> Hdf5File::texts(const Hdf5Request& request) const {
  return named(object_name(name_, request.object), [&] { return text_list(*reader_, request); });
}

template <class Number>
std::vector<Number> Hdf5File::numbers(const Hdf5Request& request) const {
  std::vector<Number> values;
  named(object_name(name_, request.object), [&] {
    reader_->ask(request, [&](std::size_t bytes) {
      values.resize(bytes / sizeof(Number));
      return values.data();
    });
  });
  return values;
}

std::vector<std::string> Hdf5File::names(const std::string& group) const {
  return texts({Hdf5Question::names, group});
}

bool Hdf5File::has(const std::string& object) const {
  return named(object_name(name_, object), [&] {
    return text_answer(*reader_, {Hdf5Question::has, object}) == std::string(1, '\1');
  });
}

Hdf5Node Hdf5File::node(const std::string& object) const {
  return named(object_name(name_, object), [&] {
    return read_hdf5_node(text_answer(*reader_, {Hdf5Question::node, object}));
  });
}

std::vector<std::string> Hdf5File::attribute_texts(const std::string& object, const std::string& attribute) const {
  return texts({Hdf5Question::attribute_texts, object, attribute});
}

std::vector<std::string> Hdf5File::scales(const std::string& dataset) const {
  return texts({Hdf5Question::scales, dataset});
}

std::vector<double> Hdf5File::doubles(const std::string& dataset) const {
  return numbers<double>({Hdf5Question::doubles, dataset});
}

std::vector<float> Hdf5File::floats(const std::string& dataset) const {
  return numbers<float>({Hdf5Question::floats, dataset});
}

void Hdf5File::read(const std::string& dataset, const ArrayBlock& block, const FloatRoom& room) const {
  named(object_name(name_, dataset), [&] {
    reader_->ask({Hdf5Question::floats, dataset, {}, block},
                 [&](std::size_t bytes) { return room(bytes / sizeof(float)); });
  });
}

std::vector<std::int64_t> Hdf5File::integers(const std::string& dataset) const {
  return numbers<std::int64_t>({Hdf5Question::integers, dataset});
}

std::vector<std::string> Hdf5File::strings(const std::string& dataset) const {
  return texts({Hdf5Question::strings, dataset});
}

}  // namespace headwave
