// The BLAS for programs without Python.
#pragma once

// Puts that of the scipy-openblas32 package, on one thread, into the core's tables.
void use_openblas();
