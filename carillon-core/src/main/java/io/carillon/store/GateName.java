package io.carillon.store;

/** A gate of a project, by the name its runs give it. */
public record GateName(String project, String name) {}
