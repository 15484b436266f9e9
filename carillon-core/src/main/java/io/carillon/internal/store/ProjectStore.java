package io.carillon.internal.store;

/** The projects. */
public interface ProjectStore {
    /** Creates the project if it does not exist. */
    void ensure(String project);
}
