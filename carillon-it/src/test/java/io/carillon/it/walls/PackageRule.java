package io.carillon.it.walls;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A package with its sub-packages, and the packages and libraries that it may use besides the JDK and JSpecify. A
 * package that it may use includes its sub-packages, unless a single one is named, as in {@code postgres.reads}. A
 * library is a package or a single class; of the JDK, only java.sql and javax.sql must be listed.
 */
public record PackageRule(String name, Set<String> packages, List<String> libraries) {

    private static final String ROOT_PACKAGE = "io.carillon";
    private static final Set<String> VALUE_PACKAGES = Set.of("value", "schedule", "run", "event", "workflow");
    private static final String API = "the API";
    private static final List<String> SQL = List.of("java.sql", "javax.sql");
    private static final String LOG = "org.slf4j";

    /** The rules of all packages. A new package needs an entry here and a reason in docs/decisions. */
    public static final List<PackageRule> PLAN = List.of(
            new PackageRule("value", Set.of(), List.of()),
            // The only package with encryption.
            new PackageRule("seal", Set.of("value"), List.of()),
            new PackageRule("schedule", Set.of("value"), List.of()),
            // A transactional handler gets a connection.
            new PackageRule("run", Set.of("value"), List.of("java.sql.Connection")),
            new PackageRule("event", Set.of("value"), List.of()),
            new PackageRule("workflow", Set.of("value", "run"), List.of()),
            // The ports and the engine pass the connection to a transactional handler and use no other part of JDBC.
            new PackageRule("store", VALUE_PACKAGES, List.of("java.sql.Connection", "java.sql.SQLException")),
            new PackageRule(
                    "engine",
                    with(VALUE_PACKAGES, "store"),
                    List.of("java.sql.Connection", "java.sql.SQLException", LOG)),
            // The JDBC helper that postgres, server and testkit share.
            new PackageRule("internal", Set.of("value"), with(SQL, "org.postgresql")),
            new PackageRule("postgres", with(VALUE_PACKAGES, "internal", "store"), with(SQL, "org.postgresql", LOG)),
            new PackageRule("json", with(VALUE_PACKAGES), List.of("tools.jackson", "com.fasterxml.jackson.annotation")),
            new PackageRule(
                    API,
                    with(VALUE_PACKAGES, "seal", "store", "engine", "internal", "postgres", "json"),
                    with(SQL, LOG)),
            // For applications that use the library of the same name.
            new PackageRule("micrometer", with(VALUE_PACKAGES, API, "store", "engine"), List.of("io.micrometer.core")),
            new PackageRule(
                    "opentelemetry", VALUE_PACKAGES, List.of("io.opentelemetry.api", "io.opentelemetry.context")),
            // A handler like those of an application; it uses only the client side of HTTP.
            new PackageRule(
                    "webhook",
                    with(VALUE_PACKAGES, API, "seal", "json"),
                    List.of("org.apache.hc.client5", "org.apache.hc.core5", LOG)),
            new PackageRule(
                    "embedded",
                    Set.of(),
                    with(SQL, "org.apache.commons.compress", "org.tukaani.xz", "org.postgresql", LOG)),
            new PackageRule(
                    "testkit",
                    with(VALUE_PACKAGES, API, "store", "engine", "internal", "postgres", "json", "embedded"),
                    with(SQL, "org.junit", "org.opentest4j", "org.assertj", "org.postgresql", LOG)),
            // Uses SQL for its own tables, see ServerTables; postgres.reads has its queries about the other tables.
            new PackageRule(
                    "server",
                    with(
                            VALUE_PACKAGES,
                            API,
                            "seal",
                            "store",
                            "internal",
                            "postgres.reads",
                            "json",
                            "micrometer",
                            "webhook"),
                    with(SQL, "org.eclipse.jetty", "tools.jackson", "io.micrometer", "com.nimbusds", LOG)),
            new PackageRule(
                    "cli",
                    with(VALUE_PACKAGES, API, "seal", "store", "embedded", "micrometer", "webhook", "server"),
                    with(SQL, "picocli", "com.zaxxer.hikari", "ch.qos.logback", "tools.jackson", "io.micrometer", "com.nimbusds", LOG)),
            // The peers are in one sub-package, behind a port; so is plain Jetty.
            new PackageRule(
                    "bench",
                    with(VALUE_PACKAGES, API, "engine", "embedded", "server"),
                    with(
                            SQL,
                            "picocli",
                            "com.zaxxer.hikari",
                            "ch.qos.logback",
                            "tools.jackson",
                            "org.postgresql",
                            "org.eclipse.jetty",
                            "com.github.kagkarlsson",
                            "org.quartz",
                            "org.jobrunr",
                            LOG)));

    /** Returns the name of the rule for a package; empty for packages outside Carillon. */
    static Optional<String> nameFor(String packageName) {
        if (packageName.equals(ROOT_PACKAGE)) {
            return Optional.of(API);
        }
        if (!packageName.startsWith(ROOT_PACKAGE + ".")) {
            return Optional.empty();
        }
        return Optional.of(packageName.substring(ROOT_PACKAGE.length() + 1).split("\\.", 2)[0]);
    }

    static Optional<PackageRule> named(String name) {
        return PLAN.stream().filter(rule -> rule.name.equals(name)).findFirst();
    }

    boolean mayUse(String packageName, String className) {
        Optional<String> other = nameFor(packageName);
        if (other.isPresent()) {
            return other.get().equals(name)
                    || packages.contains(other.get())
                    || packages.stream().anyMatch(allowed -> packageName.equals(ROOT_PACKAGE + "." + allowed));
        }
        if (libraries.stream().anyMatch(library -> belongsTo(className, library))) {
            return true;
        }
        boolean jdk = belongsTo(className, "java") || belongsTo(className, "javax");
        boolean sql = SQL.stream().anyMatch(library -> belongsTo(className, library));
        return (jdk && !sql) || belongsTo(className, "org.jspecify");
    }

    private static boolean belongsTo(String className, String library) {
        return className.equals(library) || className.startsWith(library + ".");
    }

    private static Set<String> with(Set<String> packages, String... more) {
        return Set.copyOf(Stream.concat(packages.stream(), Stream.of(more)).toList());
    }

    private static List<String> with(List<String> libraries, String... more) {
        return Stream.concat(libraries.stream(), Stream.of(more)).toList();
    }
}
