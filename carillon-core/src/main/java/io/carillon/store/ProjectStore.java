package io.carillon.store;

/** The projects there are. */
public interface ProjectStore {
    /** Makes sure the project exists. */
    void ensure(String project);
}
