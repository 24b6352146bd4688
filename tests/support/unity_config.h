#pragma once
// How Unity is built here; unity_as_cpp.cpp says why.
#define UNITY_INCLUDE_DOUBLE
#define UNITY_DOUBLE_PRECISION 1e-12
#define UNITY_EXCLUDE_SETJMP_H
