"""The push inside other libraries: one module a library, imported only when asked for."""
