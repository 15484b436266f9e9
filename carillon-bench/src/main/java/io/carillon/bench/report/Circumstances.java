package io.carillon.bench.report;

import java.util.Map;

/** Under what a result was made: which code, how thorough, on which machine, with which versions and settings. */
public record Circumstances(
        String commit,
        String profile,
        String peers,
        Map<String, String> machine,
        Map<String, String> versions,
        Map<String, String> settings) {}
