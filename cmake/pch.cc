// Carries the precompiled header (cmake/layers.cmake).
