// OpenBLAS works in buffers of its own, one for every thread that is inside it, of 32 MiB or more. It maps
// one when it has none to spare, and keeps it; but if there is no memory for it, it tries again for ever.
// So the buffers that a call may need are made before its work begins, while we can still say no.
#pragma once

namespace stagenets {

// OpenBLAS's blas_memory_alloc and blas_memory_free. Without them, or where the system does not say how
// much memory they take, nothing is reserved.
void use_blas_buffers(void* (*take)(int), void (*give_back)(void*));

// For how many of these threads the BLAS has buffers now: all of them, or those for which there is memory.
int reserve_blas_buffers(int threads);

}  // namespace stagenets
