package io.carillon.cli;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.IVersionProvider;

/** The versions of this build, of Java and of the operating system, as needed for a bug report. */
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

    /** Returns the version from the jar manifest, or a placeholder if the classes are not in a jar. */
    static String number() {
        @Nullable String version = Version.class.getPackage().getImplementationVersion();
        return version == null ? "(not packaged)" : version;
    }
}
