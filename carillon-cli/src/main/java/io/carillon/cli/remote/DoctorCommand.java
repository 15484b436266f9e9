package io.carillon.cli.remote;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.Schema;
import io.carillon.cli.client.Client;
import io.carillon.cli.config.Settings;
import io.carillon.cli.shell.DatabaseUrl;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Failure;
import io.carillon.cli.shell.Logs;
import io.carillon.cli.shell.Pools;
import io.carillon.cli.shell.Shell;
import io.carillon.store.Vitals;
import io.carillon.value.CarillonException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** {@code carillon doctor}: looks at the server and, where one is named, at the database, and says what to do. */
@Command(
        name = "doctor",
        description =
                "Check a server and, where one is named, a database; say what to do about what is wrong. Changes nothing.",
        sortOptions = false)
final class DoctorCommand extends RemoteGroup {
    private static final Duration SKEW = Duration.ofSeconds(5);
    private static final int OLDEST = 14;
    /** What a server takes unless told otherwise. */
    private static final int POOLS = 30;

    private final List<JsonNode> findings = new ArrayList<>();
    private boolean sick;

    @Option(
            names = "--database-url",
            paramLabel = "URL",
            description =
                    "Look at this database too. Default: $DATABASE_URL, $DATABASE_URL_FILE or $PGHOST and its kin.")
    private @Nullable String databaseUrl;

    DoctorCommand(Shell shell) {
        super(shell);
    }

    @Override
    public Integer call() {
        Logs.warningsTo(shell.err());
        server(client());
        Optional<DatabaseUrl> database = Settings.database(shell, databaseUrl);
        if (database.isPresent()) database(database.get());
        else found("database", "skipped", "not named; --database-url or DATABASE_URL looks at it as well");
        printer().list(findings, "check", List.of("check", "state", "finding"));
        return sick ? ExitCode.FAILED : ExitCode.OK;
    }

    private void found(String check, String state, String finding) {
        sick |= state.equals("FAILED");
        findings.add(body().put("check", check).put("state", state).put("finding", finding));
    }

    private void server(Client client) {
        try {
            Client.Reply version = client.send("GET", "/version", null, Map.of());
            found(
                    "server",
                    "ok",
                    "%s, version %s"
                            .formatted(
                                    client.endpoint(),
                                    version.body().path("version").stringValue("?")));
            version.date().flatMap(DoctorCommand::date).ifPresent(date -> clock("clock of the server", date));
        } catch (Failure away) {
            found("server", "FAILED", line(away));
            return;
        }
        ready(client);
        if (check(
                "key",
                client,
                "/v1/stats",
                answer -> "accepted; %s wait, %s run, %s dead"
                        .formatted(answer.path("waiting"), answer.path("running"), answer.path("dead")))) house(client);
    }

    private void ready(Client client) {
        try {
            client.get("/readyz");
            found("its database", "ok", "answers");
        } catch (Failure failure) {
            found(
                    "its database",
                    "FAILED",
                    failure.exit() == ExitCode.AWAY
                            ? "does not answer the server: see whether PostgreSQL runs and takes connections, and read the server's log"
                            : line(failure));
        }
    }

    private interface Reading {
        String of(JsonNode answer);
    }

    private boolean check(String check, Client client, String path, Reading reading) {
        try {
            found(check, "ok", reading.of(client.get(path)));
            return true;
        } catch (Failure failure) {
            found(check, "FAILED", line(failure));
            return false;
        }
    }

    /** What only those see who look after the whole house. */
    private void house(Client client) {
        try {
            JsonNode health = client.get("/v1/health");
            if (health.path("healthy").booleanValue(false)) found("health", "ok", "nothing is wrong");
            for (JsonNode issue : health.path("issues")) found("health", "FAILED", issue.stringValue(""));
            long alive = client.get("/v1/nodes")
                    .path("items")
                    .valueStream()
                    .filter(node -> node.path("alive").booleanValue(false))
                    .count();
            if (alive > 0) found("nodes", "ok", alive + " alive");
            else found("nodes", "FAILED", "none is alive, so nothing runs: start 'carillon serve'");
        } catch (Failure failure) {
            boolean hidden = failure.exit() == ExitCode.REFUSED;
            found(
                    "health",
                    hidden ? "skipped" : "FAILED",
                    hidden ? "for admins of the project 'default'" : line(failure));
        }
    }

    private static String line(Exception failure) {
        return String.valueOf(failure.getMessage()).replace("\n", " ");
    }

    private static Optional<Instant> date(String header) {
        try {
            return Optional.of(ZonedDateTime.parse(header, DateTimeFormatter.RFC_1123_DATE_TIME)
                    .toInstant());
        } catch (DateTimeException odd) {
            return Optional.empty();
        }
    }

    private void clock(String check, Instant theirs) {
        Duration off = Duration.between(theirs, shell.clock().instant());
        boolean fine = off.abs().compareTo(SKEW) <= 0;
        found(
                check,
                fine ? "ok" : "warning",
                fine
                        ? "agrees with this machine"
                        : "this machine is %d s %s; runs follow the database's clock, but set both by NTP"
                                .formatted(off.abs().toSeconds(), off.isNegative() ? "behind" : "ahead"));
    }

    private void database(DatabaseUrl url) {
        try (HikariDataSource pool = Pools.on(url, 1)) {
            version(pool, url);
            Schema schema = Carillon.schema(pool);
            try {
                schema.validate();
                found("schema", "ok", "number " + schema.number());
            } catch (CarillonException unfit) {
                found("schema", "FAILED", line(unfit) + " 'carillon migrate' brings it up to date.");
                return;
            }
            connections(schema.server());
        } catch (CarillonException | SQLException failure) {
            found("database", "FAILED", line(failure));
        }
    }

    private void version(HikariDataSource pool, DatabaseUrl url) throws SQLException {
        try (Connection connection = pool.getConnection()) {
            int major = connection.getMetaData().getDatabaseMajorVersion();
            String what =
                    "PostgreSQL %s at %s".formatted(connection.getMetaData().getDatabaseProductVersion(), url.shown());
            found(
                    "database",
                    major < OLDEST ? "FAILED" : "ok",
                    major < OLDEST ? what + "; Carillon needs 14 or later" : what);
        }
    }

    private void connections(Vitals.Server server) {
        clock("clock of the database", server.now());
        boolean compiles = Vitals.compiles(server.jitAboveCost());
        found(
                "jit",
                compiles ? "warning" : "ok",
                compiles
                        ? "jit_above_cost is %.0f: frequent statements may be compiled at each execution; set it to at least %.0f, or jit to off"
                                .formatted(server.jitAboveCost(), Vitals.JIT_FROM)
                        : "no frequent statement is compiled");
        boolean complete = server.missingTimeouts().isEmpty();
        found(
                "time-outs",
                complete ? "ok" : "warning",
                complete
                        ? "a server that does not answer is left"
                        : "missing in the database URL: %s; set connectTimeout=5, socketTimeout=10 and, with several hosts, targetServerType=primary"
                                .formatted(String.join(", ", server.missingTimeouts())));
        int free = server.maxConnections() - server.connections();
        String counts = "%d of %d in use".formatted(server.connections(), server.maxConnections());
        if (free >= POOLS) found("connections", "ok", counts);
        else
            found(
                    "connections",
                    "warning",
                    counts
                            + "; one more server takes %d: lower --engine-pool and --request-pool, or raise max_connections"
                                    .formatted(POOLS));
    }
}
