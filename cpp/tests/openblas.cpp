#include "openblas.hpp"

#include "stagenets/blas.hpp"

// The BLAS of the scipy-openblas32 package, whose symbols carry a prefix.
extern "C" {
void scipy_dgemm_(...);
void scipy_sgemm_(...);
void scipy_dsyrk_(...);
void scipy_ssyrk_(...);
void scipy_dtrsm_(...);
void scipy_strsm_(...);
void scipy_dtrsv_(...);
void scipy_strsv_(...);
void scipy_dpotrf_(...);
void scipy_spotrf_(...);
void scipy_openblas_set_num_threads(int);
}

namespace {

template <class Scalar>
void install(void (*gemm)(...), void (*syrk)(...), void (*trsm)(...), void (*trsv)(...),
             void (*potrf)(...)) {
  using Table = stagenets::blas::Table<Scalar>;
  Table& table = stagenets::blas::table<Scalar>();
  table.gemm = reinterpret_cast<typename Table::Gemm*>(gemm);
  table.syrk = reinterpret_cast<typename Table::Syrk*>(syrk);
  table.trsm = reinterpret_cast<typename Table::Trsm*>(trsm);
  table.trsv = reinterpret_cast<typename Table::Trsv*>(trsv);
  table.potrf = reinterpret_cast<typename Table::Potrf*>(potrf);
}

}  // namespace

void use_openblas() {
  install<double>(scipy_dgemm_, scipy_dsyrk_, scipy_dtrsm_, scipy_dtrsv_, scipy_dpotrf_);
  install<float>(scipy_sgemm_, scipy_ssyrk_, scipy_strsm_, scipy_strsv_, scipy_spotrf_);
  scipy_openblas_set_num_threads(1);
}
