package io.carillon.bench.report;

import java.util.Map;

/** The environment of a result: the code, the profile, the peers, the machine, the versions and the settings. */
public record BenchEnvironment(
        String commit,
        String profile,
        String peers,
        Map<String, String> machine,
        Map<String, String> versions,
        Map<String, String> settings) {}
