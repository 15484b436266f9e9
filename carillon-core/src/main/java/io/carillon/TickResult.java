package io.carillon;

/** What one {@link Carillon#tick} did: attempts made, and how many of them failed. */
public record TickResult(int processed, int errors) {}
