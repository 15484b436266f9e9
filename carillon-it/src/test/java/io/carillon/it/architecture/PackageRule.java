package io.carillon.it.architecture;

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
    private static final String INTERNAL = "internal";
    /** The entry points of the API: they assemble the internal packages, which must not use them. */
    static final Set<String> ENTRY_POINTS = Set.of(
            "BulkActions",
            "Carillon",
            "CarillonBuilder",
            "Enqueuer",
            "Project",
            "Queues",
            "Runs",
            "Schedules",
            "Schema");

    private static final Set<String> ERRORS = Set.of("CarillonException", "CronSyntaxException", "ErrorCode");
    private static final String API = "the entry points of io.carillon";
    private static final String ERROR_TYPES = "the errors of io.carillon";
    private static final String VALUES = "the values of io.carillon";
    private static final Set<String> USER_PACKAGES =
            Set.of(ERROR_TYPES, VALUES, "run", "schedule", "event", "workflow", "spi");
    private static final Set<String> RULES =
            Set.of("internal.value", "internal.cron", "internal.run", "internal.schedule");
    private static final List<String> SQL = List.of("java.sql", "javax.sql");
    private static final String LOG = "org.slf4j";

    /** The rules of all packages. A new package needs an entry here and a reason in docs/decisions. */
    public static final List<PackageRule> PLAN = List.of(
            new PackageRule(ERROR_TYPES, Set.of(), List.of()),
            new PackageRule("internal.value", Set.of(ERROR_TYPES), List.of()),
            new PackageRule("internal.cron", Set.of(ERROR_TYPES), List.of()),
            // A transactional handler gets a connection.
            new PackageRule("run", Set.of(ERROR_TYPES, "internal.value"), List.of("java.sql.Connection")),
            new PackageRule("schedule", Set.of(ERROR_TYPES, "internal.value", "internal.cron", "run"), List.of()),
            new PackageRule("event", Set.of(ERROR_TYPES, "internal.value", "run"), List.of()),
            // A step in a transaction gets a connection.
            new PackageRule("workflow", Set.of(ERROR_TYPES, "internal.value", "run"), List.of("java.sql.Connection")),
            // The only package with encryption.
            new PackageRule("spi", Set.of(ERROR_TYPES, "internal.value", "run", "schedule", "event"), List.of()),
            new PackageRule(VALUES, Set.of(ERROR_TYPES, "internal.value", "run", "schedule", "spi"), List.of()),
            new PackageRule("internal.run", with(USER_PACKAGES, "internal.value"), List.of()),
            new PackageRule("internal.schedule", with(USER_PACKAGES, "internal.value"), List.of()),
            // The ports and the engine pass the connection to a transactional handler and use no other part of JDBC.
            new PackageRule(
                    "internal.store",
                    with(USER_PACKAGES, RULES),
                    List.of("java.sql.Connection", "java.sql.SQLException")),
            new PackageRule(
                    "internal.engine",
                    with(USER_PACKAGES, with(RULES, "internal.store")),
                    List.of("java.sql.Connection", "java.sql.SQLException", LOG)),
            new PackageRule("internal.jdbc", Set.of(ERROR_TYPES, "internal.value"), with(SQL, "org.postgresql", LOG)),
            new PackageRule(
                    "internal.postgres",
                    with(USER_PACKAGES, with(RULES, "internal.store", "internal.jdbc")),
                    with(SQL, "org.postgresql", LOG)),
            new PackageRule(
                    "internal.json",
                    with(USER_PACKAGES, "internal.value"),
                    List.of("tools.jackson", "com.fasterxml.jackson")),
            new PackageRule(
                    "internal.api",
                    with(
                            USER_PACKAGES,
                            with(RULES, "internal.store", "internal.engine", "internal.jdbc", "internal.postgres")),
                    with(SQL, LOG)),
            new PackageRule(
                    API,
                    with(
                            USER_PACKAGES,
                            with(
                                    RULES,
                                    "internal.store",
                                    "internal.engine",
                                    "internal.jdbc",
                                    "internal.postgres",
                                    "internal.json",
                                    "internal.api")),
                    with(SQL, LOG)),
            // For applications that use the library of the same name.
            new PackageRule("micrometer", with(USER_PACKAGES, API), List.of("io.micrometer.core")),
            new PackageRule(
                    "opentelemetry",
                    with(USER_PACKAGES, "internal.value"),
                    List.of("io.opentelemetry.api", "io.opentelemetry.context")),
            // A handler like those of an application; it uses only the client side of HTTP.
            new PackageRule(
                    "webhook",
                    with(USER_PACKAGES, API, "internal.value", "internal.json"),
                    List.of("org.apache.hc.client5", "org.apache.hc.core5", LOG)),
            // Relays and sources like those of an application.
            new PackageRule("kafka", with(USER_PACKAGES, "internal.value"), List.of("org.apache.kafka", LOG)),
            new PackageRule(
                    "embedded",
                    Set.of(),
                    with(SQL, "org.apache.commons.compress", "org.tukaani.xz", "org.postgresql", LOG)),
            new PackageRule(
                    "testkit",
                    with(
                            USER_PACKAGES,
                            with(
                                    RULES,
                                    API,
                                    "internal.store",
                                    "internal.engine",
                                    "internal.jdbc",
                                    "internal.postgres",
                                    "internal.json",
                                    "embedded")),
                    with(SQL, "org.junit", "org.opentest4j", "org.assertj", "org.postgresql", LOG)),
            // Uses SQL for its own tables, see ServerTables; postgres.reads has its queries about the other tables.
            new PackageRule(
                    "server",
                    with(
                            USER_PACKAGES,
                            with(
                                    RULES,
                                    API,
                                    "internal.store",
                                    "internal.jdbc",
                                    "internal.postgres.reads",
                                    "internal.json",
                                    "micrometer",
                                    "webhook")),
                    with(SQL, "org.eclipse.jetty", "tools.jackson", "io.micrometer", "com.nimbusds", LOG)),
            // Translates the requests of a servlet container; the pages and the API are those of the server.
            new PackageRule(
                    "dashboard",
                    Set.of(API, ERROR_TYPES, "internal.value", "server"),
                    List.of("jakarta.servlet", "javax.sql.DataSource", LOG)),
            new PackageRule(
                    "cli",
                    with(
                            USER_PACKAGES,
                            with(RULES, API, "internal.store", "embedded", "micrometer", "webhook", "server")),
                    with(SQL, "picocli", "com.zaxxer.hikari", "ch.qos.logback", "tools.jackson", "io.micrometer", LOG)),
            // The peers are in one sub-package, behind a port; so is plain Jetty.
            new PackageRule(
                    "bench",
                    with(USER_PACKAGES, with(RULES, API, "internal.engine", "embedded", "kafka", "webhook", "server")),
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
                            "kafka.server",
                            "org.apache.kafka",
                            LOG)));

    /** Returns the name of the rule for a class; empty for classes outside Carillon. */
    static Optional<String> nameFor(String className) {
        if (!className.startsWith(ROOT_PACKAGE + ".")) {
            return Optional.empty();
        }
        String[] parts = className.substring(ROOT_PACKAGE.length() + 1).split("\\.", -1);
        if (parts.length == 1) {
            String outermost = parts[0].split("\\$", 2)[0];
            return Optional.of(
                    ERRORS.contains(outermost) ? ERROR_TYPES : ENTRY_POINTS.contains(outermost) ? API : VALUES);
        }
        return Optional.of(parts[0].equals(INTERNAL) ? INTERNAL + "." + parts[1] : parts[0]);
    }

    static Optional<PackageRule> named(String name) {
        return PLAN.stream().filter(rule -> rule.name.equals(name)).findFirst();
    }

    boolean mayUse(String className) {
        Optional<String> other = nameFor(className);
        if (other.isPresent()) {
            return other.get().equals(name)
                    || packages.contains(other.get())
                    || packages.stream().anyMatch(allowed -> className.startsWith(ROOT_PACKAGE + "." + allowed + "."));
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

    private static Set<String> with(Set<String> packages, Set<String> more) {
        return with(packages, more.toArray(String[]::new));
    }

    private static Set<String> with(Set<String> packages, String... more) {
        return Set.copyOf(Stream.concat(packages.stream(), Stream.of(more)).toList());
    }

    private static List<String> with(List<String> libraries, String... more) {
        return Stream.concat(libraries.stream(), Stream.of(more)).toList();
    }
}
