#include <cstdio>

#include "headwave/core/planted/planted.h"
#include "headwave/data/results/result_file.h"
#include "headwave/job/run/job.h"
#include "headwave/reports/tables/head_table.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const headwave::PlantedModel planted = headwave::planted_model(headwave::planted_bank());
  const auto documents = headwave::planted_documents(planted, 2, 128, 1);
  headwave::write_result(headwave::run_job(planted.model, *documents), argv[1]);
  const headwave::Result result = headwave::read_result(argv[1]);
  std::fputs(headwave::head_answer(result, headwave::shown_columns(result, {})).c_str(), stdout);
  return 0;
}
