package io.carillon.run;

/** How far a run has come. */
public record Progress(long done, long total) {}
