package io.carillon.cli.remote;

import static io.carillon.cli.remote.flags.JsonBody.emptyBody;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.Schema;
import io.carillon.cli.client.ApiClient;
import io.carillon.cli.config.Settings;
import io.carillon.cli.shell.CommandException;
import io.carillon.cli.shell.ConnectionPools;
import io.carillon.cli.shell.DatabaseUrl;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.LogSetup;
import io.carillon.cli.shell.Program;
import io.carillon.cli.shell.Shell;
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

/**
 * {@code carillon doctor}: checks the server and, if one is given, the database. Reports problems with their remedy.
 */
@Command(
        name = "doctor",
        description = "Check a server and, if one is given, a database. Reports problems with their remedy and changes "
                + "nothing.",
        sortOptions = false)
final class DoctorCommand extends RemoteCommandGroup {
    private static final Duration MAX_CLOCK_SKEW = Duration.ofSeconds(5);
    private static final int MIN_POSTGRES_VERSION = 14;
    /** The connections of a server with default settings. */
    private static final int DEFAULT_CONNECTIONS = 30;

    private final List<JsonNode> findings = new ArrayList<>();
    private boolean hasProblem;

    @Option(
            names = "--database-url",
            paramLabel = "URL",
            description = "Database to check as well. Default: $DATABASE_URL, $DATABASE_URL_FILE or the PG* variables.")
    private @Nullable String databaseUrl;

    DoctorCommand(Shell shell) {
        super(shell);
    }

    @Override
    public Integer call() {
        LogSetup.warningsTo(shell.err());
        checkServer(client());
        Optional<DatabaseUrl> database = Settings.database(shell, databaseUrl);
        if (database.isPresent()) checkDatabase(database.get());
        else addFinding("database", "skipped", "not given; use --database-url or DATABASE_URL to check it");
        printer().wrapping().printList(findings, "check", List.of("check", "state", "finding"));
        return hasProblem ? ExitCode.FAILED : ExitCode.OK;
    }

    private void addFinding(String check, String state, String finding) {
        hasProblem |= state.equals("FAILED");
        findings.add(emptyBody().put("check", check).put("state", state).put("finding", Program.inText(finding)));
    }

    private void checkServer(ApiClient apiClient) {
        try {
            ApiClient.Reply version = apiClient.send("GET", "/version", null, Map.of());
            addFinding(
                    "server",
                    "ok",
                    "%s, version %s"
                            .formatted(
                                    apiClient.server(),
                                    version.body().path("version").stringValue("?")));
            version.date().flatMap(DoctorCommand::date).ifPresent(date -> checkClock("clock of the server", date));
        } catch (CommandException away) {
            addFinding("server", "FAILED", firstLine(away));
            return;
        }
        checkReady(apiClient);
        if (check(
                "key",
                apiClient,
                "/v1/stats",
                answer -> "accepted; %s waiting, %s running, %s dead"
                        .formatted(answer.path("waiting"), answer.path("running"), answer.path("dead"))))
            checkServerWide(apiClient);
    }

    private void checkReady(ApiClient apiClient) {
        try {
            apiClient.get("/readyz");
            addFinding("server database", "ok", "reachable");
        } catch (CommandException commandException) {
            addFinding(
                    "server database",
                    "FAILED",
                    commandException.exitCode() == ExitCode.UNAVAILABLE
                            ? "not reachable from the server: check that PostgreSQL runs and accepts "
                                    + "connections, and read the server's log"
                            : firstLine(commandException));
        }
    }

    private interface FindingText {
        String describe(JsonNode answer);
    }

    private boolean check(String check, ApiClient apiClient, String path, FindingText findingText) {
        try {
            addFinding(check, "ok", findingText.describe(apiClient.get(path)));
            return true;
        } catch (CommandException commandException) {
            addFinding(check, "FAILED", firstLine(commandException));
            return false;
        }
    }

    /** Checks health and nodes, which only keys of the project {@code default} may read. */
    private void checkServerWide(ApiClient apiClient) {
        try {
            JsonNode health = apiClient.get("/v1/health");
            if (health.path("healthy").booleanValue(false)) addFinding("health", "ok", "no problems");
            for (JsonNode issue : health.path("issues")) addFinding("health", "FAILED", issue.stringValue(""));
            long alive = apiClient
                    .get("/v1/nodes")
                    .path("items")
                    .valueStream()
                    .filter(node -> node.path("alive").booleanValue(false))
                    .count();
            if (alive > 0) addFinding("nodes", "ok", alive + " alive");
            else addFinding("nodes", "FAILED", "no node is alive, so no run is executed: start 'carillon serve'");
        } catch (CommandException commandException) {
            boolean hidden = commandException.exitCode() == ExitCode.REFUSED;
            addFinding(
                    "health",
                    hidden ? "skipped" : "FAILED",
                    hidden ? "only for admins of the project 'default'" : firstLine(commandException));
        }
    }

    private static String firstLine(Exception failure) {
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

    private void checkClock(String check, Instant theirs) {
        Duration off = Duration.between(theirs, shell.clock().instant());
        boolean fine = off.abs().compareTo(MAX_CLOCK_SKEW) <= 0;
        addFinding(
                check,
                fine ? "ok" : "warning",
                fine
                        ? "agrees with this machine"
                        : ("this machine is %d s %s; runs follow the clock of the database, but synchronize "
                                        + "both with NTP")
                                .formatted(off.abs().toSeconds(), off.isNegative() ? "behind" : "ahead"));
    }

    private void checkDatabase(DatabaseUrl url) {
        try (HikariDataSource pool = ConnectionPools.open(url, 1)) {
            checkVersion(pool, url);
            Schema schema = Carillon.schema(pool);
            try {
                schema.validate();
                addFinding("schema", "ok", "version " + schema.appliedVersion());
            } catch (CarillonException unfit) {
                addFinding("schema", "FAILED", firstLine(unfit) + " Run 'carillon migrate' to update it.");
                return;
            }
            checkConnections(schema.server());
        } catch (CarillonException | SQLException failure) {
            addFinding("database", "FAILED", firstLine(failure));
        }
    }

    private void checkVersion(HikariDataSource pool, DatabaseUrl url) throws SQLException {
        try (Connection connection = pool.getConnection()) {
            int major = connection.getMetaData().getDatabaseMajorVersion();
            String what = "PostgreSQL %s at %s"
                    .formatted(connection.getMetaData().getDatabaseProductVersion(), url.displayText());
            addFinding(
                    "database",
                    major < MIN_POSTGRES_VERSION ? "FAILED" : "ok",
                    major < MIN_POSTGRES_VERSION ? what + "; Carillon needs 14 or later" : what);
        }
    }

    private void checkConnections(Schema.Server server) {
        checkClock("clock of the database", server.now());
        boolean compiles = server.mayCompileStatements();
        addFinding(
                "jit",
                compiles ? "warning" : "ok",
                compiles
                        ? ("jit_above_cost is %.0f: frequent statements may be compiled at each execution; "
                                        + "set it to at least %.0f, or jit to off")
                                .formatted(server.jitAboveCost(), Schema.Server.MIN_JIT_ABOVE_COST)
                        : "no frequent statement is compiled");
        boolean complete = server.missingTimeouts().isEmpty();
        addFinding(
                "timeouts",
                complete ? "ok" : "warning",
                complete
                        ? "connections to an unresponsive server time out"
                        : ("missing or 0 in the database URL: %s; 'carillon serve' sets timeouts that the URL leaves "
                                        + "out, an application with this URL does not: add connectTimeout=5, "
                                        + "socketTimeout=10, loginTimeout=30 and, with several hosts, "
                                        + "targetServerType=primary")
                                .formatted(String.join(", ", server.missingTimeouts())));
        int free = server.maxConnections() - server.connections();
        String counts = "%d of %d in use".formatted(server.connections(), server.maxConnections());
        if (free >= DEFAULT_CONNECTIONS) addFinding("connections", "ok", counts);
        else
            addFinding(
                    "connections",
                    "warning",
                    counts
                            + ("; another server needs %d: lower --engine-pool and --request-pool, or raise "
                                            + "max_connections")
                                    .formatted(DEFAULT_CONNECTIONS));
    }
}
