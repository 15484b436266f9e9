package io.carillon.run;

/** The progress of a run or of a bulk action, in units that the reporter chooses. */
public record Progress(long done, long total) {}
