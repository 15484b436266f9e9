package io.carillon.run;

/** The progress of a run, in units that its handler chooses. */
public record Progress(long done, long total) {}
