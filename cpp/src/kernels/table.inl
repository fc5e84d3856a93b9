// All kernels of an instruction set, by the name of that set.
template <class Scalar>
constexpr Kernels<Scalar> all_kernels(const char* name) {
  return {activate<Scalar>,        add_transposed_product<Scalar>,
          subtract_product<Scalar>, combine_columns<Scalar>,
          lower_to_column<Scalar>,  tally_rows<Scalar>,
          exponential<Scalar>,      softmax<Scalar>,
          name};
}
