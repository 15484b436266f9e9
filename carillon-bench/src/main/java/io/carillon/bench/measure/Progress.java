package io.carillon.bench.measure;

/** Receives short descriptions of the current step. */
@FunctionalInterface
public interface Progress {
    void report(String what);
}
