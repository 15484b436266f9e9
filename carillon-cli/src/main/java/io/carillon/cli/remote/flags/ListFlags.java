package io.carillon.cli.remote.flags;

import picocli.CommandLine.Option;

/** The options of a list. */
public final class ListFlags {
    @Option(
            names = "--limit",
            paramLabel = "N",
            defaultValue = "100",
            description = "Maximum number of items. Default: ${DEFAULT-VALUE}.")
    private int limit = 100;

    @Option(names = "--watch", description = "Print again on each change, until Ctrl-C.")
    private boolean watch;

    public int limit() {
        return limit;
    }

    public boolean watch() {
        return watch;
    }
}
