#include "captured_parts.h"

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../data/files/digest.h"
#include "../../data/files/made_folders.h"
#include "../../data/files/printable.h"
#include "../../data/files/replaced_file.h"
#include "../../data/sources/stored_documents.h"

namespace headwave {

namespace fs = std::filesystem;

namespace {

/// No name that somebody else's file is likely to have: what has a number behind it is removed.
std::string part_prefix(const fs::path& file) {
  return file.filename().string() + ".unfinished.part";
}

fs::path part_of(const fs::path& file, std::size_t number) {
  return file.parent_path() / fmt::format("{}{}", part_prefix(file), number);
}

/// The documents of a part as they were captured.
std::unique_ptr<Source> documents_of(const fs::path& part, Index expected) {
  (void)sha256_of_file(part);  // compares its seal
  auto place = std::make_shared<const StoredPlace>(part, StoredSearch());
  std::unique_ptr<Source> source = stored_documents(place, place->contents().layers.size(), 0, {});
  if (source->count() != expected)
    throw FormatError(
        fmt::format("{}: holds {} documents, expected {}: it is not what the earlier run left; begin anew "
                    "with --force and without --resume",
                    shown_path(part), source->count(), expected));
  return source;
}

}  // namespace

CapturedParts::CapturedParts(const fs::path& file, const BlockSpec& block, const StoredLayout& layout,
                             UnfinishedRun* kept)
    : file_(file), block_(block), layout_(layout), kept_(kept) {
  if (kept_ == nullptr) return;
  if (kept_->documents() == 0) {
    remove_captured_parts(file_);
    return;
  }
  ByteReader sums = kept_->sums();
  ends_ = sums.read<std::vector<Index>>();
  Index first = 0;
  for (std::size_t i = 0; i < ends_.size(); first = ends_[i++]) (void)documents_of(part_of(file_, i), ends_[i] - first);
  earlier_ = documents_ = kept_->documents();
}

StoredWriter& CapturedParts::writer() {
  return writer_ ? *writer_ : writer_.emplace(file_, block_, layout_);
}

void CapturedParts::append(const Document& document, bool more) {
  writer().append(document);
  ++documents_;
  if (more && kept_ != nullptr && kept_->is_due()) keep();
}

void CapturedParts::keep() {
  writer().finish({}, part_of(file_, ends_.size()));
  writer_.reset();
  ends_.push_back(documents_);
  kept_->keep(documents_, [&](ByteWriter& sums) { sums.write(ends_); });
}

void CapturedParts::finish(const Attributes& provenance) {
  if (ends_.empty()) return writer().finish(provenance);
  if (writer_) keep();
  put_together(provenance);
  remove_all();
}

void CapturedParts::put_together(const Attributes& provenance) {
  std::uintmax_t bytes = 0;
  for (std::size_t i = 0; i < ends_.size(); ++i) bytes += fs::file_size(part_of(file_, i));
  const auto free = free_disk_space(file_.has_parent_path() ? file_.parent_path() : ".");
  if (free && bytes > *free)
    throw IoError(fmt::format(
        "{}: putting its parts together takes {}, {} are free on its disk; make room, and go on with --resume",
        shown_path(file_), size_text(bytes), size_text(*free)));
  Index first = 0;
  for (std::size_t i = 0; i < ends_.size(); first = ends_[i++]) {
    const std::unique_ptr<Source> source = documents_of(part_of(file_, i), ends_[i] - first);
    for (Index document = 0; document < source->count(); ++document) writer().append(source->document(document));
  }
  writer().finish(provenance);
}

void CapturedParts::remove_all() {
  writer_.reset();
  remove_captured_parts(file_);
  if (kept_ != nullptr) kept_->remove();
}

std::vector<fs::path> captured_parts(const fs::path& file) {
  const std::string prefix = part_prefix(file);
  std::vector<fs::path> parts;
  std::error_code ignored;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(file.has_parent_path() ? file.parent_path() : ".", ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && is_numbered_name(std::string_view(name).substr(prefix.size()), "#"))
      parts.push_back(entry.path());
  }
  return parts;
}

void remove_captured_parts(const fs::path& file) {
  std::error_code ignored;
  for (const fs::path& part : captured_parts(file)) fs::remove(part, ignored);
}

}  // namespace headwave
