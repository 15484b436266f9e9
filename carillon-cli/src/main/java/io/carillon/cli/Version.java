package io.carillon.cli;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.IVersionProvider;

/** The version of this build, and of what it runs on: all that a report of a bug needs. */
final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
        return new String[] {
            "carillon " + number(),
            "Java %s, %s %s"
                    .formatted(
                            System.getProperty("java.version"),
                            System.getProperty("os.name"),
                            System.getProperty("os.arch"))
        };
    }

    /** As the jar has it; classes without a jar have none. */
    static String number() {
        @Nullable String version = Version.class.getPackage().getImplementationVersion();
        return version == null ? "(not packaged)" : version;
    }
}
