package io.carillon.bench.measure;

/** Hears what is being done, in a few words. */
@FunctionalInterface
public interface Progress {
    void say(String what);
}
