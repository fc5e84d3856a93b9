// The GIL, where the interpreter may end while a daemon thread is inside the core. From then on Python
// does not give the GIL to any thread but the main one: up to 3.13 it ends a thread that asks for it, in
// the midst of our frames, which helpers still use. Such a thread is stopped for good instead, as Python
// 3.14 does by itself.
#pragma once

#include <pybind11/pybind11.h>

#include <exception>
#include <optional>
#include <utility>

#include "stagenets/team.hpp"

#if defined(__GLIBC__)
#include <cxxabi.h>
#elif !defined(_WIN32)
#include <pthread.h>
#endif

namespace stagenets::python {

namespace py = pybind11;

// Makes a call in which Python may end this thread: one that takes the GIL, or lets go of it for a while as
// NumPy does to copy arrays. Objects that die with the call should be referred to elsewhere too, since
// they go without the GIL.
template <class Call>
#if defined(__GLIBC__)
// An unwinding that is forced has no object for the handler's reference.
[[gnu::no_sanitize("null")]]
#endif
auto call_or_stop(Call&& call) -> decltype(call()) {
#if defined(_WIN32)
  return call();
#elif defined(__GLIBC__)
  // Threads end by an exception of sorts, which must not get as far as a catch (...).
  try {
    return call();
  } catch (const abi::__forced_unwind&) {
    stop_this_thread();
  }
#else
  std::exception_ptr error;
  std::optional<decltype(call())> result;
  pthread_cleanup_push([](void*) { stop_this_thread(); }, nullptr);
  try {
    result.emplace(call());
  } catch (...) {
    error = std::current_exception();
  }
  pthread_cleanup_pop(0);
  if (error) std::rethrow_exception(error);
  return std::move(*result);
#endif
}

// Holds the GIL, for a thread that came from Python and has let go of it, or for a helper.
class WithGil {
 public:
  WithGil() {
    call_or_stop([this] { return &gil_.emplace(); });
  }

 private:
  OutsideTeams outside_;
  std::optional<py::gil_scoped_acquire> gil_;
};

// Lets go of the GIL. pybind11's own class takes it back in a destructor that lets no unwinding pass.
class WithoutGil {
 public:
  WithoutGil() {
    py::detail::get_internals();  // helpers will look for these, and may not be the first
    state_ = PyEval_SaveThread();
  }
  ~WithoutGil() {
    call_or_stop([this] { return PyEval_RestoreThread(state_), true; });
  }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

// function(*arguments), with the GIL held.
template <class... Arguments>
py::object call_python(py::handle function, Arguments&&... arguments) {
  const py::tuple packed = py::make_tuple(std::forward<Arguments>(arguments)...);
  PyObject* result =
      call_or_stop([&] { return PyObject_CallObject(function.ptr(), packed.ptr()); });
  if (result == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(result);
}

template <class Value>
Value cast_or_stop(py::handle object) {
  return call_or_stop([&] { return object.cast<Value>(); });
}

}  // namespace stagenets::python
