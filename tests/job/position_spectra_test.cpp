#include "../../job/studies/position_spectra.h"

#include <fstream>

#include "../../core/errors/error.h"
#include "../../data/files/digest.h"
#include "../catch.h"
#include "untrained_model.h"

using namespace headwave;

TEST_CASE("a model's spectrum is the same from its directory and from its file") {
  const auto directory = repository_file("tests/golden/models/bert");
  const auto spectra = position_spectra({directory, directory / "model.safetensors"});
  REQUIRE(spectra.size() == 2);
  CHECK(spectra[0].name == "bert");
  CHECK(spectra[1].name == "bert");
  CHECK(spectra[0].spectrum.length == 40);
  CHECK(spectra[0].spectrum.amplitude == spectra[1].spectrum.amplitude);
  CHECK(spectra[0].result.at("position_spectrum/mean").size() == 21);
  const Attributes& provenance = spectra[1].result.provenance;
  CHECK(std::get<std::string>(provenance.at("model_sha256")) ==
        sha256_list({directory / "config.json", directory / "model.safetensors"}));
  CHECK(std::get<std::string>(provenance.at("window")) == "rectangular");
  CHECK(std::get<std::string>(provenance.at("detrend")) == "none");
  CHECK(std::get<std::int64_t>(provenance.at("length")) == 40);
}

TEST_CASE("a spectrum of fewer positions is that of the table's first rows") {
  const auto directory = repository_file("tests/golden/models/bert");
  PositionSpectraOptions options;
  options.length = 2;
  CHECK(position_spectra({directory}, options).front().spectrum.length == 2);
  options.length = 1;
  CHECK_THROWS_WITH(position_spectra({directory}, options), ContainsSubstring("needs two positions or more, found 1"));
  options.length = 41;
  CHECK_THROWS_WITH(position_spectra({directory}, options),
                    ContainsSubstring("41 positions are requested, but the position table has 40"));
}

TEST_CASE("a file without config.json beside it says what is missing") {
  const TemporaryFolder folder;
  std::filesystem::copy_file(repository_file("tests/golden/models/bert/model.safetensors"), folder / "m.safetensors");
  CHECK_THROWS_WITH(position_spectra({folder / "m.safetensors"}), ContainsSubstring("config.json: not found"));
}

TEST_CASE("a checkpoint of positions alone has a spectrum") {
  NEEDS_SHARED("minilm-positions/model-partial.safetensors");
  const auto spectra = position_spectra({shared_file("minilm-positions/model-partial.safetensors")});
  CHECK(spectra.front().name == "minilm-positions");
  CHECK(spectra.front().spectrum.length == 512);
}

TEST_CASE("a model is called as its folder") {
  CHECK(model_name(repository_file("tests/golden/models/bert/")) == "bert");
  CHECK(model_name(repository_file("tests/golden/models/bert/.")) == "bert");
  CHECK(model_name(repository_file("tests/golden/models/bert/model.safetensors")) == "bert");
}

TEST_CASE("the spectrum of a table leaves out the rows that were never trained, unless they are asked for") {
  const TemporaryFolder folder;
  const auto model = model_with_untrained_rows(folder);
  const ModelSpectrum found = position_spectra({model}).front();
  CHECK(found.spectrum.length == 26);
  CHECK(std::get<std::int64_t>(found.result.provenance.at("trained_rows")) == 26);
  CHECK(std::get<std::int64_t>(found.result.provenance.at("position_rows")) == 40);
  CHECK(std::get<double>(found.result.provenance.at("untrained_norm")) <
        std::get<double>(found.result.provenance.at("trained_norm")) / 2);
  const auto length = [&](Index asked, Index rows) {
    PositionSpectraOptions options;
    options.length = asked;
    options.rows = rows;
    return position_spectra({model}, options).front().spectrum.length;
  };
  CHECK(length(0, 40) == 40);
  CHECK(length(0, 10) == 10);
  CHECK(length(12, 0) == 12);
  CHECK(length(33, 0) == 26);
  CHECK(length(33, 40) == 33);
  CHECK_THROWS_WITH(length(0, 41),
                    ContainsSubstring("41 rows are requested, but the position table has 40; give rows=40 or less"));
  CHECK_FALSE(position_spectra({repository_file("tests/golden/models/bert")})
                  .front()
                  .result.provenance.contains("trained_rows"));
}
