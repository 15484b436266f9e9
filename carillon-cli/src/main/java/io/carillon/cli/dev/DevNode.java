package io.carillon.cli.dev;

import io.carillon.Carillon;
import io.carillon.CarillonBuilder;
import io.carillon.CarillonException;
import io.carillon.Runs;
import io.carillon.Schema;
import io.carillon.Wakeup;
import io.carillon.cli.screen.RenderOptions;
import io.carillon.cli.screen.Terminal;
import io.carillon.cli.shell.LogSetup;
import io.carillon.cli.shell.SecretFiles;
import io.carillon.cli.shell.Shell;
import io.carillon.cli.shell.UsageException;
import io.carillon.micrometer.CarillonMeters;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunState;
import io.carillon.schedule.Schedule;
import io.carillon.server.hooks.ServerWebhooks;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Starts the development node, shows it until the user stops it, and closes everything in reverse order. */
public final class DevNode {
    /** The maximum number of dead runs that are counted at the start. */
    static final int DEAD_COUNTED = 1_000;

    private static final Logger log = LoggerFactory.getLogger(DevNode.class);
    private static final int HISTORY_LIMIT = 50;
    /** How the line of the log about a dead run begins. */
    private static final String RUN_DEAD = "WARN run dead ";
    /**
     * A short timeout for interactive use. Attempts that take longer are handed back and run again at the next start.
     */
    private static final Duration SHUTDOWN_TIMEOUT = Duration.ofSeconds(3);

    private final Shell shell;
    private final DevOptions options;
    private final Optional<Terminal> terminal;
    private final StopSignal stopSignal;
    private final RunActivity activity;
    private final long startNanos = System.nanoTime();
    private volatile Consumer<String> warnings;
    private volatile boolean ready;

    public DevNode(Shell shell, DevOptions options) {
        this.shell = shell;
        this.options = options;
        this.terminal = options.plain() ? Optional.empty() : Terminal.current(shell.environment());
        this.stopSignal = StopSignal.forThisThread();
        PlainEventPrinter lines = new PlainEventPrinter(shell.out(), stopSignal::request);
        this.activity = new RunActivity(shell.clock(), terminal.isPresent() ? event -> {} : lines);
        this.warnings = this::printWarning;
    }

    /** Runs the node until it is stopped and everything is closed. Returns the exit code. */
    public int run() {
        int code = 1;
        try {
            serve();
            code = 0;
        } catch (RuntimeException failure) {
            if (!stopSignal.isRequested()) throw failure;
            if (ready) print("Shutdown failed: " + failure.getMessage());
            log.info("shutdown failed", failure);
            // The node was stopped during its start, so the failure is a consequence of the stop.
            code = ready ? 1 : 0;
        } finally {
            stopSignal.markClosed(code);
        }
        return code;
    }

    private void serve() {
        DevReset reset = new DevReset(options);
        if (options.reset()) reset.run(this::print);
        createDirectory(options);
        // The end of each run is shown as an event, with its schedule.
        LogSetup.toFile(options.log(), text -> {
            if (!text.startsWith(RUN_DEAD)) warnings.accept(text);
        });
        try (DevDatabase database = DevDatabase.open(options, this::printProgress)) {
            Schema tables = Carillon.schema(database.pool());
            int before = migrate(tables, reset);
            PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
            CarillonMeters meters = new CarillonMeters(registry);
            try (ServerWebhooks webhooks = DevWebhooks.on(database, options);
                    Carillon carillon = prepare(webhooks, database, meters);
                    DevServer server = DevServer.start(carillon, webhooks, database, registry, options)) {
                meters.watch(carillon);
                loadHistory(carillon.runs());
                // Webhooks to the echo receiver find it listening, and no run of the history is seen again.
                carillon.wakeup(Wakeup.notifying());
                show(
                        carillon,
                        header(database),
                        schemaText(before, tables.requiredVersion()),
                        server.restInfo(new DevProfile(shell, options).select(server.url()), terminal.isPresent()));
            }
        }
        String rest = handedBackText(activity.markHandedBack());
        print("Stopped.%s The data is kept in %s.".formatted(rest, options.directory()));
    }

    /** Returns the number before the migration. */
    private static int migrate(Schema tables, DevReset reset) {
        try {
            int before = tables.appliedVersion();
            tables.migrate();
            return before;
        } catch (CarillonException failure) {
            throw reset.explain(failure);
        }
    }

    /** Returns an instance whose node is not started yet. */
    private Carillon prepare(ServerWebhooks webhooks, DevDatabase database, CarillonMeters meters) {
        CarillonBuilder builder = webhooks.handleOn(Carillon.on(database.pool())
                .listener(activity)
                .listener(meters)
                .shutdownTimeout(SHUTDOWN_TIMEOUT)
                .wakeup(Wakeup.http()));
        DemoSchedules demo = new DemoSchedules(activity);
        demo.addHandlers(builder);
        if (options.demo()) demo.addSchedules(builder);
        Carillon carillon = builder.build();
        if (!options.demo()) DemoSchedules.remove(carillon);
        return carillon;
    }

    private void show(Carillon carillon, LiveSnapshot.Header header, String schema, StartupBanner.RestInfo restInfo) {
        List<Schedule> schedules = carillon.schedules().list();
        shell.out().println(new StartupBanner(header, schema, rows(schedules), restInfo).text());
        if (options.demo()) DemoSchedules.trigger(carillon, shell.clock().instant());
        stopSignal.started();
        ready = true;
        if (terminal.isEmpty()) stopSignal.await();
        else runLiveView(terminal.get(), carillon, header.with(restInfo), schedules);
        print("Stopping: running attempts have up to %d s to finish.".formatted(SHUTDOWN_TIMEOUT.toSeconds()));
    }

    private void runLiveView(Terminal screen, Carillon carillon, LiveSnapshot.Header header, List<Schedule> schedules) {
        try (StatusPoller poller = StatusPoller.start(carillon, schedules)) {
            warnings = poller::showWarning;
            RenderOptions renderOptions = RenderOptions.of(shell.environment());
            LiveLoop view = LiveLoop.start(screen, renderOptions, () -> snapshot(header, poller), stopSignal::request);
            try (view) {
                stopSignal.await();
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Could not open the live view; use --plain", e);
        } finally {
            warnings = this::printWarning;
        }
    }

    private LiveSnapshot snapshot(LiveSnapshot.Header header, StatusPoller poller) {
        return new LiveSnapshot(
                header,
                Duration.ofNanos(System.nanoTime() - startNanos),
                rows(poller.schedules()),
                activity.running(),
                activity.recentEvents(),
                activity.totals(),
                poller.condition());
    }

    private void loadHistory(Runs runs) {
        RunFilter filter = RunFilter.all();
        List<Run> succeeded = runs.list(filter.state(RunState.SUCCEEDED).limit(HISTORY_LIMIT));
        List<Run> dead = runs.list(filter.state(RunState.DEAD).limit(DEAD_COUNTED));
        activity.addHistory(Stream.concat(succeeded.stream(), dead.stream()).toList(), dead.size());
    }

    private List<LiveSnapshot.ScheduleRow> rows(List<Schedule> schedules) {
        Instant now = shell.clock().instant();
        return schedules.stream()
                .map(schedule -> ScheduleText.row(schedule, now))
                .toList();
    }

    private LiveSnapshot.Header header(DevDatabase database) {
        String kind = database.isEmbedded() ? "embedded PostgreSQL " : "PostgreSQL ";
        return new LiveSnapshot.Header(
                options.version(),
                kind + database.version() + " on " + database.address(),
                options.directory().toString(),
                options.log().toString());
    }

    private static String schemaText(int before, int after) {
        if (before == 0) return "created at version " + after;
        return before >= after ? "up to date at version " + before : "migrated from version " + before + " to " + after;
    }

    private static String handedBackText(int runs) {
        if (runs == 0) return "";
        return runs == 1
                ? " 1 run was handed back and runs again at the next start."
                : " %d runs were handed back and run again at the next start.".formatted(runs);
    }

    /** A directory that the user named and that exists keeps its permissions: it may contain other things. */
    private static void createDirectory(DevOptions options) {
        Path directory = options.directory();
        try {
            SecretFiles.createDirectory(directory);
            if (!options.directoryGiven()) SecretFiles.restrictDirectory(directory);
        } catch (IOException e) {
            throw new UsageException(
                    "Cannot create the directory %s: %s. Choose another one with --data.".formatted(directory, e), e);
        }
    }

    private void printProgress(String what) {
        String words = what.equals("starting") ? "starting PostgreSQL" : what;
        print(Character.toUpperCase(words.charAt(0)) + words.substring(1) + "...");
    }

    private void printWarning(String text) {
        print(PlainEventPrinter.time(shell.clock().instant()) + " " + text);
    }

    private void print(String text) {
        shell.err().println(text);
    }
}
