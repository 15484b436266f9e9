package io.carillon.it.walls;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A package of the product with its sub-packages, and what it may know besides the JDK and JSpecify. A library is a
 * package or a single class; of the JDK only java.sql and javax.sql must be named.
 */
public record Room(String name, Set<String> rooms, List<String> libraries) {

    private static final String HOUSE = "io.carillon";
    private static final Set<String> VALUES = Set.of("value", "schedule", "run", "event", "workflow");
    private static final String FRONT_DOOR = "the front door";
    private static final List<String> SQL = List.of("java.sql", "javax.sql");
    private static final String LOG = "org.slf4j";

    /** The whole plan of the house. A new room is entered here first, with a reason in docs/decisions. */
    public static final List<Room> PLAN = List.of(
            new Room("value", Set.of(), List.of()),
            // The one place for encryption.
            new Room("seal", Set.of("value"), List.of()),
            new Room("schedule", Set.of("value"), List.of()),
            // A transactional handler is handed its connection.
            new Room("run", Set.of("value"), List.of("java.sql.Connection")),
            new Room("event", Set.of("value"), List.of()),
            new Room("workflow", Set.of("value", "run"), List.of()),
            // A handler that joins the transaction is handed its connection: the ports and the engine pass it on, and
            // see no more of JDBC.
            new Room("store", VALUES, List.of("java.sql.Connection", "java.sql.SQLException")),
            new Room("engine", with(VALUES, "store"), List.of("java.sql.Connection", "java.sql.SQLException", LOG)),
            new Room("postgres", with(VALUES, "store"), with(SQL, "org.postgresql", LOG)),
            new Room("json", with(VALUES), List.of("tools.jackson", "com.fasterxml.jackson.annotation")),
            new Room(FRONT_DOOR, with(VALUES, "seal", "store", "engine", "postgres", "json"), with(SQL, LOG)),
            // Around the front door, for those who bring the library it is named after.
            new Room("micrometer", with(VALUES, FRONT_DOOR, "store", "engine"), List.of("io.micrometer.core")),
            new Room("opentelemetry", VALUES, List.of("io.opentelemetry.api", "io.opentelemetry.context")),
            // A handler like a user's own; of HTTP it knows the client's side only.
            new Room(
                    "webhook",
                    with(VALUES, FRONT_DOOR, "seal", "json"),
                    List.of("org.apache.hc.client5", "org.apache.hc.core5", LOG)),
            new Room(
                    "embedded",
                    Set.of(),
                    with(SQL, "org.apache.commons.compress", "org.tukaani.xz", "org.postgresql", LOG)),
            new Room(
                    "testkit",
                    with(VALUES, FRONT_DOOR, "store", "engine", "postgres", "json", "embedded"),
                    with(SQL, "org.junit", "org.opentest4j", "org.assertj", "org.postgresql", LOG)),
            // Speaks SQL about its own tables: keys, projects, secrets, audit.
            new Room(
                    "server",
                    with(VALUES, FRONT_DOOR, "seal", "store", "json", "micrometer", "webhook"),
                    with(SQL, "org.eclipse.jetty", "tools.jackson", "io.micrometer", LOG)),
            new Room(
                    "cli",
                    with(VALUES, FRONT_DOOR, "seal", "store", "embedded", "micrometer", "webhook", "server"),
                    with(SQL, "picocli", "com.zaxxer.hikari", "ch.qos.logback", "tools.jackson", "io.micrometer", LOG)),
            // The peers stand in one package of it, behind a port; so does the bare Jetty.
            new Room(
                    "bench",
                    with(VALUES, FRONT_DOOR, "engine", "embedded", "server"),
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

    /** The room a package lies in; empty for packages of others. */
    static Optional<String> nameFor(String packageName) {
        if (packageName.equals(HOUSE)) {
            return Optional.of(FRONT_DOOR);
        }
        if (!packageName.startsWith(HOUSE + ".")) {
            return Optional.empty();
        }
        return Optional.of(packageName.substring(HOUSE.length() + 1).split("\\.", 2)[0]);
    }

    static Optional<Room> named(String name) {
        return PLAN.stream().filter(room -> room.name.equals(name)).findFirst();
    }

    boolean mayKnow(String packageName, String className) {
        Optional<String> other = nameFor(packageName);
        if (other.isPresent()) {
            return other.get().equals(name) || rooms.contains(other.get());
        }
        if (libraries.stream().anyMatch(library -> liesIn(className, library))) {
            return true;
        }
        boolean jdk = liesIn(className, "java") || liesIn(className, "javax");
        boolean sql = SQL.stream().anyMatch(library -> liesIn(className, library));
        return (jdk && !sql) || liesIn(className, "org.jspecify");
    }

    private static boolean liesIn(String className, String library) {
        return className.equals(library) || className.startsWith(library + ".");
    }

    private static Set<String> with(Set<String> rooms, String... more) {
        return Set.copyOf(Stream.concat(rooms.stream(), Stream.of(more)).toList());
    }

    private static List<String> with(List<String> libraries, String... more) {
        return Stream.concat(libraries.stream(), Stream.of(more)).toList();
    }
}
